// Figures of the master and the API over the last minutes, from the same text that Prometheus reads.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Problem } from '../api/http.ts';
import { metricsText } from '../api/operations.ts';
import { Card, Trouble, Waiting } from '../kit/basics.tsx';
import { Chart } from '../kit/chart.tsx';
import { type TextKey, t } from '../text/text.ts';
import { parseMetrics, type Sample, sumOf } from './metrics-text.ts';

const every = 3000;
const kept = 200;

interface ChartFacts {
  readonly title: TextKey;
  readonly names: readonly string[];
  /** For people; where there is one name, the title says it. */
  readonly labels?: readonly TextKey[];
  /** Counters are shown as a rate. */
  readonly rate: boolean;
}

const charts: readonly ChartFacts[] = [
  {
    title: 'metrics.minions',
    names: ['salt_master_connected_minions_count', 'halite_minions'],
    labels: ['metrics.connected', 'metrics.all'],
    rate: false,
  },
  {
    title: 'metrics.jobs',
    names: ['salt_jobs_published_total', 'salt_jobs_completed_total'],
    labels: ['metrics.published', 'metrics.completed'],
    rate: true,
  },
  { title: 'metrics.verdicts', names: ['halite_job_verdicts_total'], rate: true },
  { title: 'metrics.open', names: ['halite_jobs_open'], rate: false },
  {
    title: 'metrics.requests',
    names: ['salt_master_requests_handled_total', 'halite_http_requests_total'],
    labels: ['metrics.ofMinions', 'metrics.ofApi'],
    rate: true,
  },
  { title: 'metrics.events', names: ['salt_events_fired_total'], rate: true },
  { title: 'metrics.lag', names: ['halite_event_loop_lag_seconds'], rate: false },
  { title: 'metrics.memory', names: ['process_resident_memory_bytes'], rate: false },
  {
    title: 'metrics.store',
    names: ['halite_store_lag_seconds', 'halite_returner_pending'],
    labels: ['metrics.storeLag', 'metrics.pending'],
    rate: false,
  },
];

interface Point {
  readonly at: number;
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
}

export function Metrics() {
  const [points, setPoints] = useState<readonly Point[]>([]);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  useEffect(() => {
    let gone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const samples = parseMetrics(await metricsText());
        if (gone) return;
        setPoints((before) => [...before.slice(-(kept - 1)), { at: Date.now() / 1000, samples }]);
        setProblem(undefined);
      } catch (error) {
        if (!gone) setProblem(error instanceof Problem ? error : new Problem(0, String(error)));
      }
      if (!gone) timer = setTimeout(() => void look(), every);
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, []);
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.metrics')}</h1>
      </div>
      {problem && <Trouble problem={problem} />}
      {points.length === 0 && !problem && <Waiting />}
      <div class="charts">
        {charts.map((facts) => (
          <OneChart key={facts.title} facts={facts} points={points} />
        ))}
      </div>
    </>
  );
}

function OneChart({ facts, points }: { readonly facts: ChartFacts; readonly points: readonly Point[] }) {
  const names = facts.names.filter((name) => points.some(({ samples }) => samples.has(name)));
  const data = useMemo(() => seriesOf(names, points, facts.rate), [points]);
  if (names.length === 0) return null;
  return (
    <Card title={t(facts.title)}>
      <Chart label={t(facts.title)} names={names.map((name) => labelOf(facts, name))} data={data} />
    </Card>
  );
}

function labelOf({ names, labels, title }: ChartFacts, name: string): string {
  return t(labels?.[names.indexOf(name)] ?? title);
}

type Series = (number | null)[];

function seriesOf(names: readonly string[], points: readonly Point[], rate: boolean): [number[], ...Series[]] {
  const used = rate ? points.slice(1) : points;
  const lines = names.map(
    (name): Series =>
      used.map(({ at, samples }, index) => {
        const value = sumOf(samples.get(name));
        if (!rate || value === null) return value;
        const before = points[index]!;
        const old = sumOf(before.samples.get(name));
        // A restarted daemon counts from zero again.
        return old === null || value < old ? null : (value - old) / Math.max(0.001, at - before.at);
      }),
  );
  return [used.map(({ at }) => at), ...lines];
}
