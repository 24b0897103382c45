// The mine: data that minions publish for each other, in memory for reading, in the store for the next start.
import { dictGet, isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Master } from './core.ts';
import { matchFleet } from './targets.ts';

/** Marks of an entry that names who may see it. */
const aclMark = '__saltmine_acl__';
const dataMark = '__data__';

export class Mine {
  readonly #data = new Map<string, PlainDict>();
  #master!: Master;

  async restore(master: Master): Promise<void> {
    this.#master = master;
    for (const [id, data] of await master.store.loadMine()) if (!(data instanceof Map)) this.#data.set(id, data);
  }

  /** What a minion has put there, bare of who may see it. */
  of(id: string): PlainDict | undefined {
    const data = this.#data.get(id);
    if (!data || Object.keys(data).length === 0) return undefined;
    return newDict(Object.entries(data).map(([fun, value]) => [fun, this.#visible(value, undefined) ?? null]));
  }

  put(id: string, data: PlainDict, clear: boolean): void {
    this.#set(id, { ...(clear ? newDict() : this.#data.get(id)), ...data });
  }

  drop(id: string, fun: string): void {
    const rest = newDict(Object.entries(this.#data.get(id) ?? {}).filter(([name]) => name !== fun));
    this.#set(id, rest);
  }

  flush(id: string): void {
    this.#set(id, newDict());
  }

  /**
   * Values of some functions from the matched minions, as far as `reader` may see them; the master sees all. Functions of
   * which there is nothing are left out.
   */
  get(
    tgt: string | readonly string[],
    kind: string,
    functions: readonly string[],
    reader?: string,
  ): Map<string, PlainDict> {
    // What a minion left behind whose key is gone is nobody's any more.
    const ids = this.#master.keys.ids('accepted').filter((id) => this.#data.has(id));
    const { matched } = matchFleet(this.#master, tgt, kind, { ids });
    const answers = new Map<string, PlainDict>();
    for (const fun of functions) {
      const found = newDict();
      for (const id of matched) {
        const value = this.#data.get(id)?.[fun];
        const visible = value === undefined ? undefined : this.#visible(value, reader);
        if (visible !== undefined) found[id] = visible;
      }
      if (Object.keys(found).length > 0) answers.set(fun, found);
    }
    return answers;
  }

  #visible(value: Value, reader: string | undefined): Value | undefined {
    if (!isDict(value) || !dictGet(value, aclMark)) return value;
    const allowed = dictGet(value, 'allow_tgt');
    if (reader !== undefined && allowed !== undefined && allowed !== null && allowed !== '') {
      const kind = String(dictGet(value, 'allow_tgt_type') ?? 'glob');
      if (!matchFleet(this.#master, allowed as string, kind, { ids: [reader] }).matched.includes(reader))
        return undefined;
    }
    return dictGet(value, dataMark) ?? null;
  }

  #set(id: string, data: PlainDict): void {
    if (Object.keys(data).length > 0) this.#data.set(id, data);
    else if (!this.#data.delete(id)) return;
    this.#master.store.saveMine(id, data).catch((error: unknown) => {
      this.#master.log.limited('store', 'error', 'mine data could not be stored', { error: messageOf(error) });
    });
  }
}
