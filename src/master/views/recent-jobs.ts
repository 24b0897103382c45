// The last job of each minion, and in how many of the latest jobs it failed; looked up at most every few seconds.
import { dictGet } from '../../base/codec/value.ts';
import type { JobStore } from '../../store/jobs.ts';

export interface RecentJob {
  readonly jid: string;
  readonly failed: number;
}

const jobsLookedAt = 20;
const freshMs = 10_000;

const sql = `SELECT r.id AS id, max(r.jid) AS jid, sum(NOT (r.retcode = 0 AND r.success = 1)) AS failed FROM ret r
  WHERE r.jid IN (SELECT jid FROM job WHERE internal = 0 ORDER BY started DESC LIMIT ${jobsLookedAt}) GROUP BY r.id`;

export class RecentJobs {
  readonly #store: Pick<JobStore, 'query'>;
  #found: Promise<ReadonlyMap<string, RecentJob>> | undefined;
  #at = 0;

  constructor(store: Pick<JobStore, 'query'>) {
    this.#store = store;
  }

  byMinion(): Promise<ReadonlyMap<string, RecentJob>> {
    if (this.#found && Date.now() - this.#at < freshMs) return this.#found;
    this.#at = Date.now();
    this.#found = this.#look();
    return this.#found;
  }

  async #look(): Promise<ReadonlyMap<string, RecentJob>> {
    try {
      const rows = await this.#store.query(sql);
      return new Map(
        rows.map((row) => [
          String(dictGet(row, 'id')),
          { jid: String(dictGet(row, 'jid')), failed: Number(dictGet(row, 'failed')) },
        ]),
      );
    } catch {
      // Without the store the fleet is shown without its history.
      return new Map();
    }
  }
}
