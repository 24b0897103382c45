// The job store of a member of a cluster: what it stores goes to the ledger too, and frames of the others are applied.
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { jidToMillis } from '../../base/util/jid.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { LedgerFrame, LedgerItem, SharedJob } from '../../engine/cluster/messages.ts';
import type { ClusterOptions } from '../../engine/cluster/options.ts';
import { DelegatingJobStore } from '../../store/delegating.ts';
import type { Conflict, JobRecord, JobStore, LedgerStore, ReturnRecord, VerdictRecord } from '../../store/jobs.ts';
import { acceptable } from './frame-items.ts';

export interface SharedStoreParts {
  readonly cluster: Pick<Cluster, 'self' | 'state' | 'ledger'>;
  readonly store: JobStore & LedgerStore;
  readonly options: Pick<ClusterOptions, 'ack' | 'ackWaitMs'>;
  readonly log: Pick<Logger, 'limited' | 'info'>;
}

/** What the other parts of this master hear from the ledger. */
export interface LedgerListener {
  /** An item of another member, before it is stored: what waits for a result hears it at once. */
  heard(item: LedgerItem, from: number): void;
  /** A result of another member that was not stored here before, and now is. */
  stored(ret: Extract<LedgerItem, { kind: 'ret' }>): void;
  /** Two results of one run of a job on one minion differ. */
  conflict(conflict: Conflict): void;
}

const retryMs = 500;
/** Results of an earlier run that the ledger may not have, given to it in portions. */
const portion = 1_000;

type Receipt = ReturnRecord & { readonly attempt: number; readonly via: number };

export class SharedJobStore extends DelegatingJobStore {
  /** The last frame of the ledger that is stored here. */
  place = 0;
  readonly #parts: SharedStoreParts;
  readonly #end = new AbortController();
  /** Results that the ledger has not confirmed: one that is sent again waits for the same confirmation. */
  readonly #underWay = new Map<string, Promise<void>>();
  #following: Promise<void> = Promise.resolve();

  constructor(parts: SharedStoreParts) {
    super(parts.store);
    this.#parts = parts;
  }

  get #slot(): number {
    return this.#parts.cluster.self.slot;
  }

  override saveJob(job: JobRecord): Promise<void> {
    // Equal on all masters of a minion that reports its own run to each of them.
    const started = (job.adopted && jidToMillis(job.jid)) || job.started;
    const record: SharedJob = { ...job, started, owner: this.#slot };
    this.#append({ kind: job.adopted ? 'own' : 'job', job: record });
    return this.inner.saveJob(record);
  }

  /** Resolves when the minion may forget its result: it is on this disk, and the cluster has it as configured. */
  override async saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'> {
    const row: Receipt = { ...ret, attempt: ret.attempt ?? 1, via: this.#slot };
    const shared = this.#shared(this.#appendReturn(row));
    const [outcome] = await Promise.all([this.inner.saveReturn(row), shared]);
    return outcome;
  }

  override saveVerdicts(verdicts: readonly VerdictRecord[]): Promise<void> {
    for (const verdict of verdicts) this.#append({ kind: 'verdict', ...verdict });
    return this.inner.saveVerdicts(verdicts);
  }

  /** Reads the ledger from where this member left off. */
  async follow(listener: LedgerListener): Promise<void> {
    const { ledger } = this.#parts.cluster;
    const from = await this.#parts.store.ledgerPosition();
    this.#following = ledger
      .follow(from, (frame) => this.#apply(frame, listener), this.#end.signal)
      .catch((error: unknown) => {
        if (this.#end.signal.aborted) return;
        this.#parts.log.limited('ledger', 'error', 'the history of other members is not read any more', {
          error: messageOf(error),
        });
      });
    await this.#appendUnplaced();
  }

  override close = async (): Promise<void> => {
    this.#end.abort();
    await this.#following;
    await this.inner.close();
  };

  /** The process ended before the ledger said that it has them. */
  async #appendUnplaced(): Promise<void> {
    let results = 0;
    for (let last: ReturnRecord | undefined; !this.#end.signal.aborted; ) {
      const found = await this.#parts.store.unplaced(portion, last);
      for (const ret of found) void this.#appendReturn({ ...ret, attempt: ret.attempt ?? 1, via: this.#slot });
      results += found.length;
      last = found.at(-1);
      if (!last) break;
    }
    if (results > 0) this.#parts.log.info('results of the last run are given to the cluster again', { results });
  }

  #append(item: LedgerItem): Promise<void> {
    const appended = this.#parts.cluster.ledger.append(item);
    appended.catch((error: unknown) =>
      this.#parts.log.limited('ledger:append', 'error', 'the other members do not get a record', {
        ...{ kind: item.kind, error: messageOf(error) },
      }),
    );
    return appended;
  }

  #appendReturn({ via: _, ...row }: Receipt): Promise<void> {
    const key = `${row.jid} ${row.id} ${row.attempt}`;
    const known = this.#underWay.get(key);
    if (known) return known;
    const appended = this.#append({ kind: 'ret', ...row });
    this.#underWay.set(key, appended);
    const done = (): void => void this.#underWay.delete(key);
    appended.then(done, done);
    return appended;
  }

  /** While the engine is away its own disk has to do, unless the configuration says otherwise. */
  async #shared(appended: Promise<void>): Promise<void> {
    const { ack, ackWaitMs } = this.#parts.options;
    const isAway = this.#parts.cluster.state.kind === 'cut-off';
    if (ack === 'own' || (ack === 'both' && isAway)) return;
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), ackWaitMs);
    });
    const first = await Promise.race([appended, waited]).finally(() => clearTimeout(timer));
    if (first !== 'late' || ack === 'both') return;
    throw new HaliteError('cluster.cut-off', 'the cluster has not confirmed a result', {
      hint: 'Its minion keeps it; with cluster.ack: both it would be acknowledged now.',
    });
  }

  async #apply(frame: LedgerFrame, listener: LedgerListener): Promise<void> {
    const { from, position, place } = frame;
    const own = from === this.#slot;
    const items = frame.items.filter((item) => this.#isAcceptable(item, from));
    if (!own) for (const item of items) listener.heard(item, from);
    const { fresh, conflicts } = await this.#stored({ position, place, from, own, items });
    this.place = place;
    for (const at of fresh) {
      const item = items[at];
      if (item?.kind === 'ret' && !own) listener.stored(item);
    }
    for (const conflict of conflicts) listener.conflict(conflict);
  }

  #isAcceptable(item: LedgerItem, from: number): boolean {
    const why = acceptable(item, from);
    if (why === undefined) return true;
    this.#parts.log.limited(`ledger:${from}`, 'error', 'a record of another member was not taken', { from, why });
    return false;
  }

  /** Until it is stored: the position must not pass a frame that is not. */
  async #stored(frame: Parameters<LedgerStore['applyFrame']>[0]): ReturnType<LedgerStore['applyFrame']> {
    for (;;) {
      try {
        return await this.#parts.store.applyFrame(frame);
      } catch (error) {
        if (this.#end.signal.aborted) throw error;
        this.#parts.log.limited('ledger:apply', 'error', 'the history of another member cannot be stored', {
          ...{ from: frame.from, error: messageOf(error) },
        });
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}
