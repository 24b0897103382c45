// Fields of return loads and jobs, as text, and their JSON as Salt's returners write and read it.
import { createHash } from 'node:crypto';
import { dictGet, HaliteError, isDict, type PlainDict, pyStr, textKeyed, type Value } from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { jidToMillis } from 'halite/sdk/jobs';

/** One line of JSON, with characters beyond ASCII unchanged. */
export const toJson = (value: Value): string => dumpJson(value, { ensureAscii: false });

/** The value of a JSON text; undefined for invalid JSON. */
export function fromJson(text: string | null | undefined): Value | undefined {
  if (text === null || text === undefined || text === '') return undefined;
  try {
    return loadJson(text);
  } catch {
    return undefined;
  }
}

/** A dict with text keys; undefined for other values. */
export function plainDict(value: Value | undefined): PlainDict | undefined {
  return isDict(value) ? textKeyed(value) : undefined;
}

export const jsonDict = (text: string | null | undefined): PlainDict | undefined => plainDict(fromJson(text));

/** A field of a return load as text; throws when there is none. */
export function textField(load: PlainDict, name: string): string {
  const value = load[name];
  if (value === undefined || value === null) {
    throw new HaliteError('call.arguments', `A return without '${name}' cannot be stored`);
  }
  return pyStr(value);
}

export interface ReturnKeys {
  readonly id: string;
  readonly jid: string;
  readonly fun: string;
}
export const keysOf = (ret: PlainDict): ReturnKeys => ({
  id: textField(ret, 'id'),
  jid: textField(ret, 'jid'),
  fun: textField(ret, 'fun'),
});

/** The time of a return in milliseconds: its own time stamp, or now. */
export function arrivalMillis(ret: PlainDict): number {
  const stamp = ret['_stamp'];
  const at =
    typeof stamp === 'string' ? Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(stamp) ? stamp : `${stamp}Z`) : Number.NaN;
  return Number.isNaN(at) ? Date.now() : at;
}

/** A name derived from the content, for records that may be written twice. */
export const contentId = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32);

/** Whether a job is older than this many seconds; false for ids without a time. */
export function isOlder(jid: string, seconds: number): boolean {
  const at = jidToMillis(jid);
  return at !== undefined && at < Date.now() - seconds * 1000;
}

/** A text of a configuration, or its list, as a list of texts. */
export function textList(value: Value): string[] {
  if (value === null) return [];
  const items = Array.isArray(value) ? value : pyStr(value).split(',');
  return items.map((item) => pyStr(item).trim()).filter((item) => item !== '');
}

/** Replaces names in braces by grains: `text {id} text {host}`; a missing grain is empty. */
export const sprinkle = (text: string, grains: PlainDict): string =>
  text
    .split('{')
    .flatMap((part) => part.split('}'))
    .map((part, i) => (i % 2 === 0 ? part : pyStr(dictGet(grains, part) ?? '')))
    .join('');
