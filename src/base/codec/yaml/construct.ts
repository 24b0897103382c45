// The constructor: node graph to values, in PyYAML's order, so that of several problems the same one is reported.
import type { Dict, PlainDict, Value } from '../value.ts';
import { markOrdered, PyTuple, setOf } from './collections.ts';
import { constructScalar, type ScalarRules } from './construct-scalar.ts';
import { DictBuilder } from './dict-builder.ts';
import { flattenMerges } from './merge.ts';
import { kindName, mappingKind, reprNodeValue, scalarKind, sequenceKind, type YamlNode } from './nodes.ts';
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

class Constructor {
  readonly #rules: ConstructRules;
  readonly #source: YamlSource;
  /** Collections are filled one after the other in the order they are met: the parent before its children. */
  readonly #queue: YamlNode[] = [];
  // Places that hold a collection which did not exist yet when the place was made.
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
    return value === undefined ? root.result : value;
  }

  #settle(index: number): void {
    const holder = this.#holders[index] as Dict | Value[];
    const key = this.#holderKeys[index] as Value;
    const { result } = this.#held[index] as YamlNode;
    if (holder instanceof Map) holder.set(key, result);
    else (holder as PlainDict)[key as string] = result;
  }

  /** The value of a scalar; undefined for a collection, which is queued. */
  #construct(node: YamlNode): Value | undefined {
    switch (node.tag) {
      case tags.map:
      case tags.seq:
      case tags.omap:
      case tags.set:
      case tags.pairs:
        if (!node.queued) {
          node.queued = true;
          this.#queue.push(node);
        }
        return undefined;
      case tags.str:
        if (node.kind === scalarKind) return node.text;
        return constructScalar(node, this.#rules);
      default:
        return constructScalar(node, this.#rules);
    }
  }

  /** Notes that a place is to be filled later, and gives the value to put there until then. */
  #hold(value: Value | undefined, holder: Dict | Value[], key: Value, node: YamlNode): Value {
    if (value !== undefined) return value;
    this.#holders.push(holder);
    this.#holderKeys.push(key);
    this.#held.push(node);
    return null;
  }

  #fill(node: YamlNode): void {
    switch (node.tag) {
      case tags.seq:
        node.result = this.#sequence(node);
        break;
      case tags.pairs:
        node.result = this.#pairs(node);
        break;
      case tags.set: {
        const dict = this.#mapping(node);
        node.result = setOf(dict instanceof Map ? dict.keys() : Object.keys(dict));
        break;
      }
      default:
        // Salt reads `!!omap` as a mapping too, though it is written as a list: PyYAML's form of it is refused.
        node.result = this.#rules.ordered ? markOrdered(this.#mapping(node)) : this.#mapping(node);
    }
  }

  #expect(node: YamlNode, kind: number, name: string): void {
    if (node.kind === kind) return;
    this.#source.fail('ConstructorError', `expected a ${name} node, but found ${kindName(node)}`, node.start);
  }

  #sequence(node: YamlNode): Value[] {
    this.#expect(node, sequenceKind, 'sequence');
    const list: Value[] = [];
    for (const [i, item] of node.items.entries()) {
      list.push(this.#hold(this.#construct(item), list, i, item));
      this.#rules.positions?.record(list, i, item.start);
    }
    return list;
  }

  #pairs(node: YamlNode): Value[] {
    const fail = (problem: string, at: YamlNode): never =>
      this.#source.fail('ConstructorError', problem, at.start, 'while constructing pairs', node.start);
    if (node.kind !== sequenceKind) fail(`expected a sequence, but found ${kindName(node)}`, node);
    return node.items.map((item) => {
      if (item.kind !== mappingKind) fail(`expected a mapping of length 1, but found ${kindName(item)}`, item);
      if (item.items.length !== 2) {
        fail(`expected a single mapping item, but found ${item.items.length / 2} items`, item);
      }
      const pair = new PyTuple();
      for (const [i, part] of item.items.entries()) pair.push(this.#hold(this.#construct(part), pair, i, part));
      return pair;
    });
  }

  #mapping(node: YamlNode): Dict {
    this.#expect(node, mappingKind, 'mapping');
    flattenMerges(node, this.#source);
    const builder = new DictBuilder();
    const { items } = node;
    let pending: Map<Value, YamlNode> | undefined;
    for (let i = 0; i < items.length; i += 2) {
      const keyNode = items[i] as YamlNode;
      const valueNode = items[i + 1] as YamlNode;
      const key = this.#construct(keyNode);
      if (key === undefined) return this.#failKey(node, keyNode, `found unacceptable key ${reprNodeValue(keyNode)}`);
      const value = this.#construct(valueNode);
      if (!builder.add(key, value ?? null)) {
        if (this.#rules.duplicates === 'error') {
          return this.#failKey(node, keyNode, `found conflicting ID '${pyStr(key)}'`);
        }
        pending?.delete(builder.storedKey(key));
      }
      if (value === undefined) {
        pending ??= new Map();
        pending.set(builder.storedKey(key), valueNode);
      }
    }
    const { dict } = builder;
    if (pending) for (const [key, child] of pending) this.#hold(undefined, dict, key, child);
    if (this.#rules.positions) this.#recordKeys(dict, builder, items);
    return dict;
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
