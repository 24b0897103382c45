// The node graph between composer and constructor, and how Python prints it in error messages.
import type { Value } from '../value.ts';
import { pyRepr } from './py-text.ts';

export const scalarKind = 0;
export const sequenceKind = 1;
export const mappingKind = 2;

/** A document has many of these: fields that are the same for all are on the class. */
export class ScalarNode {
  /** Changed for the key `=`, which is then an ordinary text. */
  tag: string;
  /** Salt rewrites the text of integers with leading zeros before merge keys are compared. */
  text: string;
  readonly start: number;

  constructor(tag: string, text: string, start: number) {
    this.tag = tag;
    this.text = text;
    this.start = start;
  }

  get kind(): typeof scalarKind {
    return scalarKind;
  }
  get size(): number {
    return 1;
  }
}

export class CollectionNode {
  readonly kind: typeof sequenceKind | typeof mappingKind;
  tag: string;
  readonly start: number;
  /** Items of a sequence; keys and values of a mapping in turn. */
  items: YamlNode[] = [];
  /** Nodes below and including this one, aliases counted in full. */
  size = 1;
  /** Construction state: pending or finished. */
  queued = false;
  /** The finished collection; null while there is none. */
  result: Value = null;

  constructor(kind: CollectionNode['kind'], tag: string, start: number) {
    this.kind = kind;
    this.tag = tag;
    this.start = start;
  }
}

export type YamlNode = ScalarNode | CollectionNode;

const kindNames = ['scalar', 'sequence', 'mapping'] as const;
const classNames = ['ScalarNode', 'SequenceNode', 'MappingNode'] as const;

export const kindName = (node: YamlNode): string => kindNames[node.kind];

/** The text that Python prints for `node.value`, truncated where aliases would make it endless. */
export function reprNodeValue(node: YamlNode): string {
  if (node.kind === scalarKind) return node.text;
  const parts: string[] = [];
  appendValue(node, parts, { left: 2000, above: new Set() }, 0);
  return parts.join('');
}

/** How much may still be written, and which nodes are being written: Python prints a list within itself as dots. */
interface Budget {
  left: number;
  readonly above: Set<YamlNode>;
}

function appendNode(node: YamlNode, parts: string[], budget: Budget, depth: number): void {
  if (budget.left-- <= 0 || depth > 50) {
    parts.push('...');
    return;
  }
  parts.push(`${classNames[node.kind]}(tag=${pyRepr(node.tag)}, value=`);
  if (node.kind === scalarKind) parts.push(pyRepr(node.text));
  else appendValue(node, parts, budget, depth + 1);
  parts.push(')');
}

function appendValue(node: CollectionNode, parts: string[], budget: Budget, depth: number): void {
  if (budget.above.has(node)) {
    parts.push('[...]');
    return;
  }
  budget.above.add(node);
  parts.push('[');
  for (let i = 0; i < node.items.length; i++) {
    if (budget.left <= 0) {
      parts.push(', ...');
      break;
    }
    const isPair = node.kind === mappingKind;
    if (i > 0) parts.push(', ');
    if (isPair && i % 2 === 0) parts.push('(');
    appendNode(node.items[i] as YamlNode, parts, budget, depth);
    if (isPair && i % 2 === 1) parts.push(')');
  }
  parts.push(']');
  budget.above.delete(node);
}
