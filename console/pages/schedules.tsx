// Schedules: those of the master, and the runs of the minions' own ones, which are jobs.
import { type JobRow, jobRow, jobs } from '../api/jobs.ts';
import { config } from '../api/operations.ts';
import { can } from '../api/session.ts';
import { Badge, Card, Empty, Shown } from '../kit/basics.tsx';
import { JobList } from '../kit/job-list.tsx';
import { Tree } from '../kit/tree.tsx';
import { useLoad } from '../state/load.ts';
import { hashOf } from '../state/router.ts';
import { t } from '../text/text.ts';

export function Schedules() {
  const runs = useLoad((signal) => jobs({ q: 'scheduled', limit: 200 }, signal), []);
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.schedules')}</h1>
      </div>
      {can('operate') && <MasterSchedule />}
      <Card title={t('schedules.runs')} actions={<a href={hashOf(['jobs'], { q: 'scheduled' })}>{t('action.all')}</a>}>
        <p class="faint">{t('schedules.hint')}</p>
        <Shown of={runs}>{(page) => <Runs rows={page.rows.map(jobRow)} />}</Shown>
      </Card>
    </>
  );
}

/** As it stands in the configuration. */
function MasterSchedule() {
  const own = useLoad(() => config('schedule'), []);
  return (
    <Card title={t('schedules.master')}>
      <Shown of={own}>
        {(options) => <Tree value={options['schedule']} label={t('schedules.master')} empty={t('schedules.none')} />}
      </Shown>
    </Card>
  );
}

/** By the name of the schedule, the latest runs of each. */
function Runs({ rows }: { readonly rows: readonly JobRow[] }) {
  const byName = new Map<string, JobRow[]>();
  for (const row of rows) byName.set(row.schedule, [...(byName.get(row.schedule) ?? []), row]);
  if (byName.size === 0) return <Empty text={t('schedules.noRuns')} />;
  return (
    <div class="groups">
      {[...byName].map(([name, list]) => (
        <details key={name} class="group">
          <summary>
            <strong>{name}</strong> <Badge tone="plain">{list.length}</Badge>
          </summary>
          <JobList rows={list.slice(0, 10)} empty="" />
        </details>
      ))}
    </div>
  );
}
