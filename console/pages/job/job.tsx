// One job while it runs and afterwards: the balance that always adds up, one square for each minion, groups of equal
// answers, and every answer.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Problem } from '../../api/http.ts';
import type { JobDetail } from '../../api/jobs.ts';
import { Card, CommandLine, Time, Trouble, Waiting } from '../../kit/basics.tsx';
import { VerdictGrid } from '../../kit/verdict-grid.tsx';
import {
  BalanceBar,
  BalanceLegend,
  balanceText,
  isVerdictCode,
  openOf,
  totalOf,
  type VerdictCode,
} from '../../kit/verdicts.tsx';
import { linkRenewals, useLive } from '../../live/link.ts';
import { useCalm } from '../../state/load.ts';
import { place, setQuery } from '../../state/router.ts';
import { durationText, t, word } from '../../text/text.ts';
import { Actions } from './actions.tsx';
import { Answers } from './answers.tsx';
import { Groups } from './groups.tsx';
import { JobModel } from './model.ts';
import { OneAnswer } from './one-answer.tsx';

/** Groups are made by the server: asked for rarely while a large job runs. */
const groupsEvery = (minions: number): number => (minions > 2000 ? 4000 : 1200);

export function Job() {
  const jid = place.value.parts[1] ?? '';
  const model = useMemo(() => new JobModel(jid), [jid]);
  const detail = model.detail.value;
  const again = useCalm(() => void model.load(), groupsEvery(detail?.ids.length ?? 0));
  const renewals = linkRenewals.value;
  useEffect(() => void model.load(), [model, renewals]);
  const followed = place.value.query.get('minion') ?? '';
  useLive(
    jid === '' ? '' : `job:${jid}`,
    (message) => {
      model.hear(message);
      if (message.kind !== 'output') again();
    },
    followed === '' ? {} : { follow: followed },
  );
  const problem = model.problem.value;
  if (problem !== undefined && detail === undefined)
    return (
      <Trouble
        problem={problem instanceof Problem ? problem : new Problem(0, String(problem))}
        again={() => void model.load()}
      />
    );
  if (detail === undefined) return <Waiting />;
  return (
    <>
      <div class="page-head">
        <h1>
          <span class="mono">{detail.row.fun}</span>
          <State model={model} />
        </h1>
        <Actions detail={detail} model={model} />
      </div>
      <Facts detail={detail} model={model} />
      <Balance detail={detail} model={model} />
      {followed !== '' && (
        <OneAnswer key={followed} model={model} id={followed} onClose={() => setQuery({ minion: undefined })} />
      )}
      <Body detail={detail} model={model} />
    </>
  );
}

function State({ model }: { readonly model: JobModel }) {
  // Read here, so that this part changes with the verdicts.
  const open = model.version.value >= 0 ? openOf(model.counts) : 0;
  const name = model.ended.value ? (open > 0 ? 'open' : 'done') : 'running';
  return <span class={`job-state ${name}`}>{word('jobState', name)}</span>;
}

function Facts({ detail, model }: { readonly detail: JobDetail; readonly model: JobModel }) {
  const { row, command } = detail;
  return (
    <Card class="job-facts">
      {command !== '' && <CommandLine text={command} />}
      <dl class="facts">
        <div>
          <dt>{t('job.user')}</dt>
          <dd>{row.user}</dd>
        </div>
        <div>
          <dt>{t('job.started')}</dt>
          <dd>
            <Time at={row.startedAt} />
          </dd>
        </div>
        <div>
          <dt>{t('job.duration')}</dt>
          <dd>{model.seconds.value === undefined ? '–' : durationText(model.seconds.value)}</dd>
        </div>
        <div>
          <dt>{t('job.jid')}</dt>
          <dd class="mono">{row.jid}</dd>
        </div>
        {row.schedule !== '' && (
          <div>
            <dt>{t('job.schedule')}</dt>
            <dd>{row.schedule}</dd>
          </div>
        )}
      </dl>
    </Card>
  );
}

/** Screen readers are told the balance at most every five seconds. */
const tellEvery = 5000;

function Balance({ detail, model }: { readonly detail: JobDetail; readonly model: JobModel }) {
  const version = model.version.value;
  const [told, setTold] = useState('');
  const tell = useCalm(() => setTold(balanceText(model.counts)), tellEvery);
  useEffect(tell, [version]);
  const given = place.value.query.get('verdict') ?? '';
  const chosen: VerdictCode | undefined = isVerdictCode(given) ? given : undefined;
  if (totalOf(model.counts) === 0) return null;
  return (
    <Card class="job-balance">
      <BalanceBar counts={model.counts} />
      <BalanceLegend counts={model.counts} chosen={chosen} onChoose={(code) => setQuery({ verdict: code })} />
      <p class="hidden" role="status" aria-live="polite">
        {told}
      </p>
      <VerdictGrid
        ids={detail.ids}
        codeAt={model.codeAt}
        version={version}
        onOpen={(index) => setQuery({ minion: detail.ids[index] })}
      />
    </Card>
  );
}

const views = ['groups', 'answers', 'slow'] as const;

function Body({ detail, model }: { readonly detail: JobDetail; readonly model: JobModel }) {
  const query = place.value.query;
  const view = views.find((name) => name === query.get('view')) ?? 'groups';
  const verdict = query.get('verdict') ?? '';
  return (
    <>
      <div class="view-row">
        {views.map((name) => (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={view === name}
            onClick={() => setQuery({ view: name })}
          >
            {t(`job.${name}`)}
          </button>
        ))}
      </div>
      {view === 'groups' ? (
        <Groups detail={detail} verdict={verdict} />
      ) : (
        <Answers
          key={view}
          jid={detail.row.jid}
          verdict={verdict}
          slow={view === 'slow'}
          model={model}
          startedAt={detail.row.startedAt}
        />
      )}
    </>
  );
}
