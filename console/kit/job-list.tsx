// A short list of jobs with their balance.
import type { JobRow } from '../api/jobs.ts';
import { hashOf } from '../state/router.ts';
import { Ago, Empty } from './basics.tsx';
import { BalanceBar, countsFrom } from './verdicts.tsx';

export function JobList({ rows, empty }: { readonly rows: readonly JobRow[]; readonly empty: string }) {
  if (rows.length === 0) return <Empty text={empty} />;
  return (
    <ul class="job-list">
      {rows.map((row) => (
        <li key={row.jid}>
          <a href={hashOf(['job', row.jid])}>
            <span class="job-fun">{row.fun}</span>
            <span class="job-target">{row.target}</span>
            <span class="job-when">
              {row.user} · <Ago at={row.startedAt} />
            </span>
            <BalanceBar counts={countsFrom(row.balance)} thin />
          </a>
        </li>
      ))}
    </ul>
  );
}
