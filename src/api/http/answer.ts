// The text of an answer.
import { dumpJson, JsonText } from '../../base/codec/json/index.ts';
import { type Dict, dictEntries, dictOf, isDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { dumpYaml } from '../../base/codec/yaml/index.ts';
import type { Form } from './negotiate.ts';

export function textOf(value: Value, form: Form): string {
  const sound = portable(value);
  return form === 'yaml' ? dumpYaml(sound, { flow: false }) : dumpJson(sound, { ensureAscii: false });
}

/** JSON has no bytes, and parsers refuse NaN. */
export function portable(value: Value): Value {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof PyFloat) return Number.isFinite(value.value) ? value : null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(portable);
  return isDict(value) ? portableDict(value) : value;
}

const portableDict = (dict: Dict): Dict =>
  dictOf(dictEntries(dict).map(([key, item]) => [portable(key), portable(item)]));

/** The items of an answer; what the master sent as JSON text is passed on, unless it has numbers that JSON lacks. */
export function returnedJson(items: readonly (Value | JsonText)[]): readonly Uint8Array[] {
  const parts: Uint8Array[] = [Buffer.from('{"return": [')];
  for (const [at, item] of items.entries()) {
    if (at > 0) parts.push(Buffer.from(', '));
    if (item instanceof JsonText)
      parts.push(...(isPortable(item) ? item.pieces : [Buffer.from(textOf(item.value(), 'json'))]));
    else parts.push(Buffer.from(textOf(item, 'json')));
  }
  parts.push(Buffer.from(']}'));
  return parts;
}

/** The words may also stand in a text: such an answer is only slower. */
const isPortable = ({ bytes, facts }: JsonText): boolean =>
  facts.outputter === undefined &&
  ['NaN', 'Infinity'].every((word) => !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(word));
