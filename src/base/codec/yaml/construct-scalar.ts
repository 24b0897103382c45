// Scalars to values, as PyYAML's safe constructor with Salt's changes.
import { PyFloat, type Value } from '../value.ts';
import { decodeBase64 } from './base64.ts';
import type { YamlErrorKind } from './error.ts';
import { type CollectionNode, kindName, mappingKind, scalarKind, type YamlNode } from './nodes.ts';
import { PyValueError, pyFloat, pyInt, pyRepr } from './py-text.ts';
import { tags } from './resolver.ts';
import type { YamlSource } from './source.ts';

/** A problem found while a scalar is read; the caller adds the place. */
class ScalarProblem extends Error {
  readonly kind: YamlErrorKind;
  constructor(kind: YamlErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface ScalarRules {
  readonly source: YamlSource;
  /** Whole floats stay floats. */
  readonly keepFloats: boolean;
}

/** The value of a node whose tag names a scalar type. */
export function constructScalar(node: YamlNode, rules: ScalarRules): Value {
  try {
    return construct(node, rules);
  } catch (error) {
    if (error instanceof ScalarProblem) return rules.source.fail(error.kind, error.message, node.start);
    if (error instanceof PyValueError) return rules.source.fail('ValueError', error.message, node.start);
    throw error;
  }
}

function construct(node: YamlNode, rules: ScalarRules): Value {
  switch (node.tag) {
    // Salt keeps dates and times as they are written.
    case tags.str:
    case tags.timestamp:
      return scalarText(node, rules);
    case tags.pythonUnicode:
      if (node.kind !== scalarKind) return failKind(node, rules);
      return node.text;
    case tags.int:
      return constructInt(scalarText(node, rules));
    case tags.bool:
      return constructBool(scalarText(node, rules));
    case tags.null:
      scalarText(node, rules);
      return null;
    case tags.float:
      return floatValue(constructFloat(scalarText(node, rules)), rules);
    case tags.binary:
      return constructBinary(scalarText(node, rules), node, rules);
    default:
      return rules.source.fail(
        'ConstructorError',
        `could not determine a constructor for the tag ${pyRepr(node.tag)}`,
        node.start,
      );
  }
}

function failKind(node: YamlNode, rules: ScalarRules): never {
  return rules.source.fail('ConstructorError', `expected a scalar node, but found ${kindName(node)}`, node.start);
}

/** The text of a scalar, or of the `=` entry of a mapping. */
function scalarText(node: YamlNode, rules: ScalarRules): string {
  let current = node;
  for (let hops = 0; hops < 1000; hops++) {
    if (current.tag === tags.int) dropLeadingZeros(current);
    if (current.kind === scalarKind) return current.text;
    const value = current.kind === mappingKind ? valueEntry(current) : undefined;
    if (value === undefined) return failKind(current, rules);
    current = value;
  }
  return failKind(node, rules);
}

function valueEntry(node: CollectionNode): YamlNode | undefined {
  for (let i = 0; i < node.items.length; i += 2) if (node.items[i]?.tag === tags.value) return node.items[i + 1];
  return undefined;
}

/** Salt: `0644` is 644, not octal. A sign keeps it octal, as Salt only looks at the first character. */
function dropLeadingZeros(node: YamlNode): void {
  if (node.kind !== scalarKind) {
    throw new ScalarProblem('AttributeError', "'list' object has no attribute 'startswith'");
  }
  if (node.text.length < 2 || !node.text.startsWith('0')) return;
  const second = node.text.charAt(1);
  if (second === 'b' || second === 'x') return;
  node.text = node.text.replace(/^0+/, '') || '0';
}

function splitSign(text: string): [sign: 1 | -1, rest: string] {
  const value = text.includes('_') ? text.replaceAll('_', '') : text;
  if (value === '') throw new ScalarProblem('IndexError', 'string index out of range');
  const first = value.charAt(0);
  return [first === '-' ? -1 : 1, first === '-' || first === '+' ? value.slice(1) : value];
}

const smallInt = /^[1-9][0-9]{0,14}$/;

function constructInt(text: string): number | bigint {
  if (smallInt.test(text)) return Number(text);
  const [sign, value] = splitSign(text);
  if (value === '0') return 0;
  let result: bigint;
  if (value.startsWith('0b')) result = pyInt(value.slice(2), 2);
  else if (value.startsWith('0x')) result = pyInt(value.slice(2), 16);
  else if (value === '') throw new ScalarProblem('IndexError', 'string index out of range');
  else if (value.startsWith('0')) result = pyInt(value, 8);
  else if (value.includes(':')) result = sexagesimal(value);
  else result = pyInt(value, 10);
  return intValue(sign === -1 ? -result : result);
}

/** Base 60: `1:30` is 90. */
function sexagesimal(value: string): bigint {
  const parts = value.split(':');
  if (parts.length > 1000) throw new PyValueError('Exceeds the limit for integer string conversion');
  return parts.reduce((total, part) => total * 60n + pyInt(part, 10), 0n);
}

function intValue(value: bigint): number | bigint {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

function constructFloat(text: string): number {
  const [sign, rest] = splitSign(text);
  const value = rest.toLowerCase();
  if (value === '.inf') return sign * Infinity;
  if (value === '.nan') return Number.NaN;
  if (!value.includes(':')) return sign * pyFloat(value);
  // Summed from the right with growing weights, to round as Python does.
  let total = 0;
  let base = 1;
  for (const part of value.split(':').map(pyFloat).reverse()) {
    total += part * base;
    base *= 60;
  }
  return sign * total;
}

function floatValue(value: number, rules: ScalarRules): number | PyFloat {
  return rules.keepFloats && Number.isInteger(value) ? new PyFloat(value) : value;
}

const bools = new Map([
  ['yes', true],
  ['no', false],
  ['true', true],
  ['false', false],
  ['on', true],
  ['off', false],
]);

function constructBinary(text: string, node: YamlNode, rules: ScalarRules): Uint8Array {
  // As in Salt 3008, missing padding is added. (Earlier releases refuse it.)
  const decoded = decodeBase64(text + '='.repeat((4 - (text.length % 4)) % 4));
  if (typeof decoded === 'string') return rules.source.fail('ConstructorError', decoded, node.start);
  return decoded;
}

function constructBool(text: string): boolean {
  const value = bools.get(text.toLowerCase());
  if (value === undefined) throw new ScalarProblem('KeyError', pyRepr(text.toLowerCase()));
  return value;
}
