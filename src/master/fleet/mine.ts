// The mine: data that minions publish for each other, in memory for reading, in the store for the next start.
import { type Dict, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { Budget, shortened } from '../../base/util/budget.ts';
import { measure } from '../../base/util/measure.ts';
import { parseTarget, resolve, type Target } from '../../protocol/target/index.ts';
import type { JobStore, MinionData } from '../../store/jobs.ts';
import type { Targets } from '../publish/targets.ts';

/** Keys of an entry that limits which minions may read it. */
const aclMark = '__saltmine_acl__';
const dataMark = '__data__';

/** Limits for the data of one minion. Addresses and certificates take some kB; readers get it unchanged. */
const mostFunctions = 1000;
const mostBytes = 4 * 1024 * 1024;
const oneValue = { bytes: 1024 * 1024, depth: 100 };
/** Limit for the result of one query. */
const mostAnswered = 64 * 1024 * 1024;
/** Steps for checking whether one reader may read one value: its owner chose the expression. */
const readerSteps = 50_000;

/** One function of one minion. */
interface Entry {
  /** As received, for the store. */
  readonly sent: Value;
  readonly value: Value;
  readonly bytes: number;
  /** Which minions may read it: all when undefined, none when the expression is invalid. */
  readonly readers: Target | undefined;
}

export interface MineParts {
  readonly store: Pick<JobStore, 'loadMine' | 'saveMine'>;
  readonly keys: { ids(state: 'accepted'): readonly string[] };
  readonly fleet: { data(id: string): MinionData | undefined };
  readonly targets: Pick<Targets, 'match' | 'nodegroups'>;
  readonly log: Pick<Logger, 'warn' | 'limited'>;
}

export class Mine {
  readonly #data = new Map<string, ReadonlyMap<string, Entry>>();
  readonly #parts: MineParts;
  #share: (id: string, data: PlainDict | undefined) => void = () => undefined;

  private constructor(parts: MineParts) {
    this.#parts = parts;
  }

  /** The mine with the data that the last run of this master stored. */
  static async open(parts: MineParts): Promise<Mine> {
    const mine = new Mine(parts);
    for (const [id, data] of await parts.store.loadMine()) {
      if (!(data instanceof Map)) mine.#data.set(id, new Map(Object.entries(data).flatMap(mine.#stored(id))));
    }
    return mine;
  }

  /** As received, of all minions. */
  *all(): Iterable<readonly [string, PlainDict]> {
    for (const [id, entries] of this.#data) yield [id, sentOf(entries)];
  }

  /** Called with every change that a minion makes here; undefined when it has no data any more. */
  share(share: (id: string, data: PlainDict | undefined) => void): void {
    this.#share = share;
  }

  /** Another member of the cluster changed the data of a minion. */
  adopt(id: string, data: Dict): void {
    if (!(data instanceof Map)) this.#keep(id, new Map(Object.entries(data).flatMap(this.#stored(id))));
  }

  /** The mine data of a minion, without the access rules. */
  of(id: string): PlainDict | undefined {
    const entries = this.#data.get(id);
    return entries && newDict([...entries].map(([fun, { value }]) => [fun, value]));
  }

  /** Throws 'codec.limit' when it exceeds the limits; nothing is then changed. */
  put(id: string, data: PlainDict, clear: boolean): void {
    const added = Object.entries(data).map(([fun, sent]): [string, Entry] => [fun, this.#entry(id, fun, sent)]);
    const entries = new Map([...(clear ? [] : (this.#data.get(id) ?? [])), ...added]);
    let bytes = 0;
    for (const entry of entries.values()) bytes += entry.bytes;
    if (entries.size > mostFunctions || bytes > mostBytes)
      throw new HaliteError('codec.limit', `The mine accepts ${mostFunctions} functions and 4 MiB of a minion`);
    this.#set(id, entries);
  }

  drop(id: string, fun: string): void {
    this.#set(id, new Map([...(this.#data.get(id) ?? [])].filter(([name]) => name !== fun)));
  }

  flush(id: string): void {
    this.#set(id, new Map());
  }

  /**
   * Values of some functions from the matched minions, as far as `reader` may read them; the master may read all.
   * Functions without values are omitted. Throws HaliteError for a target that is invalid or too expensive, and for a
   * result that is too large.
   */
  get(
    tgt: string | readonly string[],
    kind: string,
    functions: readonly string[],
    reader?: string,
  ): Map<string, PlainDict> {
    // Data of a minion whose key is deleted is not returned.
    const ids = this.#parts.keys.ids('accepted').filter((id) => this.#data.has(id));
    const { matched } = this.#parts.targets.match(tgt, kind, { ids, foreign: reader !== undefined });
    const answers = new Map<string, PlainDict>();
    let left = mostAnswered;
    for (const fun of functions) {
      const found = newDict();
      for (const id of matched) {
        const entry = this.#data.get(id)?.get(fun);
        if (!entry || (reader !== undefined && !this.#maySee(id, fun, entry, reader))) continue;
        left -= entry.bytes + id.length;
        if (left < 0) throw new HaliteError('codec.limit', `${fun} of so many minions is too much for one answer`);
        found[id] = entry.value;
      }
      if (Object.keys(found).length > 0) answers.set(fun, found);
    }
    return answers;
  }

  /** Entries of the store; entries that exceed the current limits are dropped. */
  #stored(id: string): (entry: [string, Value]) => [string, Entry][] {
    return ([fun, sent]) => {
      try {
        return [[fun, this.#entry(id, fun, sent)]];
      } catch (error) {
        this.#parts.log.warn('a value of the mine is dropped', { minion: id, function: fun, why: messageOf(error) });
        return [];
      }
    };
  }

  #maySee(id: string, fun: string, { readers }: Entry, reader: string): boolean {
    if (!readers) return true;
    const { grains, pillar } = this.#parts.fleet.data(reader) ?? {};
    try {
      return resolve(readers, [{ id: reader, grains, pillar }], new Budget(readerSteps)).matched.length > 0;
    } catch (error) {
      this.#hidden(id, fun, messageOf(error));
      return false;
    }
  }

  #entry(id: string, fun: string, sent: Value): Entry {
    const bytes = measure([fun, sent], oneValue);
    if (bytes === undefined)
      throw new HaliteError('codec.limit', `The mine accepts 1 MiB and 100 levels of ${shortened(fun)}`);
    if (!isDict(sent) || !dictGet(sent, aclMark)) return { sent, value: sent, bytes, readers: undefined };
    return { sent, value: dictGet(sent, dataMark) ?? null, bytes, readers: this.#readersOf(id, fun, sent) };
  }

  /** A minion may write anything: an invalid target hides this value, and nothing else. */
  #readersOf(id: string, fun: string, entry: Dict): Target | undefined {
    const allowed = dictGet(entry, 'allow_tgt');
    if (allowed === undefined || allowed === null || allowed === '') return undefined;
    const kind = dictGet(entry, 'allow_tgt_type') ?? 'glob';
    const options = { lenient: true, nodegroups: this.#parts.targets.nodegroups };
    const target = parseTarget(allowed as string, kind as string, options);
    if (target.type === 'never') this.#hidden(id, fun, target.reason);
    return target;
  }

  #hidden(id: string, fun: string, why: string): void {
    this.#parts.log.limited(`mine:${id}`, 'warn', 'a value of the mine is hidden: its allow_tgt is not valid', {
      minion: id,
      function: fun,
      why,
    });
  }

  #set(id: string, entries: ReadonlyMap<string, Entry>): void {
    if (this.#keep(id, entries)) this.#share(id, entries.size > 0 ? sentOf(entries) : undefined);
  }

  /** False when there was nothing to remove. */
  #keep(id: string, entries: ReadonlyMap<string, Entry>): boolean {
    if (entries.size > 0) this.#data.set(id, entries);
    else if (!this.#data.delete(id)) return false;
    const data = sentOf(entries);
    this.#parts.store.saveMine(id, data).catch((error: unknown) => {
      this.#parts.log.limited('store', 'error', 'mine data could not be stored', { error: messageOf(error) });
    });
    return true;
  }
}

const sentOf = (entries: ReadonlyMap<string, Entry>): PlainDict =>
  newDict([...entries].map(([fun, { sent }]) => [fun, sent]));
