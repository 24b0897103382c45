// The `xml` filter: nested data as elements, laid out one per line.
import { indexError, PyError, runtimeError, typeError } from '../errors.ts';
import { PyDict } from '../runtime/dict.ts';
import { unpack } from '../runtime/iterate.ts';
import { isText, textOf } from '../runtime/markup.ts';
import { asDouble } from '../runtime/number.ts';
import { repr, str } from '../runtime/print.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { type PyValue, typeName } from '../runtime/value.ts';

interface Element {
  readonly tag: string;
  readonly attributes: [string, string][];
  text: string | undefined;
  readonly children: Element[];
}

function nameOf(value: PyValue): string {
  const text = value === null ? 'None' : textOf(value);
  if (text === undefined) throw typeError(`cannot serialize ${repr(value)} (type ${typeName(value)})`);
  return text;
}

function pairs(value: PyValue): PyValue[] {
  if (Array.isArray(value) || value instanceof PyTuple) {
    const items = Array.isArray(value) ? value : [...value.items];
    const [first] = items;
    if (first === undefined) throw indexError(`${typeName(value)} index out of range`);
    return isText(first) ? items : [];
  }
  if (value instanceof PyDict) return [...value.entries()].map((entry) => new PyTuple(entry));
  throw runtimeError('Value is not a dict or list. Cannot render as XML');
}

const isNested = (value: PyValue): boolean => value instanceof PyDict || Array.isArray(value);

/** Second member of a pair; of a text its second character, which one-letter texts do not have. */
function second(pair: PyValue): PyValue {
  const text = textOf(pair);
  if (text === undefined) return unpack(pair, 2)[1]!;
  if (text.length < 2) throw indexError('string index out of range');
  return text[1]!;
}

function build(source: readonly PyValue[], parent: Element | undefined): Element | undefined {
  let element: Element | undefined;
  for (const pair of source) {
    const [tag, value] = unpack(pair, 2) as [PyValue, PyValue];
    if (Array.isArray(value)) {
      for (const item of value) build([new PyTuple([tag, item])], parent);
    } else {
      element = { tag: nameOf(tag), attributes: [], text: undefined, children: [] };
      parent?.children.push(element);
    }
    if (isText(value) || asDouble(value) !== undefined) {
      if (element !== undefined) element.text = str(value);
      continue;
    }
    if (value instanceof PyDict && element !== undefined) {
      for (const [key, item] of value.entries()) {
        if (!isNested(item)) element.attributes.push([nameOf(key), str(item)]);
      }
    }
    for (const inner of pairs(value)) {
      if (!isNested(second(inner))) continue;
      build([inner], element);
    }
  }
  return element;
}

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll('>', '&gt;');

function write(element: Element, indent: string): string {
  const attributes = element.attributes.map(([name, value]) => ` ${name}="${escapeText(value)}"`).join('');
  const { children, text } = element;
  const start = `${indent}<${element.tag}${attributes}`;
  const hasText = text !== undefined && text !== '';
  if (children.length === 0) return hasText ? `${start}>${escapeText(text)}</${element.tag}>\n` : `${start}/>\n`;
  const own = hasText ? `${indent} ${escapeText(text)}\n` : '';
  const inner = children.map((child) => write(child, `${indent} `)).join('');
  return `${start}>\n${own}${inner}${indent}</${element.tag}>\n`;
}

const xmlName = /^[A-Za-z_:][\w.:-]*$/;

/** The reference parses its own output again, which fails at the first name that is none; `column` counts from it. */
function checkNames(element: Element, column: number): number {
  const refuse = (name: string, at: number): PyError => {
    const good = /^(?:[A-Za-z_:][\w.:-]*)?/.exec(name)![0].length;
    return new PyError('ExpatError', `not well-formed (invalid token): line 1, column ${at + good}`);
  };
  let at = column + 1;
  if (!xmlName.test(element.tag)) throw refuse(element.tag, at);
  at += element.tag.length;
  for (const [name, value] of element.attributes) {
    if (!xmlName.test(name)) throw refuse(name, at + 1);
    at += name.length + escapeText(value).length + 4;
  }
  at += (element.text ?? '').length + 1;
  for (const child of element.children) at = checkNames(child, at);
  return at + element.tag.length + 3;
}

/** Pretty-printed XML of a dict with one root. */
export function formatXml(value: PyValue): string {
  const root = build(pairs(value), undefined);
  if (root === undefined) throw new PyError('AttributeError', "'NoneType' object has no attribute 'iter'");
  checkNames(root, 0);
  return `<?xml version="1.0" ?>\n${write(root, '')}`;
}
