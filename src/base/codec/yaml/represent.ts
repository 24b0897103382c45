// The representer: values to nodes ready for writing, as Salt's safe dumper makes them.
import { HaliteError } from '../../errors/index.ts';
import { asNumber, type Dict, dictEntries, isDict, isFloat, type Value } from '../value.ts';
import { encodeBase64 } from './base64.ts';
import { isOrdered, PySet, PyTuple } from './collections.ts';
import { comparePy, Incomparable } from './compare.ts';
import { pyFloatRepr } from './py-text.ts';
import { resolveScalar, tags } from './resolver.ts';

/** A node to be written. */
export class DumpNode {
  readonly kind: 'scalar' | 'sequence' | 'mapping';
  readonly tag: string;
  readonly text: string;
  /** Items of a sequence; keys and values of a mapping in turn. */
  readonly items: DumpNode[] = [];
  /** A scalar to be written with `|` where possible. */
  readonly literal: boolean;
  flow = false;
  /** Set when the node occurs more than once. */
  anchor: string | undefined;
  written = false;

  constructor(kind: DumpNode['kind'], tag: string, text = '', literal = false) {
    this.kind = kind;
    this.tag = tag;
    this.text = text;
    this.literal = literal;
  }

  /** The text alone says which type it is. */
  get plainImplicit(): boolean {
    return resolveScalar(this.text) === this.tag;
  }
}

export interface RepresentRules {
  /** null: collections of scalars only are written in flow style. */
  readonly flow: boolean | null;
  readonly sortKeys: boolean;
  readonly maxDepth: number;
}

export function represent(value: Value, rules: RepresentRules): DumpNode {
  return new Representer(rules).node(value, 1);
}

class Representer {
  readonly #rules: RepresentRules;
  readonly #known = new Map<object, DumpNode>();
  #anchors = 0;

  constructor(rules: RepresentRules) {
    this.#rules = rules;
  }

  node(value: unknown, depth: number): DumpNode {
    if (typeof value === 'string') return new DumpNode('scalar', tags.str, value);
    if (typeof value !== 'object' || value === null) return scalarNode(value);
    if (value instanceof Uint8Array) return new DumpNode('scalar', tags.binary, encodeBase64(value), true);
    const number = asNumber(value);
    if (number !== undefined) return floatNode(number);
    if (value instanceof PyTuple && value.length === 0) return this.#sequence(value, depth, undefined);
    const known = this.#known.get(value);
    if (known !== undefined) {
      known.anchor ??= `id${String(++this.#anchors).padStart(3, '0')}`;
      return known;
    }
    if (depth > this.#rules.maxDepth) {
      throw new HaliteError('codec.limit', `Value is nested deeper than ${this.#rules.maxDepth} levels.`);
    }
    return this.#collection(value, depth);
  }

  #collection(value: object, depth: number): DumpNode {
    if (value instanceof Date) {
      const node = new DumpNode('scalar', tags.timestamp, timestampText(value));
      this.#known.set(value, node);
      return node;
    }
    if (value instanceof PySet || value instanceof Set) {
      const entries = [...value].map((item): [Value, Value] => [item, null]);
      return this.#mapping(value, tags.set, entries, this.#rules.sortKeys, depth);
    }
    if (Array.isArray(value)) return this.#sequence(value, depth, value);
    if (!isDict(value)) return scalarNode(undefined);
    const sorted = this.#rules.sortKeys && !isOrdered(value);
    return this.#mapping(value, tags.map, dictEntries(value), sorted, depth);
  }

  #sequence(list: readonly Value[], depth: number, identity: object | undefined): DumpNode {
    const node = new DumpNode('sequence', tags.seq);
    if (identity !== undefined) this.#known.set(identity, node);
    let simple = true;
    for (const item of list) {
      const child = this.node(item, depth + 1);
      simple &&= isSimple(child);
      node.items.push(child);
    }
    node.flow = this.#rules.flow ?? simple;
    return node;
  }

  #mapping(identity: Dict | object, tag: string, entries: [Value, Value][], sorted: boolean, depth: number): DumpNode {
    const node = new DumpNode('mapping', tag);
    this.#known.set(identity, node);
    let simple = true;
    for (const [key, value] of sorted ? sortEntries(entries) : entries) {
      const keyNode = this.node(key, depth + 1);
      const valueNode = this.node(value, depth + 1);
      simple &&= isSimple(keyNode) && isSimple(valueNode);
      node.items.push(keyNode, valueNode);
    }
    node.flow = this.#rules.flow ?? simple;
    return node;
  }
}

const isSimple = (node: DumpNode): boolean => node.kind === 'scalar' && !node.literal;

function scalarNode(value: unknown): DumpNode {
  switch (typeof value) {
    case 'boolean':
      return new DumpNode('scalar', tags.bool, value ? 'true' : 'false');
    case 'bigint':
      return new DumpNode('scalar', tags.int, String(value));
    case 'number':
      if (isFloat(value)) return floatNode(value);
      return new DumpNode('scalar', tags.int, Object.is(value, -0) ? '0' : BigInt(value).toString());
    default:
      // Salt writes a value that it cannot represent as NULL.
      return new DumpNode('scalar', tags.null, value === null ? 'null' : 'NULL');
  }
}

function floatNode(value: number): DumpNode {
  return new DumpNode('scalar', tags.float, floatText(value));
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  const text = pyFloatRepr(value);
  return text.includes('.') ? text : text.replace('e', '.0e');
}

/** `datetime.isoformat(' ')` of a time without zone. */
function timestampText(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const text = date.toISOString().replace('T', ' ').replace('Z', '');
  return text.endsWith('.000') ? text.slice(0, -4) : `${text}000`;
}

/** Sorts as Python does; keeps the order when the keys cannot be compared, as PyYAML does. */
function sortEntries(entries: [Value, Value][]): [Value, Value][] {
  try {
    return [...entries].sort(([a], [b]) => comparePy(a, b));
  } catch (error) {
    if (error instanceof Incomparable) return entries;
    throw error;
  }
}
