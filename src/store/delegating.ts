// A job store that passes everything on to another one: decorators override what they do otherwise.
import type { JobFilter, JobSummary } from '../extend/sdk/context.ts';
import type {
  AuditRecord,
  EventRecord,
  JobRecord,
  JobStore,
  MinionData,
  PendingDelivery,
  Retention,
  ReturnRecord,
  StoreHealth,
  VerdictRecord,
} from './jobs.ts';

export class DelegatingJobStore implements JobStore {
  protected readonly inner: JobStore;

  constructor(inner: JobStore) {
    this.inner = inner;
  }

  get description(): string {
    return this.inner.description;
  }
  saveJob(job: JobRecord): Promise<void> {
    return this.inner.saveJob(job);
  }
  saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'> {
    return this.inner.saveReturn(ret);
  }
  saveVerdicts(verdicts: readonly VerdictRecord[]): Promise<void> {
    return this.inner.saveVerdicts(verdicts);
  }
  saveEvents = (events: readonly EventRecord[]): Promise<void> => this.inner.saveEvents(events);
  saveAudit = (records: readonly AuditRecord[]): Promise<void> => this.inner.saveAudit(records);
  saveMinionData = (id: string, data: MinionData): Promise<void> => this.inner.saveMinionData(id, data);
  dropMinionData = (id: string): Promise<void> => this.inner.dropMinionData(id);
  savePending = (deliveries: readonly PendingDelivery[]): Promise<void> => this.inner.savePending(deliveries);
  dropPending = (jid: string, id: string): Promise<void> => this.inner.dropPending(jid, id);
  pending = (): Promise<PendingDelivery[]> => this.inner.pending();
  saveMine: JobStore['saveMine'] = (id, data) => this.inner.saveMine(id, data);
  loadMine: JobStore['loadMine'] = () => this.inner.loadMine();
  loadMinionData: JobStore['loadMinionData'] = () => this.inner.loadMinionData();
  load: JobStore['load'] = (jid) => this.inner.load(jid);
  expected: JobStore['expected'] = (jid) => this.inner.expected(jid);
  returns: JobStore['returns'] = (jid) => this.inner.returns(jid);
  hasReturn: JobStore['hasReturn'] = (jid, id) => this.inner.hasReturn(jid, id);
  verdicts: JobStore['verdicts'] = (jid, id) => this.inner.verdicts(jid, id);
  unfinished: JobStore['unfinished'] = (range) => this.inner.unfinished(range);
  list = (filter: JobFilter): Promise<JobSummary[]> => this.inner.list(filter);
  listText: JobStore['listText'] = (filter) => this.inner.listText(filter);
  returnsText: JobStore['returnsText'] = (jid) => this.inner.returnsText(jid);
  query: JobStore['query'] = (sql, parameters) => this.inner.query(sql, parameters);
  health = (): StoreHealth => this.inner.health();
  clean = (retention: Retention): Promise<{ jobs: number }> => this.inner.clean(retention);
  close = (): Promise<void> => this.inner.close();
}
