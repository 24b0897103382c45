// Property lists of Apple, as XML.
import { dictEntries, dictOf, isDict, isFloat, pyStr, pythonError, type Value } from 'halite/sdk';
import { parseXml } from './xml.ts';

const head =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n';

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function lineOf(value: Value): string | undefined {
  if (typeof value === 'string') return `<string>${escaped(value)}</string>`;
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>';
  if (isFloat(value)) return `<real>${pyStr(value)}</real>`;
  if (typeof value === 'number' || typeof value === 'bigint') return `<integer>${value}</integer>`;
  if (value instanceof Date) return `<date>${value.toISOString().slice(0, 19)}Z</date>`;
  return undefined;
}

function linesOf(value: Value, indent: string): string[] {
  const line = lineOf(value);
  if (line !== undefined) return [`${indent}${line}`];
  if (value instanceof Uint8Array) {
    const rows =
      Buffer.from(value)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    return [`${indent}<data>`, ...rows.map((row) => `${indent}${row}`), `${indent}</data>`];
  }
  if (Array.isArray(value))
    return wrapped(
      'array',
      value.flatMap((item) => linesOf(item, `${indent}\t`)),
      indent,
    );
  if (!isDict(value)) throw pythonError('SerializationError', `unsupported type: ${String(value)}`);
  const sorted = dictEntries(value).sort(([a], [b]) => (pyStr(a) < pyStr(b) ? -1 : 1));
  const inner = sorted.flatMap(([key, item]) => [
    `${indent}\t<key>${escaped(pyStr(key))}</key>`,
    ...linesOf(item, `${indent}\t`),
  ]);
  return wrapped('dict', inner, indent);
}

const wrapped = (name: string, inner: readonly string[], indent: string): string[] =>
  inner.length === 0 ? [`${indent}<${name}/>`] : [`${indent}<${name}>`, ...inner, `${indent}</${name}>`];

export const dumpPlist = (value: Value): string => `${head}${linesOf(value, '').join('\n')}\n</plist>\n`;

type Element = ReturnType<typeof parseXml>;

function valueIn(element: Element): Value {
  const text = element.text ?? '';
  switch (element.name) {
    case 'dict':
      return dictIn(element.children);
    case 'array':
      return element.children.map(valueIn);
    case 'true':
    case 'false':
      return element.name === 'true';
    case 'integer':
      return Number(text);
    case 'real':
      return Number(text);
    case 'date':
      return new Date(text);
    case 'data':
      return new Uint8Array(Buffer.from(text, 'base64'));
    case 'string':
      return text;
    default:
      throw pythonError('DeserializationError', `unexpected element ${element.name}`);
  }
}

function dictIn(children: readonly Element[]): Value {
  const entries: [Value, Value][] = [];
  for (let i = 0; i < children.length; i += 2) {
    const [key, value] = [children[i], children[i + 1]];
    if (key?.name !== 'key' || value === undefined) throw pythonError('DeserializationError', 'missing key or value');
    entries.push([key.text ?? '', valueIn(value)]);
  }
  return dictOf(entries);
}

export function loadPlist(text: string): Value {
  let root: Element;
  try {
    root = parseXml(text.trim());
  } catch (error) {
    throw pythonError('DeserializationError', error instanceof Error ? error.message : String(error));
  }
  const only = root.children[0];
  if (root.name !== 'plist' || only === undefined) throw pythonError('DeserializationError', 'Invalid file');
  return valueIn(only);
}
