// What one process of the fleet did, as numbers that can be added to those of the others.
import { Histogram, type PackedHistogram } from './histogram.ts';

export const countNames = [
  'minions',
  'signedIn',
  'signIns',
  'pending',
  'busy',
  'rejected',
  'failedSignIns',
  'connected',
  'reconnects',
  'publications',
  'undecodable',
  'forged',
  'repeated',
  'taken',
  'sent',
  'acknowledged',
  'doubled',
  'refused',
  'lost',
  'dropped',
  'simulatedFailures',
  'questions',
  'filled',
  'timeouts',
  'events',
  'held',
  'queued',
  'delayed',
] as const;
export type CountName = (typeof countNames)[number];
export type Counts = Record<CountName, number>;

export const histogramNames = ['signIn', 'acknowledgement', 'answer', 'boot'] as const;
export type HistogramName = (typeof histogramNames)[number];

/** Milliseconds since the epoch; 0: not yet. */
export interface Span {
  readonly from: number;
  readonly to: number;
}
export const spanNames = ['signIn', 'returns', 'boot', 'fill'] as const;
export type SpanName = (typeof spanNames)[number];

export interface JobCounts {
  readonly jid: string;
  readonly fun: string;
  /** About another job: answered at once, and counted separately. */
  readonly question: boolean;
  readonly from: number;
  readonly to: number;
  /** Minions that the target covers and that were signed in when it came. */
  readonly expected: number;
  readonly taken: number;
  readonly acknowledged: number;
  readonly doubled: number;
  readonly dropped: number;
}

export interface Snapshot {
  readonly counts: Counts;
  readonly reasons: Readonly<Record<string, number>>;
  readonly histograms: Readonly<Record<HistogramName, PackedHistogram>>;
  readonly spans: Readonly<Record<SpanName, Span>>;
  readonly jobs: readonly JobCounts[];
  /** Of jobs that are no longer in the list. */
  readonly earlier: Omit<JobCounts, 'jid' | 'fun' | 'question' | 'from' | 'to'> & { readonly jobs: number };
  readonly haliteMaster: boolean;
  readonly cpuSeconds: number;
  readonly rss: number;
}

/** Milliseconds since the epoch with a fine resolution, comparable among processes. */
export const now = (): number => performance.timeOrigin + performance.now();

const mostReasons = 50;
const longestReason = 200;

export class Counters {
  readonly counts: Counts = zeroCounts();
  readonly #reasons = new Map<string, number>();
  #histograms = newHistograms();
  #spans: Record<SpanName, { from: number; to: number }> = newSpans();
  #cpu = process.cpuUsage();

  add(name: CountName, by = 1): void {
    this.counts[name] += by;
  }

  /** Why something went wrong; texts of masters are kept short, and few. */
  because(what: string): void {
    const given = what.slice(0, longestReason);
    const text = this.#reasons.has(given) || this.#reasons.size < mostReasons ? given : 'other reasons';
    this.#reasons.set(text, (this.#reasons.get(text) ?? 0) + 1);
  }

  took(name: HistogramName, ms: number): void {
    this.#histograms[name].add(ms);
  }

  began(name: SpanName): void {
    this.#spans[name].from ||= now();
  }

  ended(name: SpanName): void {
    this.#spans[name].to = now();
  }

  /** Only what is counted from now on is told; what describes the present state stays. */
  reset(): void {
    const { minions, signedIn, connected, held, queued, delayed } = this.counts;
    Object.assign(this.counts, zeroCounts(), { minions, signedIn, connected, held, queued, delayed });
    this.#reasons.clear();
    this.#histograms = newHistograms();
    this.#spans = newSpans();
    this.#cpu = process.cpuUsage();
  }

  snapshot(): Omit<Snapshot, 'jobs' | 'earlier' | 'haliteMaster'> {
    const { user, system } = process.cpuUsage(this.#cpu);
    const packed = histogramNames.map((name) => [name, this.#histograms[name].packed()]);
    return {
      counts: { ...this.counts },
      reasons: Object.fromEntries(this.#reasons),
      histograms: Object.fromEntries(packed) as Record<HistogramName, PackedHistogram>,
      spans: structuredClone(this.#spans),
      cpuSeconds: (user + system) / 1e6,
      rss: process.memoryUsage.rss(),
    };
  }
}

export const zeroCounts = (): Counts => Object.fromEntries(countNames.map((name) => [name, 0])) as Counts;

const newHistograms = (): Record<HistogramName, Histogram> =>
  Object.fromEntries(histogramNames.map((name) => [name, new Histogram()])) as Record<HistogramName, Histogram>;

const newSpans = (): Record<SpanName, { from: number; to: number }> =>
  Object.fromEntries(spanNames.map((name) => [name, { from: 0, to: 0 }])) as Record<
    SpanName,
    { from: number; to: number }
  >;
