// The constructor: node graph to values, in PyYAML's order, so that the same one of several problems is reported.
import { type Dict, isDict, isReorderedKey, newDict, type PlainDict, type Value } from '../value.ts';
import { markOrdered, PyTuple, setOf } from './collections.ts';
import { constructScalar, type ScalarRules } from './construct-scalar.ts';
import { DictBuilder } from './dict-builder.ts';
import { flattenMerges } from './merge.ts';
import {
  type CollectionNode,
  kindName,
  mappingKind,
  reprNodeValue,
  scalarKind,
  sequenceKind,
  type YamlNode,
} from './nodes.ts';
import type { PositionRecorder } from './positions.ts';
import { pyStr } from './py-text.ts';
import { tags } from './resolver.ts';
import type { YamlSource } from './source.ts';

export interface ConstructRules extends ScalarRules {
  readonly duplicates: 'error' | 'last';
  readonly ordered: boolean;
  readonly positions: PositionRecorder | undefined;
}

/** The value of a document. */
export function constructDocument(root: YamlNode, rules: ConstructRules): Value {
  return new Constructor(rules).document(root);
}

const noHolder: Value[] = [];

class Constructor {
  readonly #rules: ConstructRules;
  readonly #source: YamlSource;
  /** Collections are filled in the order in which they are found: the parent before its children. */
  readonly #queue: YamlNode[] = [];
  // Places for collections whose content had to be known before they could be created.
  readonly #holders: (Dict | Value[])[] = [];
  readonly #holderKeys: Value[] = [];
  readonly #held: YamlNode[] = [];

  constructor(rules: ConstructRules) {
    this.#rules = rules;
    this.#source = rules.source;
  }

  document(root: YamlNode): Value {
    const value = this.#construct(root);
    for (let i = 0; i < this.#queue.length; i++) this.#fill(this.#queue[i] as YamlNode);
    for (let i = 0; i < this.#held.length; i++) this.#settle(i);
    return value === undefined ? resultOf(root) : value;
  }

  #settle(index: number): void {
    const holder = this.#holders[index] as Dict | Value[];
    const key = this.#holderKeys[index] as Value;
    const result = resultOf(this.#held[index] as YamlNode);
    if (holder instanceof Map) holder.set(key, result);
    else (holder as PlainDict)[key as string] = result;
  }

  /** The value of a node; a collection is still empty, and undefined when its form is not yet known. */
  #construct(node: YamlNode): Value | undefined {
    switch (node.tag) {
      case tags.map:
      case tags.seq:
      case tags.omap:
      case tags.set:
      case tags.pairs:
        return this.#collection(node);
      case tags.str:
        if (node.kind === scalarKind) return node.text;
        return constructScalar(node, this.#rules);
      default:
        return constructScalar(node, this.#rules);
    }
  }

  #collection(node: YamlNode): Value | undefined {
    if (node.kind === scalarKind) {
      // Refused when this node is constructed.
      this.#queue.push(node);
      return undefined;
    }
    if (!node.queued) {
      node.queued = true;
      this.#queue.push(node);
      node.result = shellOf(node);
    }
    return node.result ?? undefined;
  }

  /** Records that a place is filled later, and returns the value to put there until then. */
  #hold(value: Value | undefined, holder: Dict | Value[], key: Value, node: YamlNode): Value {
    if (value !== undefined) return value;
    this.#holders.push(holder);
    this.#holderKeys.push(key);
    this.#held.push(node);
    return null;
  }

  #fill(node: YamlNode): void {
    if (node.tag === tags.seq) this.#fillSequence(node);
    else if (node.tag === tags.pairs) this.#fillPairs(node);
    // Salt reads `!!omap` as a mapping too, though it is written as a list: PyYAML's form of it is refused.
    else if (node.kind !== mappingKind) this.#failKind(node, 'mapping');
    else {
      const dict = this.#mapping(node);
      if (node.tag === tags.set) node.result = setOf(dict instanceof Map ? dict.keys() : Object.keys(dict));
      else node.result = this.#rules.ordered ? markOrdered(dict) : dict;
    }
  }

  #failKind(node: YamlNode, name: string): never {
    const problem = `expected a ${name} node, but found ${kindName(node)}`;
    return this.#source.fail('ConstructorError', problem, node.start);
  }

  #fillSequence(node: YamlNode): void {
    const { items } = node.kind === sequenceKind ? node : this.#failKind(node, 'sequence');
    const list = resultOf(node) as Value[];
    for (let i = 0; i < items.length; i++) {
      const item = items[i] as YamlNode;
      list.push(this.#hold(this.#construct(item), list, i, item));
      this.#rules.positions?.record(list, i, item.start);
    }
  }

  #fillPairs(node: YamlNode): void {
    const fail = (problem: string, at: YamlNode): never =>
      this.#source.fail('ConstructorError', problem, at.start, 'while constructing pairs', node.start);
    const { items } =
      node.kind === sequenceKind ? node : fail(`expected a sequence, but found ${kindName(node)}`, node);
    const list = resultOf(node) as Value[];
    for (const item of items) {
      const { items: parts } =
        item.kind === mappingKind ? item : fail(`expected a mapping of length 1, but found ${kindName(item)}`, item);
      if (parts.length !== 2) fail(`expected a single mapping item, but found ${parts.length / 2} items`, item);
      const pair = new PyTuple();
      for (const [i, part] of parts.entries()) pair.push(this.#hold(this.#construct(part), pair, i, part));
      list.push(pair);
    }
  }

  #mapping(node: CollectionNode): Dict {
    flattenMerges(node, this.#source);
    const builder = new DictBuilder(node.result as PlainDict | null);
    const { items } = node;
    const from = this.#held.length;
    let replaced = false;
    for (let i = 0; i < items.length; i += 2) {
      const keyNode = items[i] as YamlNode;
      const valueNode = items[i + 1] as YamlNode;
      const key = this.#construct(keyNode);
      if (key === undefined || Array.isArray(key) || isDict(key)) {
        return this.#failKey(node, keyNode, `found unacceptable key ${reprNodeValue(keyNode)}`);
      }
      const value = this.#construct(valueNode);
      if (!builder.add(key, value ?? null)) {
        if (this.#rules.duplicates === 'error') {
          return this.#failKey(node, keyNode, `found conflicting ID '${pyStr(key)}'`);
        }
        replaced = true;
      }
      // The dict may still change its form, so its places are first recorded without it.
      if (value === undefined) this.#hold(value, noHolder, builder.storedKey(key), valueNode);
    }
    const { dict } = builder;
    if (replaced) this.#holdLatest(items, builder, from);
    this.#holders.fill(dict, from);
    if (this.#rules.positions) this.#recordKeys(dict, builder, items);
    return dict;
  }

  /** Records the places again after equal keys: only the last value of each key counts. */
  #holdLatest(items: readonly YamlNode[], builder: DictBuilder, from: number): void {
    for (const list of [this.#holders, this.#holderKeys, this.#held]) list.length = from;
    const latest = new Map<Value, YamlNode>();
    for (let i = 0; i < items.length; i += 2) {
      const key = this.#construct(items[i] as YamlNode) ?? null;
      latest.set(builder.storedKey(key), items[i + 1] as YamlNode);
    }
    for (const [key, node] of latest) this.#hold(this.#construct(node), noHolder, key, node);
  }

  #recordKeys(dict: Dict, builder: DictBuilder, items: readonly YamlNode[]): void {
    for (let i = 0; i < items.length; i += 2) {
      const node = items[i] as YamlNode;
      this.#rules.positions?.record(dict, builder.storedKey(this.#construct(node) ?? null), node.start);
    }
  }

  #failKey(node: YamlNode, key: YamlNode, problem: string): never {
    return this.#source.fail('ConstructorError', problem, key.start, 'while constructing a mapping', node.start);
  }
}

const resultOf = (node: YamlNode): Value => (node.kind === scalarKind ? null : node.result);

/** The empty collection, when its form is known from the start; most are, and need no second visit. */
function shellOf(node: CollectionNode): Value {
  if (node.kind === sequenceKind) return node.tag === tags.seq || node.tag === tags.pairs ? [] : null;
  return (node.tag === tags.map || node.tag === tags.omap) && hasPlainKeys(node) ? newDict() : null;
}

/** Whether every key is text in its final form and none would be reordered by JavaScript. */
function hasPlainKeys(node: CollectionNode): boolean {
  const { items } = node;
  for (let i = 0; i < items.length; i += 2) {
    const key = items[i] as YamlNode;
    if (key.tag !== tags.str || key.kind !== scalarKind || isReorderedKey(key.text)) return false;
  }
  return true;
}
