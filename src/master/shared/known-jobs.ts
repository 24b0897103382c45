// Jobs that members of the cluster published lately, and for which minions: a result is often here before the record of
// its job, and no disk has to be asked.
import type { JobPublication } from '../../engine/cluster/messages.ts';

/** Together: the oldest jobs are forgotten beyond that. */
const mostIds = 500_000;
const mostJobs = 20_000;

interface Known {
  readonly owner: number;
  readonly ids: Set<string>;
}

export class KnownJobs {
  readonly #jobs = new Map<string, Known>();
  #ids = 0;

  note({ job, owner, ids }: JobPublication): void {
    if (!ids) return;
    const known = this.#jobs.get(job.jid) ?? { owner, ids: new Set<string>() };
    // A batch sends one job in several parts.
    this.#ids -= known.ids.size;
    for (const id of ids) known.ids.add(id);
    this.#ids += known.ids.size;
    this.#jobs.delete(job.jid);
    this.#jobs.set(job.jid, known);
    for (const [jid, oldest] of this.#jobs) {
      if (this.#jobs.size <= 1 || (this.#ids <= mostIds && this.#jobs.size <= mostJobs)) break;
      this.#jobs.delete(jid);
      this.#ids -= oldest.ids.size;
    }
  }

  /** Whether it was published for this minion. */
  isFor(jid: string, id: string): boolean {
    return this.#jobs.get(jid)?.ids.has(id) ?? false;
  }

  /** Slot of the member that published it. */
  owner(jid: string): number | undefined {
    return this.#jobs.get(jid)?.owner;
  }
}
