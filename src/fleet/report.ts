// The report of a fleet: what a script reads as JSON.
import type { Snapshot, Span } from './counters.ts';
import { Histogram, type PackedHistogram, type Percentiles } from './histogram.ts';

export interface SignInReport {
  readonly accepted: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly ms: Percentiles;
}

export interface JobReport {
  readonly jid: string;
  readonly fun: string;
  readonly expected: number;
  readonly acknowledged: number;
  readonly missing: number;
  readonly doubled: number;
  readonly dropped: number;
  /** From the first minion that heard of it to the last acknowledgement. */
  readonly seconds: number;
}

export interface FleetReport {
  readonly minions: number;
  readonly signedIn: number;
  readonly connected: number;
  /** Of the start: what came later is in `renewals`. */
  readonly signIns: SignInReport & {
    readonly pending: number;
    /** Answers of a master with too many sign-ins, which said when to come back. */
    readonly busy: number;
    readonly rejected: number;
    readonly failed: number;
  };
  readonly renewals: number;
  readonly boot: {
    readonly minions: number;
    readonly seconds: number;
    readonly perSecond: number;
    readonly ms: Percentiles;
  };
  readonly returns: {
    readonly expected: number;
    readonly acknowledged: number;
    readonly missing: number;
    /** Acknowledged more than once. */
    readonly doubled: number;
    /** Never sent, on purpose. */
    readonly dropped: number;
    readonly held: number;
    readonly waiting: number;
    readonly refused: number;
    readonly lost: number;
    readonly simulatedFailures: number;
    readonly seconds: number;
    readonly perSecond: number;
    /** From the request with the result to its acknowledgement. */
    readonly acknowledgementMs: Percentiles;
    /** From the job to the acknowledgement, with the time in line for a connection. */
    readonly answerMs: Percentiles;
  };
  /** Answers to questions about jobs, such as saltutil.find_job; in no other figure. */
  readonly questions: number;
  readonly filled: { readonly results: number; readonly seconds: number; readonly perSecond: number };
  readonly jobs: readonly JobReport[];
  readonly publications: {
    readonly heard: number;
    readonly undecodable: number;
    readonly forged: number;
    readonly repeated: number;
  };
  readonly connections: { readonly reconnects: number; readonly timeouts: number };
  /** Why something went wrong, and how often. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly master: { readonly halite: boolean };
  readonly generator: { readonly cpuSeconds: number; readonly rssMb: number };
}

const mostJobs = 100;
const percentiles = (packed: PackedHistogram): Percentiles => new Histogram().merge(packed).percentiles();
const rounded = (value: number, digits = 3): number => Number(value.toFixed(digits));
const secondsOf = ({ from, to }: Span): number => (from > 0 && to > from ? rounded((to - from) / 1000) : 0);
const rate = (count: number, seconds: number): number => (seconds > 0 ? rounded(count / seconds, 1) : 0);

/** `start`: how it was when all had signed in. */
export function reportOf(end: Snapshot, start = end): FleetReport {
  const { counts, histograms, spans } = end;
  const jobs = end.jobs.filter(({ question }) => !question).map(jobReport);
  const sum = (pick: (job: JobReport) => number, earlier: number): number =>
    jobs.reduce((all, job) => all + pick(job), earlier);
  const { earlier } = end;
  const returnSeconds = secondsOf(spans.returns);
  const fillSeconds = secondsOf(spans.fill);
  return {
    minions: counts.minions,
    signedIn: counts.signedIn,
    connected: counts.connected,
    signIns: {
      ...signInReport(start),
      ...{
        pending: start.counts.pending,
        busy: start.counts.busy,
        rejected: counts.rejected,
        failed: counts.failedSignIns,
      },
    },
    renewals: Math.max(0, counts.signIns - start.counts.signIns),
    boot: bootReport(end),
    returns: {
      expected: sum(({ expected }) => expected, earlier.expected),
      acknowledged: sum(({ acknowledged }) => acknowledged, earlier.acknowledged),
      missing: sum(({ missing }) => missing, earlier.expected - earlier.acknowledged - earlier.dropped),
      doubled: sum(({ doubled }) => doubled, earlier.doubled),
      dropped: sum(({ dropped }) => dropped, earlier.dropped),
      ...{ held: counts.held, waiting: counts.queued, refused: counts.refused, lost: counts.lost },
      simulatedFailures: counts.simulatedFailures,
      seconds: returnSeconds,
      perSecond: rate(counts.acknowledged, returnSeconds),
      acknowledgementMs: percentiles(histograms.acknowledgement),
      answerMs: percentiles(histograms.answer),
    },
    questions: counts.questions,
    filled: { results: counts.filled, seconds: fillSeconds, perSecond: rate(counts.filled, fillSeconds) },
    jobs: jobs.slice(-mostJobs),
    publications: {
      ...{ heard: counts.publications, undecodable: counts.undecodable },
      ...{ forged: counts.forged, repeated: counts.repeated },
    },
    connections: { reconnects: counts.reconnects, timeouts: counts.timeouts },
    reasons: end.reasons,
    master: { halite: end.haliteMaster },
    generator: { cpuSeconds: rounded(end.cpuSeconds, 2), rssMb: rounded(end.rss / 1e6, 1) },
  };
}

function signInReport({ counts, spans, histograms }: Snapshot): SignInReport {
  const seconds = secondsOf(spans.signIn);
  const { signIns } = counts;
  return { accepted: signIns, seconds, perSecond: rate(signIns, seconds), ms: percentiles(histograms.signIn) };
}

function bootReport({ spans, histograms }: Snapshot): FleetReport['boot'] {
  const seconds = secondsOf(spans.boot);
  const ms = percentiles(histograms.boot);
  return { minions: ms.count, seconds, perSecond: rate(ms.count, seconds), ms };
}

function jobReport({
  jid,
  fun,
  expected,
  acknowledged,
  doubled,
  dropped,
  from,
  to,
}: Snapshot['jobs'][number]): JobReport {
  const missing = Math.max(0, expected - acknowledged - dropped);
  return { jid, fun, expected, acknowledged, missing, doubled, dropped, seconds: secondsOf({ from, to }) };
}
