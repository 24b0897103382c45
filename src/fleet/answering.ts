// How simulated minions answer: at once, late, wrongly, twice or never, as the fleet was told.
import { followJob, type LifeCycle } from '../minion/jobs/lifecycle.ts';
import type { PublishedJob } from '../protocol/job/job.ts';
import { type Answer, answerOf, ownMs, returnLoad, simulatedFailure } from './answers.ts';
import type { Counters } from './counters.ts';
import type { FleetJob, FleetJobs } from './jobs.ts';
import type { Link } from './link.ts';
import type { Opened } from './messages.ts';
import type { SimulatedMinion } from './minion.ts';
import type { FleetOptions } from './options.ts';

/** More answers than this are not kept back: they are lost, and counted as such. */
const mostHeld = 500_000;

export interface AnsweringParts {
  readonly options: FleetOptions;
  readonly counters: Counters;
  readonly jobs: FleetJobs;
  readonly link: Link;
  /** All minions of this process have answered it. */
  readonly onComplete: (job: FleetJob) => void;
}

interface Held {
  readonly minion: SimulatedMinion;
  readonly job: FleetJob;
  readonly life: LifeCycle | undefined;
}

export class Answering {
  readonly #parts: AnsweringParts;
  #held: Held[] = [];
  #holding: boolean;

  constructor(parts: AnsweringParts) {
    this.#parts = parts;
    this.#holding = parts.options.hold;
  }

  hold(): void {
    this.#holding = true;
  }

  /** All answers that were kept back leave together. */
  release(): void {
    this.#holding = false;
    const held = this.#held;
    this.#held = [];
    this.#parts.counters.add('held', -held.length);
    for (const { minion, job, life } of held) this.#give(minion, job, life);
  }

  answer(minion: SimulatedMinion, job: FleetJob): void {
    const { options, counters } = this.#parts;
    if (job.counts.question) {
      this.#reply(minion, job);
      return;
    }
    counters.add('taken');
    if (options.drop > 0 && Math.random() < options.drop) {
      counters.add('dropped');
      job.drop(minion.index);
      this.#settled(job);
      return;
    }
    const vary = 1 + (Math.random() * 2 - 1) * options.jitter;
    const ms = ownMs(job.job) + options.delayMs * vary;
    const late = this.#holding || ms > 0;
    const life = late ? this.#lifeOf(minion, job.job) : undefined;
    life?.started();
    if (this.#holding) {
      this.#keep({ minion, job, life });
      return;
    }
    if (ms <= 0) {
      this.#give(minion, job, life);
      return;
    }
    counters.add('delayed');
    this.#parts.link.later(ms, () => {
      counters.add('delayed', -1);
      this.#give(minion, job, life);
    });
  }

  #keep(held: Held): void {
    const { counters } = this.#parts;
    if (this.#held.length >= mostHeld) {
      counters.add('lost');
      counters.because('too many answers are held back');
      return;
    }
    this.#held.push(held);
    counters.add('held');
  }

  /** Halite minions report jobs that take longer, so that the master need not ask. */
  #lifeOf(minion: SimulatedMinion, { jid }: PublishedJob): LifeCycle | undefined {
    const { options, link } = this.#parts;
    if (options.behaviour !== 'halite' || link.master?.halite !== true) return undefined;
    return followJob(minion.id, jid, (tag, data) => link.fire(minion, tag, data));
  }

  #give(minion: SimulatedMinion, job: FleetJob, life: LifeCycle | undefined): void {
    const { options, counters } = this.#parts;
    life?.done();
    const failing = options.fail > 0 && Math.random() < options.fail;
    if (failing) counters.add('simulatedFailures');
    const answer = failing ? simulatedFailure : this.#answerOf(minion, job.job);
    const twice = options.duplicate > 0 && Math.random() < options.duplicate;
    for (let copy = twice ? 2 : 1; copy > 0; copy--) this.#send(minion, job, answer);
  }

  #answerOf(minion: SimulatedMinion, job: PublishedJob): Answer {
    const { jobs, options } = this.#parts;
    const asked = {
      grains: () => minion.grains,
      pillar: () => minion.pillar,
      running: () =>
        [...jobs.all]
          .filter((each) => each.job.jid !== job.jid && each.isRunning(minion.index))
          .map((each) => each.job),
      resultBytes: options.resultBytes,
    };
    return answerOf(asked, job);
  }

  #send(minion: SimulatedMinion, job: FleetJob, answer: Answer): void {
    const { counters, link } = this.#parts;
    counters.add('sent');
    counters.began('returns');
    link.call(minion, returnLoad(minion.id, job.job, answer), (result, ms, why) => {
      if (!result?.ok) {
        counters.add('lost');
        counters.because(`return: ${why}`);
        return;
      }
      counters.ended('returns');
      counters.took('acknowledgement', ms);
      counters.took('answer', performance.now() - job.heardAt);
      counters.add('acknowledged');
      if (!job.acknowledged(minion.index)) counters.add('doubled');
      this.#settled(job);
    });
  }

  /** A minion that is asked whether it is at work answers at once, however many results of others wait. */
  #reply(minion: SimulatedMinion, job: FleetJob): void {
    const { counters, link } = this.#parts;
    const load = returnLoad(minion.id, job.job, this.#answerOf(minion, job.job));
    const done = (result: Opened | undefined, _: number, why: string): void => {
      if (result?.ok) counters.add('questions');
      else counters.because(`answer to a question: ${why}`);
      if (result?.ok) job.acknowledged(minion.index);
    };
    link.call(minion, load, done, { urgent: true });
  }

  #settled(job: FleetJob): void {
    if (job.complete) this.#parts.onComplete(job);
  }
}
