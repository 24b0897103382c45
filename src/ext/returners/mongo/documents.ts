// Results, jobs and events as documents of MongoDB, with the names Salt gives their fields.
import { dictEntries, isDict, newDict, type PlainDict, PyFloat, pyStr, type Value } from 'halite/sdk';
import { jidToMillis } from 'halite/sdk/jobs';
import { arrivalMillis, contentId, keysOf, toJson } from '../shared/loads.ts';

export type Document = Record<string, unknown>;

/** As Salt does for results: dots of names become dashes; lists are unchanged. */
const withoutDots = (key: string): string => key.replaceAll('.', '-');
/** As Salt does for jobs: characters that MongoDB does not allow in names are percent-encoded. */
const escapes: Readonly<Record<string, string>> = { '%': '%25', '\\': '%5c', $: '%24', '.': '%2e' };
const escaped = (key: string): string => key.replace(/[%\\$.]/g, (char) => escapes[char] ?? char);
const unescaped = (key: string): string =>
  key.replace(/%(25|5c|24|2e)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** How a value is stored. */
interface Storing {
  readonly rename: (key: string) => string;
  /** Names inside lists are renamed, too. */
  readonly inLists: boolean;
  readonly kinds: Kinds;
}

/** The types for which the driver has classes. */
export interface Kinds {
  /** A floating point number, also without a fraction. */
  float(value: number): unknown;
  /** The name of a document: 24 hexadecimal digits, the first eight of them the time in seconds. */
  id(hex: string): unknown;
}

/**
 * Named after its content, so writing it twice gives one document. It is found by its name, because other indexes are created only
 * on demand, and begins with its time, like MongoDB's own ids.
 */
function nameOf(kinds: Kinds, millis: number | undefined, ...parts: readonly string[]): unknown {
  const seconds = Math.floor((millis ?? 0) / 1000)
    .toString(16)
    .padStart(8, '0')
    .slice(-8);
  return kinds.id(seconds + contentId(...parts).slice(0, 16));
}

const asItIs = (key: string): string => key;

/** A value as the driver stores it: integers and floats are different types, as in Python. */
function stored(value: Value, how: Storing): unknown {
  if (value instanceof PyFloat) return how.kinds.float(value.value);
  if (typeof value === 'number') return wholeOrFloat(value, how.kinds);
  if (Array.isArray(value)) {
    const inside = how.inLists ? how : { ...how, rename: asItIs };
    return value.map((item) => stored(item, inside));
  }
  if (!isDict(value)) return value;
  const found: Document = Object.create(null) as Document;
  for (const [key, item] of dictEntries(value)) found[how.rename(pyStr(key))] = stored(item, how);
  return found;
}

/** The driver would store all but small integers as floats. */
function wholeOrFloat(value: number, kinds: Kinds): unknown {
  if (!Number.isSafeInteger(value)) return kinds.float(value);
  return Math.abs(value) < 2 ** 31 ? value : BigInt(value);
}

/** One result, in the form of the collection `saltReturns`. */
export function returnDocument(ret: PlainDict, kinds: Kinds): Document {
  const { id, jid, fun } = keysOf(ret);
  const how = { rename: withoutDots, inLists: false, kinds };
  return {
    _id: nameOf(kinds, jidToMillis(jid), jid, id),
    minion: id,
    jid,
    return: stored(ret['return'] ?? null, how),
    fun,
    full_ret: stored(ret, how),
    ...(ret['out'] === undefined ? {} : { out: ret['out'] }),
  };
}

export function jobDocument(jid: string, load: PlainDict, kinds: Kinds): Document {
  const kept = stored(load, { rename: escaped, inLists: true, kinds }) as Document;
  return { _id: nameOf(kinds, jidToMillis(jid), jid), ...kept };
}

export function eventDocument(tag: string, data: PlainDict, kinds: Kinds): Document {
  const time = typeof data['_stamp'] === 'string' ? arrivalMillis(data) : undefined;
  const _id = nameOf(kinds, time, tag, toJson(data));
  return { _id, tag, data: stored(data, { rename: asItIs, inLists: true, kinds }) };
}

/** Values that the driver returns when numbers stay in its own classes. */
interface Typed {
  readonly _bsontype: string;
  readonly value?: unknown;
  readonly buffer?: unknown;
}

function readTyped(typed: Typed): Value {
  if (typed._bsontype === 'Long') return wholeOf(BigInt(String(typed)));
  if (typed._bsontype === 'Double') return floatOf(Number(typed.value));
  if (typed._bsontype === 'Binary' && typed.buffer instanceof Uint8Array) return new Uint8Array(typed.buffer);
  return typed._bsontype === 'Int32' ? Number(typed.value) : String(typed);
}

const wholeOf = (value: bigint): Value => (Number.isSafeInteger(Number(value)) ? Number(value) : value);
const floatOf = (value: number): Value => (Number.isInteger(value) ? new PyFloat(value) : value);

/** Converts a value of the driver to a `Value`. */
function read(value: unknown, rename: (key: string) => string): Value {
  if (Array.isArray(value)) return value.map((item) => read(item, rename));
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object' || value instanceof Date || value instanceof Uint8Array) return value as Value;
  if ('_bsontype' in value) return readTyped(value as Typed);
  return newDict(Object.entries(value).map(([key, item]) => [rename(key), read(item, rename)] as const));
}

export const loadOf = (fullRet: unknown): PlainDict => read(fullRet, asItIs) as PlainDict;
export const jobOf = ({ _id, ...document }: Document): PlainDict => read(document, unescaped) as PlainDict;
