// Finds ids in high data by id, by the value of an argument, or by their SLS.
import { type Dict, dictGet, dictSize, isDict, type Value } from '../../../base/codec/value.ts';
import { type Body, entryOf, firstKey, firstValue, type High, isBody, isHidden } from '../data.ts';

/** An id and its state. */
export type Found = readonly [id: Value, state: Value];

const sizeOne = (dict: Dict): boolean => dictSize(dict) === 1;
/** Arguments are found only by text or number; anything else never equals the name in a requisite. */
const keyOf = (value: Value | undefined): string | undefined => {
  if (typeof value === 'string') return `s${value}`;
  return typeof value === 'number' ? `n${value}` : undefined;
};

/**
 * Looks up names in high data. Salt scans everything for each name; here every argument is indexed once, so that many
 * references by name stay linear.
 */
export class NameFinder {
  readonly #high: High;
  /** state → value of any one-key argument → ids, once per occurrence. */
  #byState: Map<Value, Map<string, Value[]>> | undefined;
  #noted: Map<Value, Map<Value, string[]>> = new Map();
  #bySls: Map<Value, Value[]> | undefined;
  #byName: Map<Value, Found> | undefined;

  constructor(high: High) {
    this.#high = high;
  }

  /**
   * Ids to which a reference `state: name` refers. With `strict`, an id of that name counts only when it has the state.
   */
  find(name: Value, state: Value, strict: boolean): Found[] {
    const body = this.#high.get(name);
    const has = isBody(body) && body.has(state);
    if (this.#high.has(name) && (!strict || has)) return [[name, state]];
    if (state === 'sls') return this.#inSls(name).map((id) => [id, firstKey(this.#high.get(id) as Body)!] as const);
    const key = keyOf(name);
    if (key === undefined) return [];
    return (this.#states().get(state)?.get(key) ?? []).map((id) => [id, state] as const);
  }

  /** Every state of every id that came from an SLS. */
  slsIds(sls: Value): Found[] {
    return this.#inSls(sls).flatMap((id) =>
      [...(this.#high.get(id) as Body).keys()].filter((key) => !isHidden(key)).map((key) => [id, key] as const),
    );
  }

  /** The first id with a state whose `name` is this. */
  named(name: Value): Found | undefined {
    this.#byName ??= this.#collectNames();
    return this.#byName.get(name);
  }

  /** Called when the arguments of a state changed. */
  changed(id: Value, state: Value): void {
    if (!this.#byState) return;
    this.#forget(id, state);
    this.#note(id, state);
  }

  #inSls(sls: Value): Value[] {
    if (!this.#bySls) {
      this.#bySls = new Map();
      for (const [id, body] of this.#high) {
        if (!isBody(body)) continue;
        const from = body.get('__sls__') ?? null;
        const ids = this.#bySls.get(from);
        if (ids) ids.push(id);
        else this.#bySls.set(from, [id]);
      }
    }
    return this.#bySls.get(sls) ?? [];
  }

  #states(): Map<Value, Map<string, Value[]>> {
    if (!this.#byState) {
      this.#byState = new Map();
      for (const [id, body] of this.#high) if (isBody(body)) for (const state of body.keys()) this.#note(id, state);
    }
    return this.#byState;
  }

  #note(id: Value, state: Value): void {
    const args = (this.#high.get(id) as Body).get(state);
    if (!Array.isArray(args) || !this.#byState) return;
    const keys: string[] = [];
    const values = entryOf(this.#byState, state, () => new Map<string, Value[]>());
    for (const arg of args) {
      const key = isDict(arg) && sizeOne(arg) ? keyOf(firstValue(arg)) : undefined;
      if (key === undefined) continue;
      keys.push(key);
      const ids = values.get(key);
      if (ids) ids.push(id);
      else values.set(key, [id]);
    }
    entryOf(this.#noted, id, () => new Map()).set(state, keys);
  }

  #forget(id: Value, state: Value): void {
    const values = this.#byState?.get(state);
    for (const key of this.#noted.get(id)?.get(state) ?? []) {
      const ids = values?.get(key);
      const at = ids?.indexOf(id) ?? -1;
      if (at >= 0) ids!.splice(at, 1);
    }
  }

  #collectNames(): Map<Value, Found> {
    const names = new Map<Value, Found>();
    for (const [id, body] of this.#high) {
      if (!isBody(body)) continue;
      for (const [state, args] of body) {
        if (isHidden(state) || !Array.isArray(args)) continue;
        for (const arg of args) {
          if (!isDict(arg)) continue;
          const name = dictGet(arg, 'name');
          if (name !== undefined && !names.has(name)) names.set(name, [id, state]);
        }
      }
    }
    return names;
  }
}

/** The names of the one-key arguments of a state. */
export function argumentNames(high: High, id: Value, state: Value): Set<Value> {
  const body = high.get(id);
  const args = isBody(body) ? body.get(state) : undefined;
  const names = new Set<Value>();
  if (!Array.isArray(args)) return names;
  for (const arg of args) if (isDict(arg) && sizeOne(arg)) names.add(firstKey(arg)!);
  return names;
}
