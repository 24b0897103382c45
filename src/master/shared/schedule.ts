// The schedule of a cluster: the leader runs it, each run once, also when the leader changes in between.
import { createHash } from 'node:crypto';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';

export interface ScheduleClaimsParts {
  readonly cluster: Pick<Cluster, 'name' | 'leads' | 'registry' | 'onChange'>;
  readonly log: Pick<Logger, 'debug' | 'info'>;
}

/** A run that was due: it may have been meant for a leader that is gone. */
interface DueRun {
  readonly name: string;
  readonly meant: number;
  readonly run: () => void;
}

/**
 * A leader that is gone is replaced within this time; what was due meanwhile is run late instead of never, the last run
 * of each job.
 */
const takeoverMs = 60_000;
const claimMs = 3_600_000;
const againMs = 1_000;

export class ScheduleClaims {
  readonly #parts: ScheduleClaimsParts;
  /** By the name of the job. */
  readonly #waiting = new Map<string, DueRun>();
  #trying = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #stop: () => void;

  constructor(parts: ScheduleClaimsParts) {
    this.#parts = parts;
    this.#stop = parts.cluster.onChange((change) => {
      if (change.kind === 'leader') void this.#tryAll();
    });
  }

  /** Runs at most once in the cluster; a member that does not lead remembers it for a while. */
  due(name: string, meant: Date, run: () => void): void {
    if (this.#parts.cluster.name === undefined) {
      run();
      return;
    }
    this.#waiting.set(name, { name, meant: meant.getTime(), run });
    void this.#tryAll();
  }

  stop(): void {
    this.#stop();
    this.#waiting.clear();
    clearTimeout(this.#timer);
  }

  async #tryAll(now = Date.now()): Promise<void> {
    for (const [name, { meant }] of this.#waiting) if (now - meant >= takeoverMs) this.#waiting.delete(name);
    if (this.#trying) return;
    this.#trying = true;
    try {
      // Asked before each act: a process that was frozen does not lead any more when it goes on.
      for (let due = this.#next(); due && this.#parts.cluster.leads(); due = this.#next()) await this.#try(due);
    } catch (error) {
      // Without the engine nothing is run: it is tried again, as long as this member leads.
      this.#parts.log.debug('a scheduled run could not be claimed', { why: messageOf(error) });
      this.#timer = setTimeout(() => void this.#tryAll(), againMs).unref();
    } finally {
      this.#trying = false;
    }
  }

  #next(): DueRun | undefined {
    const [first] = this.#waiting.values();
    return first;
  }

  async #try(due: DueRun): Promise<void> {
    const { cluster, log } = this.#parts;
    const first = await cluster.registry.claim(claimOf(due.name, due.meant), claimMs);
    if (this.#waiting.get(due.name) === due) this.#waiting.delete(due.name);
    const about = { job: due.name, meant: new Date(due.meant).toISOString() };
    if (!first) log.debug('another member ran a scheduled job', about);
    else {
      log.info('this member runs a scheduled job', about);
      due.run();
    }
  }
}

const claimOf = (name: string, meant: number): string =>
  `s.${createHash('sha256').update(name).digest('base64url').slice(0, 22)}.${meant}`;
