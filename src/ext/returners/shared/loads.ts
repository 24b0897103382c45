// Fields of return loads and jobs, as text, and their JSON as Salt's returners write and read it.
import { createHash } from 'node:crypto';
import { dictGet, HaliteError, isDict, type PlainDict, pyStr, textKeyed, type Value } from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { jidToMillis } from 'halite/sdk/jobs';

/** One line of JSON, characters beyond ASCII as they are. */
export const toJson = (value: Value): string => dumpJson(value, { ensureAscii: false });

/** The value of a JSON text; undefined for text that is none. */
export function fromJson(text: string | null | undefined): Value | undefined {
  if (text === null || text === undefined || text === '') return undefined;
  try {
    return loadJson(text);
  } catch {
    return undefined;
  }
}

/** A dict with text keys, whatever form it came in; undefined for what is no dict. */
export function plainDict(value: Value | undefined): PlainDict | undefined {
  return isDict(value) ? textKeyed(value) : undefined;
}

export const jsonDict = (text: string | null | undefined): PlainDict | undefined => plainDict(fromJson(text));

/** A field of a return load as text; throws when there is none. */
export function textField(load: PlainDict, name: string): string {
  const value = load[name];
  if (value === undefined || value === null) {
    throw new HaliteError('call.arguments', `A return without '${name}' cannot be kept`);
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

/** When a return came, in milliseconds: its own stamp, or now. */
export function arrivalMillis(ret: PlainDict): number {
  const stamp = ret['_stamp'];
  const at =
    typeof stamp === 'string' ? Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(stamp) ? stamp : `${stamp}Z`) : Number.NaN;
  return Number.isNaN(at) ? Date.now() : at;
}

/** A name for something that may be written twice: the same content has the same name. */
export const contentId = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32);

/** Whether a job is older than so many seconds; what has no time in its id is not. */
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

/** `text {id} text {host}` with grains in the place of names in braces; a grain that is not there is empty. */
export const sprinkle = (text: string, grains: PlainDict): string =>
  text
    .split('{')
    .flatMap((part) => part.split('}'))
    .map((part, i) => (i % 2 === 0 ? part : pyStr(dictGet(grains, part) ?? '')))
    .join('');
