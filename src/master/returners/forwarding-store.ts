// The master's own job store; everything that is saved there is also forwarded to the configured job cache.
import { asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { JobFilter, JobSummary } from '../../extend/sdk/context.ts';

import type {
  EventRecord,
  JobRecord,
  JobStore,
  MinionData,
  PendingDelivery,
  Retention,
  ReturnRecord,
  StoreHealth,
  VerdictRecord,
} from '../../store/jobs.ts';
import type { ReturnerSettings } from './settings.ts';
import type { ReturnerSinks } from './sinks.ts';

/** Jobs that Halite publishes itself are not relevant for an audit. */
const own = new Set(['saltutil.find_job']);
const isMasterFunction = (fun: string): boolean => fun.startsWith('runner.') || fun.startsWith('wheel.');

export class ForwardingJobStore implements JobStore {
  readonly #store: JobStore;
  readonly #sinks: Pick<ReturnerSinks, 'add'>;
  readonly #settings: ReturnerSettings;

  constructor(store: JobStore, sinks: Pick<ReturnerSinks, 'add'>, settings: ReturnerSettings) {
    this.#store = store;
    this.#sinks = sinks;
    this.#settings = settings;
  }

  get description(): string {
    const { jobCache, extJobCache } = this.#settings;
    const others = [jobCache, extJobCache].filter((name) => name !== '');
    return others.length > 0 ? `${this.#store.description} and ${others.join(', ')}` : this.#store.description;
  }

  async saveJob(job: JobRecord): Promise<void> {
    const { jobCache, extJobCache } = this.#settings;
    if (this.#goesOut(job.fun, job.internal)) {
      const record = {
        k: 'load',
        jid: job.jid,
        load: asPlainDict(job.load) ?? newDict(),
        minions: [...job.expected],
      } as const;
      // No caller waits for these: a job runs even if it cannot be stored.
      if (jobCache) void this.#sinks.add('jobs', jobCache, record);
      if (extJobCache && extJobCache !== jobCache) void this.#sinks.add('jobs', extJobCache, record);
    }
    await this.#store.saveJob(job);
  }

  async saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'> {
    const { jobCache, extJobCache, keepReturns } = this.#settings;
    if (!keepReturns) return 'stored';
    const outside = isMasterFunction(ret.fun) ? jobCache || extJobCache : extJobCache ? '' : jobCache;
    const spooled =
      outside && this.#goesOut(ret.fun, false)
        ? this.#sinks.add('jobs', outside, { k: 'ret', load: stamped(ret) })
        : undefined;
    const [result] = await Promise.all([this.#store.saveReturn(ret), spooled]);
    return result;
  }

  #goesOut(fun: string, internal: boolean): boolean {
    if (isMasterFunction(fun)) return this.#settings.keepRunners;
    return !internal && !own.has(fun);
  }

  saveVerdicts = (verdicts: readonly VerdictRecord[]): Promise<void> => this.#store.saveVerdicts(verdicts);
  saveEvents = (events: readonly EventRecord[]): Promise<void> => this.#store.saveEvents(events);
  saveMinionData = (id: string, data: MinionData): Promise<void> => this.#store.saveMinionData(id, data);
  dropMinionData = (id: string): Promise<void> => this.#store.dropMinionData(id);
  savePending = (deliveries: readonly PendingDelivery[]): Promise<void> => this.#store.savePending(deliveries);
  dropPending = (jid: string, id: string): Promise<void> => this.#store.dropPending(jid, id);
  pending = (): Promise<PendingDelivery[]> => this.#store.pending();
  saveMine: JobStore['saveMine'] = (id, data) => this.#store.saveMine(id, data);
  loadMine: JobStore['loadMine'] = () => this.#store.loadMine();
  loadMinionData: JobStore['loadMinionData'] = () => this.#store.loadMinionData();
  load: JobStore['load'] = (jid) => this.#store.load(jid);
  expected: JobStore['expected'] = (jid) => this.#store.expected(jid);
  returns: JobStore['returns'] = (jid) => this.#store.returns(jid);
  hasReturn: JobStore['hasReturn'] = (jid, id) => this.#store.hasReturn(jid, id);
  verdicts: JobStore['verdicts'] = (jid, id) => this.#store.verdicts(jid, id);
  unfinished: JobStore['unfinished'] = (range) => this.#store.unfinished(range);
  list = (filter: JobFilter): Promise<JobSummary[]> => this.#store.list(filter);
  listText: JobStore['listText'] = (filter) => this.#store.listText(filter);
  returnsText: JobStore['returnsText'] = (jid) => this.#store.returnsText(jid);
  query: JobStore['query'] = (sql, parameters) => this.#store.query(sql, parameters);
  health = (): StoreHealth => this.#store.health();
  clean = (retention: Retention): Promise<{ jobs: number }> => this.#store.clean(retention);
  close = (): Promise<void> => this.#store.close();
}

/** Salt's stored results contain the time of their arrival. */
function stamped({ load, received }: ReturnRecord): PlainDict {
  const stamp: Value = new Date(received).toISOString().replace('Z', '000');
  return { ...asPlainDict(load), _stamp: stamp };
}
