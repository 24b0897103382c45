// Decodes one level of a map: for envelopes of peers that are not authenticated yet, where only needed fields are
// decoded.
import { newDict, type PlainDict, type Value } from '../value.ts';
import { malformed, tooMuch } from './budget.ts';
import { Reader } from './decode.ts';
import { head, readHead, textWidth } from './head.ts';
import { endOf, isContainer, type MeasureLimits, PackedValue } from './packed.ts';

export interface ShallowLimits extends MeasureLimits {
  readonly maxFields: number;
  /** Longer text stays bytes: a view of the message. */
  readonly longText: number;
}

const longestKey = 64;

/**
 * The fields of a map whose keys are text, each key once; maps and lists inside stay packed. Undefined for any other
 * value.
 */
export function unpackShallow(bytes: Uint8Array, limits: ShallowLimits): PlainDict | undefined {
  const buf = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const code = buf[0];
  if (!readHead(buf, 0, buf.length) || code === undefined) throw malformed('the data ends early', 0);
  if (!(code >= 0x80 && code < 0x90) && code !== 0xde && code !== 0xdf) return undefined;
  const count = head.inside / 2;
  if (count > limits.maxFields) throw tooMuch(`has more than ${limits.maxFields} fields`);
  const reader = new Reader(buf, limits);
  reader.at = head.end;
  const dict = newDict();
  for (let i = 0; i < count; i++) {
    const key = readKey(buf, reader);
    if (Object.hasOwn(dict, key)) throw malformed('a field comes twice', reader.at);
    dict[key] = readField(buf, reader, limits);
  }
  if (reader.at !== buf.length) throw malformed('bytes follow the value', reader.at);
  return dict;
}

function readKey(buf: Buffer, reader: Reader): string {
  const start = reader.at;
  if (!readHead(buf, start, buf.length)) throw malformed('the data ends early', start);
  if (!isText(buf[start] as number) || head.end - start > longestKey) throw malformed('a field without a name', start);
  const key = reader.read(0);
  if (typeof key !== 'string') throw malformed('a field without a name', start);
  return key;
}

function readField(buf: Buffer, reader: Reader, limits: ShallowLimits): Value {
  const start = reader.at;
  if (!readHead(buf, start, buf.length)) throw malformed('the data ends early', start);
  const code = buf[start] as number;
  const { end } = head;
  if (isContainer(code)) {
    reader.at = endOf(buf, start, limits);
    return new PackedValue(buf.buffer, buf.byteOffset + start, reader.at - start);
  }
  if (!isText(code) || end - start <= limits.longText) return reader.read(0);
  reader.at = end;
  return buf.subarray(start + 1 + textWidth(code), end);
}

const isText = (code: number): boolean => (code >= 0xa0 && code < 0xc0) || textWidth(code) > 0;
