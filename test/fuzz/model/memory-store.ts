// A job store as plain as can be: maps. It lives on when the master is restarted.
import { type Dict, newDict } from '../../../src/base/codec/value.ts';
import type {
  JobRecord,
  JobStore,
  MinionData,
  PendingDelivery,
  ReturnRecord,
  UnfinishedJob,
  VerdictRecord,
} from '../../../src/store/jobs.ts';

const key = (jid: string, id: string): string => `${jid} ${id}`;

/** What the parts that follow jobs need of a store. */
export type JobLifeStore = Pick<
  JobStore,
  | 'saveJob'
  | 'saveReturn'
  | 'saveVerdicts'
  | 'savePending'
  | 'dropPending'
  | 'pending'
  | 'load'
  | 'expected'
  | 'returns'
  | 'hasReturn'
  | 'verdicts'
  | 'unfinished'
  | 'saveMinionData'
  | 'dropMinionData'
  | 'loadMinionData'
>;

export class MemoryStore implements JobLifeStore {
  readonly #jobs = new Map<string, JobRecord>();
  readonly #returns = new Map<string, ReturnRecord>();
  readonly #verdicts = new Map<string, VerdictRecord>();
  readonly #pending = new Map<string, PendingDelivery>();
  readonly #data = new Map<string, MinionData>();

  async saveJob(job: JobRecord): Promise<void> {
    const before = this.#jobs.get(job.jid);
    const expected = [...new Set([...(before?.expected ?? []), ...job.expected])];
    this.#jobs.set(job.jid, { ...job, expected });
  }
  async saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'> {
    const name = key(ret.jid, ret.id);
    if (this.#returns.has(name)) return 'duplicate';
    this.#returns.set(name, ret);
    return 'stored';
  }
  async saveVerdicts(rows: readonly VerdictRecord[]): Promise<void> {
    for (const row of rows) this.#verdicts.set(key(row.jid, row.id), row);
  }
  async savePending(deliveries: readonly PendingDelivery[]): Promise<void> {
    for (const delivery of deliveries) this.#pending.set(key(delivery.jid, delivery.id), delivery);
  }
  async dropPending(jid: string, id: string): Promise<void> {
    this.#pending.delete(key(jid, id));
  }
  async pending(): Promise<PendingDelivery[]> {
    return [...this.#pending.values()];
  }
  async load(jid: string): Promise<Dict | undefined> {
    return this.#jobs.get(jid)?.load;
  }
  async expected(jid: string): Promise<string[]> {
    return [...(this.#jobs.get(jid)?.expected ?? [])];
  }
  async returns(jid: string): Promise<Map<string, Dict>> {
    return new Map([...this.#returns.values()].filter((ret) => ret.jid === jid).map((ret) => [ret.id, ret.load]));
  }
  async hasReturn(jid: string, id: string): Promise<boolean> {
    return this.#returns.has(key(jid, id));
  }
  async verdicts(jid: string, id?: string): Promise<VerdictRecord[]> {
    return [...this.#verdicts.values()].filter((row) => row.jid === jid && (id === undefined || row.id === id));
  }
  async unfinished({ from, to }: { from: number; to: number }): Promise<UnfinishedJob[]> {
    const jobs = [...this.#jobs.values()].filter((job) => !job.internal && job.started >= from && job.started < to);
    const open = jobs.map(({ jid, fun, user, expected }) => ({
      jid,
      fun,
      user,
      ids: expected.filter((id) => this.#isOpen(jid, id)),
    }));
    return open.filter(({ ids }) => ids.length > 0);
  }
  #isOpen(jid: string, id: string): boolean {
    const name = key(jid, id);
    const settled = (this.#verdicts.get(name)?.reason ?? '') !== '';
    return !this.#returns.has(name) && !settled && !this.#pending.has(name);
  }
  async saveMinionData(id: string, data: MinionData): Promise<void> {
    this.#data.set(id, data);
  }
  async dropMinionData(id: string): Promise<void> {
    this.#data.delete(id);
  }
  async loadMinionData(): Promise<Map<string, MinionData>> {
    return new Map(this.#data);
  }
}

export const haliteData: MinionData = { grains: newDict([['haliteversion', '0.1.0']]), pillar: newDict() };
