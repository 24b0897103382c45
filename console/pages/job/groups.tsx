// Equal answers folded into one: failures first, then the largest groups. Groups stay open while the job goes on.
import { useEffect, useState } from 'preact/hooks';
import { type AnswerGroup, type JobDetail, wholeAnswer } from '../../api/jobs.ts';
import { answerText } from '../../kit/answer-text.ts';
import { Button, Card, Copy, Empty } from '../../kit/basics.tsx';
import { attempt } from '../../kit/dialog.tsx';
import { Output } from '../../kit/output.tsx';
import { isVerdictCode, VerdictBadge, verdictWord } from '../../kit/verdicts.tsx';
import { setQuery } from '../../state/router.ts';
import { count, t } from '../../text/text.ts';
import { answerIds } from './exports.ts';
import { stateSummary } from './state-summary.ts';

/** What needs attention is above. */
const order = 'fdmxwrqco';
const openAtFirst = 3;
/** More is shown when one of the minions is opened. */
const longestShown = 100_000;

export function Groups({ detail, verdict }: { readonly detail: JobDetail; readonly verdict: string }) {
  const [asked, setAsked] = useState('');
  const words = asked.toLowerCase();
  const groups = detail.groups
    .filter((group) => (verdict === '' || group.verdict === verdict) && (words === '' || holds(group, words)))
    .sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict) || b.count - a.count);
  return (
    <Card class="flush">
      <div class="search-row in-card">
        <input
          type="search"
          value={asked}
          placeholder={t('job.searchGroups')}
          aria-label={t('job.searchGroups')}
          onInput={(event) => setAsked(event.currentTarget.value)}
        />
        <Button kind="quiet" onClick={() => setQuery({ view: 'answers' })}>
          {t('job.searchAll')}
        </Button>
      </div>
      {groups.length === 0 ? (
        <Empty text={t('job.noAnswers')} />
      ) : (
        <div class="groups">
          {groups.map((group, at) => (
            <Group key={`${group.verdict} ${group.key}`} jid={detail.row.jid} group={group} opened={at < openAtFirst} />
          ))}
        </div>
      )}
    </Card>
  );
}

const holds = (group: AnswerGroup, words: string): boolean =>
  `${group.reason}\n${group.ids.join('\n')}\n${plainText(group.answer)}`.toLowerCase().includes(words);

const plainText = (answer: unknown): string =>
  typeof answer === 'string' ? answer : answer === undefined || answer === null ? '' : JSON.stringify(answer, null, 2);

interface GroupProps {
  readonly jid: string;
  readonly group: AnswerGroup;
  readonly opened: boolean;
}

function Group({ jid, group, opened }: GroupProps) {
  const [open, setOpen] = useState(opened);
  const { verdict, ids, reason, answer } = group;
  const first = reason !== '' ? firstLine(reason) : (stateSummary(answer) ?? firstLine(plainText(answer)));
  return (
    <details
      class={`group ${isVerdictCode(verdict) ? `edge-${verdict}` : ''}`}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        {isVerdictCode(verdict) && <VerdictBadge code={verdict} />}
        <strong class="group-count">{t('job.minions', { n: group.count })}</strong>
        <span class="group-first">{first}</span>
      </summary>
      <p class="group-ids">
        {ids.map((id) => (
          <button key={id} type="button" class="chip id" onClick={() => setQuery({ minion: id })}>
            {id}
          </button>
        ))}
        {group.count > ids.length && <span class="faint">+{count(group.count - ids.length)}</span>}
        <GroupNames jid={jid} group={group} />
      </p>
      {open && reason === '' && <GroupText jid={jid} group={group} />}
      {open && reason !== '' && <p class="why">{reason}</p>}
    </details>
  );
}

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 160) ?? '';

/** The names of all its minions: for a ticket, or as a target. */
function GroupNames({ jid, group }: { readonly jid: string; readonly group: AnswerGroup }) {
  const [names, setNames] = useState<string | undefined>(
    group.count <= group.ids.length ? group.ids.join(',') : undefined,
  );
  const load = async (): Promise<void> => {
    setNames((await answerIds(jid, { group: group.key, verdict: group.verdict })).join(','));
  };
  useEffect(() => {
    if (group.count <= group.ids.length) setNames(group.ids.join(','));
    else setNames(undefined);
  }, [group.count]);
  if (group.verdict === 'w') return null;
  if (names !== undefined) return <Copy text={names} label={t('job.copyNames')} />;
  return (
    <Button kind="quiet" onClick={() => void attempt(load)}>
      {t('job.allNames')}
    </Button>
  );
}

function GroupText({ jid, group }: { readonly jid: string; readonly group: AnswerGroup }) {
  const [fetched, setFetched] = useState<string | undefined>(undefined);
  const id = group.ids[0] ?? '';
  const running = 'wrq'.includes(group.verdict);
  useEffect(() => {
    if (!group.cut || running) return;
    void attempt(async () => setFetched(answerText(id, (await wholeAnswer(jid, id)).answer)));
  }, [jid, id, group.key, group.cut]);
  const text = group.cut ? fetched : answerText(id, group.answer);
  if (running) return <p class="why">{isVerdictCode(group.verdict) ? verdictWord(group.verdict) : ''}</p>;
  if (text === undefined) return <p class="faint">{t('state.loading')}</p>;
  return <Output text={text.slice(0, longestShown)} label={t('job.answerOf', { id })} />;
}
