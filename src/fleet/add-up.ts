// Sums of what the processes of a fleet did.
import {
  type Counts,
  countNames,
  type HistogramName,
  histogramNames,
  type JobCounts,
  type Snapshot,
  type Span,
  type SpanName,
  spanNames,
  zeroCounts,
} from './counters.ts';
import { Histogram, type PackedHistogram } from './histogram.ts';
import { noJobs, summed } from './jobs.ts';

export function addSnapshots(all: readonly Snapshot[]): Snapshot {
  return {
    counts: addCounts(all),
    reasons: addReasons(all),
    histograms: named(histogramNames, (name) => addHistograms(all, name)),
    spans: named(spanNames, (name) => addSpans(all, name)),
    jobs: addJobs(all),
    earlier: all.reduce((sum, { earlier }) => summed(sum, earlier), noJobs()),
    haliteMaster: all.some(({ haliteMaster }) => haliteMaster),
    cpuSeconds: all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    rss: all.reduce((sum, { rss }) => sum + rss, 0),
  };
}

function named<Name extends string, T>(names: readonly Name[], make: (name: Name) => T): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>;
}

function addCounts(all: readonly Snapshot[]): Counts {
  const sum = zeroCounts();
  for (const { counts } of all) for (const name of countNames) sum[name] += counts[name];
  return sum;
}

function addReasons(all: readonly Snapshot[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { reasons } of all) for (const [why, count] of Object.entries(reasons)) sum[why] = (sum[why] ?? 0) + count;
  return sum;
}

function addHistograms(all: readonly Snapshot[], name: HistogramName): PackedHistogram {
  return all.reduce((sum, { histograms }) => sum.merge(histograms[name]), new Histogram()).packed();
}

/** From the first beginning to the last end. */
function addSpans(all: readonly Snapshot[], name: SpanName): Span {
  const spans = all.map((each) => each.spans[name]);
  const begun = spans.map(({ from }) => from).filter((from) => from > 0);
  return { from: begun.length === 0 ? 0 : Math.min(...begun), to: Math.max(0, ...spans.map(({ to }) => to)) };
}

function addJobs(all: readonly Snapshot[]): JobCounts[] {
  const sums = new Map<string, JobCounts>();
  for (const { jobs } of all) for (const job of jobs) sums.set(job.jid, addJob(sums.get(job.jid), job));
  return [...sums.values()].sort((a, b) => a.from - b.from);
}

function addJob(a: JobCounts | undefined, b: JobCounts): JobCounts {
  if (!a) return b;
  const { jobs: _, ...sum } = summed({ jobs: 0, ...a }, b);
  return {
    ...sum,
    jid: a.jid,
    fun: a.fun,
    question: a.question,
    from: Math.min(a.from, b.from),
    to: Math.max(a.to, b.to),
  };
}
