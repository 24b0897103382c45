// The jobs that a process of the fleet has heard of: which minion each is for, and how far each minion is with it.
import { messageOf } from '../base/errors/index.ts';
import type { PublishedJob } from '../protocol/job/job.ts';
import { matches, parseTarget } from '../protocol/target/index.ts';
import type { Subject, Target } from '../protocol/target/types.ts';
import { isQuestion, shortName } from './answers.ts';
import { type JobCounts, now, type Snapshot } from './counters.ts';

/** States of a minion in a job. */
const untouched = 0;
const expected = 1;
const taken = 2;
const answered = 3;
const dropped = 4;
const most = 500;

export class FleetJob {
  readonly job: PublishedJob;
  readonly heardAt = performance.now();
  readonly counts: { -readonly [Name in keyof JobCounts]: JobCounts[Name] };
  readonly #target: Target;
  readonly #states: Uint8Array;
  /** Why the target could not be decided. */
  problem = '';

  constructor(job: PublishedJob, minions: number) {
    this.job = job;
    this.#states = new Uint8Array(minions);
    const texts = typeof job.tgt === 'string' ? job.tgt : [...job.tgt];
    const { delimiter } = job;
    this.#target = parseTarget(texts, job.tgt_type, {
      lenient: true,
      ...(delimiter === undefined ? {} : { delimiter }),
    });
    this.counts = {
      ...{ jid: job.jid, fun: shortName(job), question: isQuestion(job), from: now(), to: 0 },
      ...{ expected: 0, taken: 0, acknowledged: 0, doubled: 0, dropped: 0 },
    };
  }

  /** Counts a minion that is there when the job comes. */
  expect(index: number, subject: Subject): void {
    if (!this.#covers(subject)) return;
    this.#states[index] = expected;
    this.counts.expected += 1;
  }

  /** The publication arrived at a minion; false: it is not for it, or it has it already. */
  take(index: number, subject: () => Subject): 'new' | 'again' | 'other' {
    const state = this.#states[index] ?? untouched;
    if (state >= taken) return 'again';
    if (state === untouched) {
      // It was not there when the first one heard of the job.
      if (!this.#covers(subject())) return 'other';
      this.counts.expected += 1;
    }
    this.#states[index] = taken;
    this.counts.taken += 1;
    return 'new';
  }

  isRunning(index: number): boolean {
    return this.#states[index] === taken;
  }

  drop(index: number): void {
    this.#states[index] = dropped;
    this.counts.dropped += 1;
  }

  /** True for the first acknowledgement of this minion. */
  acknowledged(index: number): boolean {
    this.counts.to = now();
    if (this.#states[index] === answered) {
      this.counts.doubled += 1;
      return false;
    }
    this.#states[index] = answered;
    this.counts.acknowledged += 1;
    return true;
  }

  get complete(): boolean {
    const { expected: all, acknowledged, dropped: lost } = this.counts;
    return acknowledged + lost >= all;
  }

  #covers(subject: Subject): boolean {
    try {
      return matches(this.#target, subject) === 'match';
    } catch (error) {
      this.problem = messageOf(error);
      return false;
    }
  }
}

export class FleetJobs {
  readonly #jobs = new Map<string, FleetJob>();
  #earlier = noJobs();

  get(jid: string): FleetJob | undefined {
    return this.#jobs.get(jid);
  }

  get all(): Iterable<FleetJob> {
    return this.#jobs.values();
  }

  /** The oldest one that is complete makes room; what it counted stays. */
  add(job: FleetJob): void {
    this.#jobs.set(job.job.jid, job);
    if (this.#jobs.size <= most) return;
    const old = [...this.#jobs.values()].find(({ complete }) => complete) ?? this.#jobs.values().next().value;
    if (!old) return;
    this.#jobs.delete(old.job.jid);
    if (!old.counts.question) this.#earlier = summed(this.#earlier, old.counts);
  }

  reset(): void {
    this.#earlier = noJobs();
    for (const job of this.#jobs.values()) if (job.complete) this.#jobs.delete(job.job.jid);
  }

  snapshot(): Pick<Snapshot, 'jobs' | 'earlier'> {
    return { jobs: [...this.#jobs.values()].map(({ counts }) => ({ ...counts })), earlier: this.#earlier };
  }
}

export const noJobs = (): Snapshot['earlier'] => ({
  ...{ jobs: 0, expected: 0, taken: 0, acknowledged: 0, doubled: 0, dropped: 0 },
});

export const summed = (
  a: Snapshot['earlier'],
  b: Omit<Snapshot['earlier'], 'jobs'> & { jobs?: number },
): Snapshot['earlier'] => ({
  jobs: a.jobs + (b.jobs ?? 1),
  expected: a.expected + b.expected,
  taken: a.taken + b.taken,
  acknowledged: a.acknowledged + b.acknowledged,
  doubled: a.doubled + b.doubled,
  dropped: a.dropped + b.dropped,
});
