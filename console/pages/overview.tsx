// What an operator wants to know first: who is there, what runs, what failed, what to repair.
import type { FleetSummary } from '../api/fleet.ts';
import { jobRow, jobs } from '../api/jobs.ts';
import { doctor } from '../api/operations.ts';
import { can } from '../api/session.ts';
import { Badge, Button, Card, Empty, Shown } from '../kit/basics.tsx';
import { EventRate } from '../kit/event-rate.tsx';
import { FindingList } from '../kit/findings.tsx';
import { JobList } from '../kit/job-list.tsx';
import { useSummary } from '../kit/summary.ts';
import { useLive } from '../live/link.ts';
import { useCalm, useLoad } from '../state/load.ts';
import { go, hashOf } from '../state/router.ts';
import { count, t, word } from '../text/text.ts';

export function Overview() {
  const summary = useSummary();
  const running = useLoad((signal) => jobs({ q: 'running', limit: 8 }, signal), []);
  const failed = useLoad((signal) => jobs({ q: 'failed since 1d', limit: 8 }, signal), []);
  const again = useCalm(() => {
    running.reload();
    failed.reload();
  }, 1000);
  useLive('jobs', again);
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.overview')}</h1>
        <Button kind="main" icon="run" onClick={() => go(['run'])}>
          {t('overview.run')}
        </Button>
      </div>
      <Shown of={summary}>{(facts) => <FleetCards facts={facts} />}</Shown>
      <div class="columns">
        <Card
          title={t('overview.running')}
          actions={<a href={hashOf(['jobs'], { q: 'running' })}>{t('action.all')}</a>}
        >
          <Shown of={running}>
            {(page) => <JobList rows={page.rows.map(jobRow)} empty={t('overview.noneRunning')} />}
          </Shown>
        </Card>
        <Card
          title={t('overview.failed')}
          actions={<a href={hashOf(['jobs'], { q: 'failed since 1d' })}>{t('action.all')}</a>}
        >
          <Shown of={failed}>
            {(page) => <JobList rows={page.rows.map(jobRow)} empty={t('overview.noneFailed')} />}
          </Shown>
        </Card>
      </div>
      <div class="columns">
        {can('operate') && <Findings />}
        <Card title={t('overview.events')} actions={<a href={hashOf(['events'])}>{t('overview.toEvents')}</a>}>
          <EventRate />
        </Card>
      </div>
    </>
  );
}

function Findings() {
  const findings = useLoad(doctor, []);
  return (
    <Card title={t('overview.doctor')} actions={<a href={hashOf(['doctor'])}>{t('action.all')}</a>}>
      <Shown of={findings}>
        {(list) => {
          const bad = list.filter(({ level }) => level !== 'fine');
          return bad.length === 0 ? <Empty text={t('doctor.none')} /> : <FindingList findings={bad.slice(0, 5)} />;
        }}
      </Shown>
    </Card>
  );
}

function FleetCards({ facts }: { readonly facts: FleetSummary }) {
  const states = Object.entries(facts.states).sort(([, a], [, b]) => b - a);
  const pending = facts.keys['pending'] ?? 0;
  const away = facts.total - (facts.states['connected'] ?? 0);
  const problems = Object.values(facts.problems).reduce((sum, n) => sum + n, 0);
  return (
    <section class="fleet" aria-label={t('nav.fleet')}>
      <div class="tiles">
        <Tile label={t('overview.minions')} value={facts.total} to={hashOf(['minions'])} />
        <Tile
          label={word('state', 'connected')}
          value={facts.states['connected'] ?? 0}
          to={hashOf(['minions'], { state: 'connected' })}
          tone="good"
        />
        <Tile
          label={t('overview.away')}
          value={away}
          to={hashOf(['minions'], { sort: 'state' })}
          tone={away > 0 ? 'warn' : ''}
        />
        <Tile label={t('overview.pending')} value={pending} to={hashOf(['keys'])} tone={pending > 0 ? 'note' : ''} />
        <Tile
          label={t('overview.problems')}
          value={problems}
          to={hashOf(['doctor'])}
          tone={problems > 0 ? 'bad' : ''}
        />
      </div>
      {facts.total > 0 && (
        <div
          class="balance fleet-bar"
          role="img"
          aria-label={states.map(([name, n]) => `${word('state', name)} ${count(n)}`).join(', ')}
        >
          {states.map(([name, n]) => (
            <span key={name} class={`s-${name}`} style={{ flexGrow: n }} title={`${word('state', name)} ${count(n)}`} />
          ))}
        </div>
      )}
      <div class="facts-row">
        <Kinds title={t('overview.versions')} of={facts.versions} />
        <Kinds title={t('overview.systems')} of={facts.systems} />
      </div>
    </section>
  );
}

interface TileProps {
  readonly label: string;
  readonly value: number;
  readonly to: string;
  readonly tone?: string;
}

function Tile({ label, value, to, tone = '' }: TileProps) {
  return (
    <a class={`tile ${tone}`} href={to}>
      <strong>{count(value)}</strong>
      <span>{label}</span>
    </a>
  );
}

function Kinds({ title, of }: { readonly title: string; readonly of: Readonly<Record<string, number>> }) {
  const list = Object.entries(of).sort(([, a], [, b]) => b - a);
  if (list.length === 0) return null;
  return (
    <p class="kinds">
      <span class="faint">{title}</span>
      {list.slice(0, 6).map(([name, n]) => (
        <a key={name} href={hashOf(['minions'], { q: name })}>
          <Badge tone="plain">
            {name} <strong>× {count(n)}</strong>
          </Badge>
        </a>
      ))}
      {list.length > 6 && <span class="faint">+{list.length - 6}</span>}
    </p>
  );
}
