// Every answer of a job, searched in its whole text by the server, also while the job runs.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type AnswerRow, answerRow, answers } from '../../api/jobs.ts';
import { Card, Empty, Trouble } from '../../kit/basics.tsx';
import { useRowWindow } from '../../kit/row-window.ts';
import { isVerdictCode, VerdictBadge } from '../../kit/verdicts.tsx';
import { type Column, VirtualTable } from '../../kit/virtual-table.tsx';
import { useCalm } from '../../state/load.ts';
import { setQuery } from '../../state/router.ts';
import { count, durationText, t } from '../../text/text.ts';
import type { JobModel } from './model.ts';
import { stateSummary } from './state-summary.ts';

export interface AnswersProps {
  readonly jid: string;
  readonly verdict: string;
  /** The slowest ones first. */
  readonly slow: boolean;
  readonly model: JobModel;
  readonly startedAt: number | undefined;
}

const typingPause = 250;
const reloadEvery = 2000;

const textOf = ({ answer, reason, cut }: AnswerRow): string => {
  if (reason !== '') return reason;
  if (cut) return t('job.large');
  const text = typeof answer === 'string' ? answer : (stateSummary(answer) ?? JSON.stringify(answer) ?? '');
  return text.slice(0, 300).replaceAll('\n', ' ⏎ ');
};

const columnsFor = (startedAt: number | undefined): readonly Column<AnswerRow>[] => [
  {
    ...{ name: 'verdict', label: t('job.verdict'), width: '130px' },
    render: (row) => (isVerdictCode(row.verdict) ? <VerdictBadge code={row.verdict} /> : row.verdict),
  },
  {
    ...{ name: 'id', label: t('minions.id'), width: 'minmax(120px, 1fr)' },
    render: (row) => <span class="id">{row.id}</span>,
  },
  {
    ...{ name: 'time', label: t('job.after'), width: '90px', wide: true },
    render: (row) =>
      row.received === undefined || startedAt === undefined ? '' : durationText(Math.max(0, row.received - startedAt)),
  },
  { ...{ name: 'retcode', label: t('job.retcode'), width: '70px', wide: true }, render: (row) => row.retcode ?? '' },
  {
    ...{ name: 'text', label: t('job.answer'), width: 'minmax(120px, 3fr)' },
    render: (row) => <span class="mono line">{textOf(row)}</span>,
  },
];

export function Answers({ jid, verdict, slow, model, startedAt }: AnswersProps) {
  const version = model.version.value;
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), typingPause);
    return () => clearTimeout(timer);
  }, [typed]);
  const sort = slow ? '-received' : '';
  const rows = useRowWindow(
    (offset, limit, stop) => answers(jid, { q, verdict, sort, offset, limit }, stop),
    answerRow,
    [jid, q, verdict, sort],
  );
  const again = useCalm(rows.reload, reloadEvery);
  useEffect(() => {
    if (version > 1) again();
  }, [version]);
  const total = rows.total.value;
  const columns = useMemo(() => columnsFor(startedAt), [startedAt, rows.changes.value]);
  return (
    <Card class="flush">
      <div class="search-row in-card">
        <input
          type="search"
          value={typed}
          placeholder={t('job.search')}
          aria-label={t('job.search')}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        {total !== undefined && <span class="faint">{t('job.found', { n: count(total) })}</span>}
      </div>
      {rows.problem.value && <Trouble problem={rows.problem.value} again={rows.reload} />}
      {total === 0 ? (
        <Empty text={t('job.noneFound')} />
      ) : (
        <VirtualTable
          label={t('job.answers')}
          total={slow ? Math.min(10, total ?? 0) : (total ?? 0)}
          columns={columns}
          rowAt={rows.rowAt}
          onWindow={rows.show}
          onOpen={(row) => setQuery({ minion: row.id })}
          rows={12}
        />
      )}
    </Card>
  );
}
