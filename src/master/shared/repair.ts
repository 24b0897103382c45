// Fetches what other members have and this one lacks: after it was away for longer than the ledger remembers, when it is
// new, or when the engine lost its data. Members compare the sums of hours, then of minutes, then the names of rows; rows
// are added to the store in portions. Whatever ends it in the middle: the next comparison goes on with what is missing.
import { bytesField } from '../../base/codec/fields.ts';
import { asDict, asList, dictGet, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { jidOf } from '../../base/util/jid.ts';
import type { Cluster, Member, Question } from '../../engine/cluster/api.ts';
import type { ClusterComparison } from '../../extend/sdk/cluster.ts';
import type { ComparedRow, ComparedStore, JobStore, RowKey, Tallied, TallyKind } from '../../store/jobs.ts';
import { answerRepair, keysAtOnce, namesValue, rowsAtOnce } from './repair-answers.ts';
import { readKey, readTallied, unpackRow } from './repair-rows.ts';
import type { LedgerListener } from './store.ts';

export interface RepairParts {
  readonly cluster: Pick<Cluster, 'self' | 'state' | 'members' | 'signals' | 'onChange'>;
  readonly store: ComparedStore & Pick<JobStore, 'health'>;
  readonly log: Pick<Logger, 'limited' | 'info' | 'debug'>;
  /** Zero: for ever. */
  readonly keepSeconds: number;
  readonly listener: Pick<LedgerListener, 'heard' | 'stored' | 'conflict'>;
  /** For tests. */
  readonly everyMs?: number;
  readonly soonMs?: number;
}

const everyMs = 10 * 60_000;
/** What happens to a cluster happens to several members at once: after it is over. */
const soonMs = 3_000;
const againMs = 30_000;
const answerMs = 10_000;
/** What is younger may still be on its way in the ledger; only a periodic comparison leaves it out. */
const youngMs = 60_000;
const hourMs = 3_600_000;
const mostRowBytes = 80 * 1024 * 1024;
const mostTallies = 100_000;
const mostSame = 10_000;

interface Counts {
  differed: number;
  fetched: number;
  refused: number;
}

export class Repair {
  readonly #parts: RepairParts;
  readonly #end = new AbortController();
  readonly #stop: () => void;
  readonly #periodic: NodeJS.Timeout;
  /** Spans that differ in ways that repair cannot change, with both sums. */
  readonly #same = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<ClusterComparison> | undefined;
  #again = false;
  #last: ClusterComparison | undefined;

  constructor(parts: RepairParts) {
    this.#parts = parts;
    answerRepair(parts);
    this.#stop = parts.cluster.onChange((change) => {
      const isBack = change.kind === 'state' && change.state.kind === 'joined';
      if (change.kind === 'joined' || change.kind === 'engine-lost-data' || isBack) this.#soon();
    });
    this.#periodic = setInterval(() => void this.#run(true).catch(() => undefined), parts.everyMs ?? everyMs).unref();
    this.#soon();
  }

  /** The last comparison that ended. */
  get last(): ClusterComparison | undefined {
    return this.#last;
  }

  /** Compares now, with all; waits for one that is under way and then compares once more. */
  async now(): Promise<ClusterComparison> {
    await this.#running?.catch(() => undefined);
    return this.#run(false);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    this.#stop();
    clearTimeout(this.#timer);
    clearInterval(this.#periodic);
    await this.#running?.catch(() => undefined);
  }

  /**
   * Fetches what others have of one job. The names of the members that could not be asked in this time; what comes later is
   * stored all the same.
   */
  async complete(jid: string, ms: number): Promise<string[]> {
    const counts: Counts = { differed: 0, fetched: 0, refused: 0 };
    const late = new Set<string>();
    const asked = this.#others().map(async ({ id }) => {
      late.add(id);
      for (const kind of ['job', 'ret', 'verdict'] as const) await this.#span(id, kind, jid, counts, ms);
      late.delete(id);
    });
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([Promise.allSettled(asked), waited]).finally(() => clearTimeout(timer));
    return [...late].sort();
  }

  #others(): Member[] {
    const { cluster } = this.#parts;
    return cluster.members().filter(({ id }) => id !== cluster.self.id);
  }

  #soon(ms = this.#parts.soonMs ?? soonMs): void {
    clearTimeout(this.#timer);
    if (this.#end.signal.aborted) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#timer = setTimeout(() => void this.#run(false).catch(() => undefined), ms).unref();
  }

  #run(periodic: boolean): Promise<ClusterComparison> {
    this.#running ??= this.#compareAll(periodic).finally(() => {
      this.#running = undefined;
      const again = this.#again;
      this.#again = false;
      if (again) this.#soon();
      else if ((this.#last?.unreached.size ?? 0) > 0) this.#soon(againMs);
    });
    return this.#running;
  }

  async #compareAll(periodic: boolean): Promise<ClusterComparison> {
    const began = Date.now();
    const counts: Counts = { differed: 0, fetched: 0, refused: 0 };
    const unreached = new Map<string, string>();
    const compared: string[] = [];
    for (const { id } of this.#others()) {
      try {
        await this.#compare(id, periodic, counts);
        compared.push(id);
      } catch (error) {
        if (this.#end.signal.aborted) throw error;
        unreached.set(id, messageOf(error));
      }
    }
    const seconds = Math.round((Date.now() - began) / 100) / 10;
    this.#last = { at: new Date(), seconds, ...counts, compared, unreached };
    if (counts.fetched > 0) {
      const text = 'records of other masters that were missing here are here now';
      this.#parts.log.info(text, { records: counts.fetched, seconds });
    }
    for (const [id, why] of unreached) {
      this.#parts.log.limited(`repair:${id}`, 'info', 'the history of another master could not be compared', {
        ...{ master: id, why },
      });
    }
    return this.#last;
  }

  async #compare(member: string, periodic: boolean, counts: Counts): Promise<void> {
    const { keepSeconds, store } = this.#parts;
    const oldest = keepSeconds > 0 ? spanOf(Date.now() - keepSeconds * 1000 + hourMs) : '';
    const removed = (await store.removedTo())?.slice(0, 10) ?? '';
    // A jid of a clock that was ahead does not end the repair of what is newer.
    const floor = removed > oldest && removed <= spanOf(Date.now()) ? removed : oldest;
    const young = jidOf((Date.now() - youngMs) * 1000);
    for (const hour of await this.#differing(member, floor, '', false)) {
      // What was removed because of its size went from the beginning of this hour on.
      if (hour.span === removed) continue;
      for (const minute of await this.#differing(member, hour.span, hour.span, true, hour.kind)) {
        if (periodic && `${minute.span}~` > young) continue;
        await this.#minute(member, minute, counts);
      }
    }
  }

  /** Sums of a member that are not the same here; newest first, and the jobs before their results. */
  async #differing(
    member: string,
    ...[from, to, minutes, only]: [from: string, to: string, minutes: boolean, only?: TallyKind]
  ): Promise<Tallied[]> {
    const theirs: Tallied[] = [];
    for await (const part of this.#ask(member, 'digest', { from, to, minutes })) {
      if (part === false) throw new HaliteError('cluster.cut-off', 'it still counts its records');
      for (const value of asList(part) ?? []) {
        const one = readTallied(value);
        if (one && theirs.length < mostTallies) theirs.push(one);
      }
    }
    const mine = await this.#parts.store.tallies(from, to, minutes);
    if (!mine) throw new HaliteError('cluster.cut-off', 'this master still counts its own records');
    const known = new Map(mine.map(({ kind, span, count, hash }) => [`${kind} ${span}`, `${count} ${hash}`]));
    return theirs.filter(({ kind, span, count, hash }) => {
      const key = `${kind} ${span}`;
      const sums = `${count} ${hash} ${known.get(key)}`;
      return (
        (only ?? kind) === kind && known.get(key) !== `${count} ${hash}` && this.#same.get(`${member} ${key}`) !== sums
      );
    });
  }

  async #minute(member: string, { kind, span, count, hash }: Tallied, counts: Counts): Promise<void> {
    const before = counts.differed;
    await this.#span(member, kind, span, counts, answerMs);
    if (counts.differed > before) return;
    const mine = await this.#parts.store.tallies(span.slice(0, 10), span, true);
    const own = mine?.find((one) => one.kind === kind && one.span === span);
    this.#same.set(`${member} ${kind} ${span}`, `${count} ${hash} ${own && `${own.count} ${own.hash}`}`);
    if (this.#same.size > mostSame) this.#same.delete(this.#same.keys().next().value as string);
  }

  /** Rows whose jid begins with this text. */
  async #span(member: string, kind: TallyKind, span: string, counts: Counts, ms: number): Promise<void> {
    for await (const part of this.#ask(member, 'items', { kind, span }, ms)) {
      const keys = (asList(part) ?? []).slice(0, keysAtOnce).map(readKey);
      const theirs = keys.filter((key): key is RowKey => key?.jid.startsWith(span) === true);
      const malformed = keys.length - theirs.length;
      counts.refused += malformed;
      const known = new Map((await this.#parts.store.known(kind, theirs)).map((key) => [nameOf(key), key]));
      const wanted = theirs.filter((key) => isWanted(key, known.get(nameOf(key))));
      counts.differed += wanted.length;
      for (let at = 0; at < wanted.length; at += rowsAtOnce) {
        await this.#fetch(member, kind, wanted.slice(at, at + rowsAtOnce), counts);
      }
    }
  }

  async #fetch(member: string, kind: TallyKind, keys: readonly RowKey[], counts: Counts): Promise<void> {
    const names = new Set(keys.map(nameOf));
    let pieces: Uint8Array[] = [];
    for await (const part of this.#ask(member, 'result', { kind, rows: namesValue(keys) })) {
      let packed = asList(part)?.slice(0, rowsAtOnce) ?? [];
      const piece = asDict(part);
      if (piece) {
        const [bytes, of] = [bytesField(piece, 'piece'), Number(dictGet(piece, 'of'))];
        if (!bytes || !(of <= mostRowBytes)) throw malformed();
        pieces.push(bytes);
        const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
        if (length > of) throw malformed();
        if (length < of) continue;
        packed = [Buffer.concat(pieces)];
        pieces = [];
      }
      await this.#add(member, kind, packed, names, counts);
    }
  }

  /** The next rows are only asked for when these are stored. */
  async #add(
    member: string,
    kind: TallyKind,
    packed: readonly Value[],
    names: ReadonlySet<string>,
    counts: Counts,
  ): Promise<void> {
    const { store, listener, log } = this.#parts;
    const rows: ComparedRow[] = [];
    for (const bytes of packed) {
      const row = unpackRow(bytes);
      if (
        typeof row !== 'string' &&
        row.kind === kind &&
        names.has(nameOf(row.kind === 'job' ? { ...row.job, id: '' } : row))
      ) {
        rows.push(row);
        continue;
      }
      counts.refused += 1;
      const why = typeof row === 'string' ? row : 'it was not asked for';
      log.limited(`repair:refused:${member}`, 'error', 'a record of another member was not taken', { member, why });
    }
    if (rows.length === 0) return;
    const { trouble } = store.health();
    if (trouble !== undefined)
      throw new HaliteError('store.unavailable', `the job store cannot be written: ${trouble}`);
    const { fresh, conflicts } = await store.addRows(rows);
    counts.fetched += fresh.length;
    for (const at of fresh) {
      const row = rows[at];
      if (row?.kind !== 'ret') continue;
      // Whoever still waits for it here need not wait any more.
      listener.heard(row, row.via ?? -1);
      listener.stored(row);
    }
    for (const conflict of conflicts) listener.conflict(conflict);
  }

  async *#ask(member: string, what: Question, body: Record<string, Value>, timeoutMs = answerMs): AsyncIterable<Value> {
    const { signal } = this.#end;
    signal.throwIfAborted();
    for await (const part of this.#parts.cluster.signals.ask(member, what, newDict(Object.entries(body)), {
      timeoutMs,
    })) {
      signal.throwIfAborted();
      yield part;
    }
  }
}

const malformed = (): HaliteError => new HaliteError('cluster.refused', 'its answer is malformed');
const nameOf = ({ jid, id }: Pick<RowKey, 'jid' | 'id'>): string => `${jid} ${id}`;

/** The hour of a time, as in a jid. */
const spanOf = (ms: number): string => jidOf(ms * 1000).slice(0, 10);

/** Not here; a later run of the job; or, of two results of one run, the one that is earlier in the ledger. */
function isWanted(theirs: RowKey, mine: RowKey | undefined): boolean {
  if (!mine || theirs.attempt > mine.attempt) return true;
  if (theirs.attempt < mine.attempt || theirs.digest === mine.digest) return false;
  return theirs.place >= 1 && (mine.place < 1 || theirs.place < mine.place);
}
