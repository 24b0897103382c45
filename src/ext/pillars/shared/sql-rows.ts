// Converts rows of a query to nested pillar data with Salt's rules for SQL sources: depth, lists, nulls, JSON columns.
import { asList, type Dict, dictEntries, dictOf, isDict, oneOrMore, type Value } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';

export interface SqlQuery {
  /** The key above all rows; undefined for the root. */
  readonly root: string | undefined;
  readonly query: string;
  readonly depth: number;
  readonly asList: boolean;
  readonly asJson: boolean;
  readonly withLists: readonly number[];
  readonly ignoreNull: boolean;
}

type Tree = Map<Value, Value>;

const listOf = (value: Value | undefined): number[] => {
  if (typeof value === 'string') return value === '' ? [] : value.split(',').map(Number);
  return (asList(value) ?? []).map(Number);
};

const isTrue = (value: Value | undefined): boolean =>
  value !== undefined && value !== null && value !== false && value !== 0 && value !== '';

/** One entry of the settings; undefined when it has no query. */
function queryOf(root: string | undefined, entry: Value): SqlQuery | undefined {
  const plain = { root, depth: 0, asList: false, asJson: false, withLists: [], ignoreNull: false };
  if (typeof entry === 'string') return entry === '' ? undefined : { ...plain, query: entry };
  if (Array.isArray(entry)) {
    const [query, depth] = entry;
    return isTrue(query) ? { ...plain, query: String(query), depth: Number(depth ?? 0) } : undefined;
  }
  if (!isDict(entry)) return undefined;
  const given = new Map(dictEntries(entry));
  const query = given.get('query');
  if (typeof query !== 'string' || query === '') return undefined;
  return {
    ...{ root, query, depth: Number(given.get('depth') ?? 0), withLists: listOf(given.get('with_lists')) },
    ...{ asList: isTrue(given.get('as_list')), asJson: isTrue(given.get('as_json')) },
    ignoreNull: isTrue(given.get('ignore_null')),
  };
}

/** The queries of the settings: positional ones first, then named ones sorted by name. */
export function queriesOf(places: readonly Value[], named: Dict): SqlQuery[] {
  const byName = dictEntries(named).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  const all = [...places.map((entry) => queryOf(undefined, entry)), ...byName.map(([k, v]) => queryOf(String(k), v))];
  return all.filter((query) => query !== undefined);
}

/** Collects the rows of queries. */
export class SqlTree {
  readonly #result: Tree = new Map();

  get value(): Dict {
    return settled(this.#result) as Dict;
  }

  add(query: SqlQuery, names: readonly string[], rows: readonly (readonly Value[])[]): void {
    const focus: Tree = query.root === undefined ? this.#result : new Map();
    if (query.root !== undefined) this.#result.set(query.root, focus);
    const most = names.length - 1;
    const depth = query.depth === 0 || query.depth > most ? most : query.depth;
    const lists = new Listing();
    for (const row of rows) {
      if (query.asJson && names.length === 1) mergeJson(focus, row[0] ?? null, query.asList);
      else placeRow(focus, row, names, { ...query, depth }, lists);
    }
    lists.apply();
  }
}

/** Keys of maps that become lists after all rows are read. */
class Listing {
  readonly #keys = new Map<Tree, Set<Value>>();

  note(tree: Tree, key: Value): void {
    const known = this.#keys.get(tree);
    if (known) known.add(key);
    else this.#keys.set(tree, new Set([key]));
  }

  /** Innermost first. */
  apply(): void {
    for (const [tree, keys] of [...this.#keys].reverse()) {
      for (const key of keys) {
        const value = tree.get(key);
        if (value instanceof Map) tree.set(key, [...value.values()]);
        else if (Array.isArray(value)) tree.set(key, [value]);
      }
    }
  }
}

function placeRow(focus: Tree, row: readonly Value[], names: readonly string[], query: SqlQuery, lists: Listing): void {
  const { depth, withLists, ignoreNull } = query;
  // A negative index counts from the end in Python: the only column is then both key and value.
  const at = (index: number): Value => row.at(index) ?? null;
  let tree = focus;
  for (let i = 0; i < depth - 1; i++) {
    if (withLists.includes(i + 1)) lists.note(tree, at(i));
    tree = descend(tree, at(i), query.asList);
  }
  const last = names.length - 1;
  if (depth === last) {
    const key = at(last - 1);
    const before = tree.get(key);
    if ((query.asList && before !== undefined) || withLists.includes(last)) {
      tree.set(key, [...(before === undefined ? [] : oneOrMore(before)), at(last)]);
    } else if (!ignoreNull || at(last) !== null) tree.set(key, at(last));
    return;
  }
  const key = at(depth - 1);
  if (!tree.has(key)) tree.set(key, new Map());
  if (withLists.includes(depth)) lists.note(tree, key);
  const leaf = tree.get(key);
  if (!(leaf instanceof Map)) throw new Error(`The rows put both a value and a map under ${String(key)}`);
  for (let i = depth; i <= last; i++) placeField(leaf, names[i]!, at(i), query, withLists.includes(i + 1), lists);
}

function placeField(leaf: Tree, name: string, value: Value, query: SqlQuery, listed: boolean, lists: Listing): void {
  if (listed) lists.note(leaf, name);
  const before = leaf.get(name);
  if (query.asList && before !== undefined) {
    leaf.set(name, Array.isArray(before) ? [...before, value] : [before, value]);
  } else if (!query.ignoreNull || value !== null) leaf.set(name, value);
}

/** The map under a key; another existing value is kept in a list or replaced. */
function descend(tree: Tree, key: Value, asList: boolean): Tree {
  const there = tree.get(key);
  if (there instanceof Map) return there;
  const fresh: Tree = new Map();
  if (Array.isArray(there)) there.push(fresh);
  else tree.set(key, there !== undefined && asList ? [there, fresh] : fresh);
  return fresh;
}

/** A JSON document merged into the tree, map by map. */
function mergeJson(tree: Tree, document: Value, mergeLists: boolean): void {
  const value = typeof document === 'string' ? loadJson(document) : document;
  if (!isDict(value)) throw new Error('Cannot update using non-dict types in dictupdate.update()');
  for (const [key, item] of dictEntries(value)) {
    const there = tree.get(key);
    if (isDict(item) && (there === undefined || isDict(there))) {
      const inner: Tree = there instanceof Map ? there : new Map(there === undefined ? [] : dictEntries(there as Dict));
      tree.set(key, inner);
      mergeJson(inner, item, mergeLists);
    } else if (mergeLists && Array.isArray(item) && Array.isArray(there)) {
      tree.set(key, [...there, ...item.filter((one) => !there.includes(one))]);
    } else tree.set(key, item);
  }
}

function settled(value: Value): Value {
  if (value instanceof Map) return dictOf([...value].map(([key, item]) => [key, settled(item)]));
  return Array.isArray(value) ? value.map(settled) : value;
}
