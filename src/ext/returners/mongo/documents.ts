// Results, jobs and events as documents of MongoDB, with the names Salt gives their fields.
import { pyStr } from '../../../base/codec/python/index.ts';
import { dictEntries, isDict, newDict, type PlainDict, PyFloat, type Value } from '../../../base/codec/value.ts';
import { contentId, keysOf, toJson } from '../support/loads.ts';

export type Document = Record<string, unknown>;

/** Salt's way for results: dots of names become dashes; lists are left as they are. */
const withoutDots = (key: string): string => key.replaceAll('.', '-');
/** Salt's way for jobs: what MongoDB does not take in names is written as in web addresses. */
const escapes: Readonly<Record<string, string>> = { '%': '%25', '\\': '%5c', $: '%24', '.': '%2e' };
const escaped = (key: string): string => key.replace(/[%\\$.]/g, (char) => escapes[char] ?? char);
const unescaped = (key: string): string =>
  key.replace(/%(25|5c|24|2e)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** A value as the driver stores it. Names inside lists are renamed only when asked. */
function stored(value: Value, rename: (key: string) => string, inLists: boolean): unknown {
  if (value instanceof PyFloat) return value.value;
  if (Array.isArray(value)) return value.map((item) => stored(item, inLists ? rename : (key) => key, inLists));
  if (!isDict(value)) return value;
  const found: Document = Object.create(null) as Document;
  for (const [key, item] of dictEntries(value)) found[rename(pyStr(key))] = stored(item, rename, inLists);
  return found;
}

/** One result, as the collection `saltReturns` holds it. */
export function returnDocument(ret: PlainDict): Document {
  const { id, jid, fun } = keysOf(ret);
  return {
    minion: id,
    jid,
    return: stored(ret['return'] ?? null, withoutDots, false),
    fun,
    full_ret: stored(ret, withoutDots, false),
    ...(ret['out'] === undefined ? {} : { out: ret['out'] }),
  };
}

export const jobDocument = (load: PlainDict): Document => stored(load, escaped, true) as Document;

/** Named after its content: written twice, it is one document. */
export function eventDocument(tag: string, data: PlainDict): Document {
  return { _id: contentId(tag, toJson(data)), tag, data: stored(data, (key) => key, true) };
}

/** A value the driver read, in ours. */
function read(value: unknown, rename: (key: string) => string): Value {
  if (Array.isArray(value)) return value.map((item) => read(item, rename));
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object' || value instanceof Date || value instanceof Uint8Array) return value as Value;
  if ('_bsontype' in value) return 'value' in value ? read(value.value, rename) : String(value);
  return newDict(Object.entries(value).map(([key, item]) => [rename(key), read(item, rename)] as const));
}

export const loadOf = (fullRet: unknown): PlainDict => read(fullRet, (key) => key) as PlainDict;
export const jobOf = ({ _id, ...document }: Document): PlainDict => read(document, unescaped) as PlainDict;
