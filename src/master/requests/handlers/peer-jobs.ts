// The jobs that minions started (`publish.*`): which minion owns them, and how many one minion may have open.
import type { ActiveJob } from '../../tracking/active-job.ts';

/**
 * Maximum number of jobs for which one minion may wait: a peer that never answers delays only the minion that asked it.
 */
const mostOpen = 64;
/** Number of further results that a minion may fetch later. */
const mostKept = 256;

export class PeerJobs {
  readonly #byMinion = new Map<string, Map<string, ActiveJob>>();

  mayStart(id: string): boolean {
    const jobs = this.#byMinion.get(id);
    if (!jobs || jobs.size < mostOpen) return true;
    let open = 0;
    for (const job of jobs.values()) if (!job.ended) open++;
    return open < mostOpen;
  }

  started(id: string, job: ActiveJob): void {
    const jobs = this.#byMinion.get(id) ?? new Map<string, ActiveJob>();
    this.#byMinion.set(id, jobs);
    jobs.set(job.jid, job);
    if (jobs.size <= mostKept) return;
    for (const [jid, { ended }] of jobs) {
      if (!ended) continue;
      jobs.delete(jid);
      return;
    }
  }

  isOf(id: string, jid: string): boolean {
    return this.#byMinion.get(id)?.has(jid) ?? false;
  }
}
