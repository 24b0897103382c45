// The frames of Salt's TCP transport: `{head, body}`, split and built without decoding the body.
import { unpack } from '../../../base/codec/msgpack/index.ts';
import { asText, isDict } from '../../../base/codec/value.ts';
import { readHead, skipValue } from './skip.ts';

export interface Frame {
  readonly head: Buffer;
  readonly body: Buffer;
}

// Heads contain a message id; larger ones are refused.
const maxHeadBytes = 4096;
const start = Buffer.from([0x82, 0xa4, ...Buffer.from('head')]);
const middle = Buffer.from([0xa4, ...Buffer.from('body')]);
/** `{}`, the head of publishes. */
const emptyHead = Buffer.from([0x80]);

/** The bytes of head and body, which may be in any order among other keys; undefined when one is missing. */
export function splitFrame(frame: Buffer): Frame | undefined {
  const map = readHead(frame, 0);
  if (!map) return undefined;
  let at = map.size;
  let head: Buffer | undefined;
  let body: Buffer | undefined;
  for (let i = 0; i < map.inside / 2; i++) {
    const afterKey = skipValue(frame, at);
    const afterValue = afterKey < 0 ? -1 : skipValue(frame, afterKey);
    if (afterValue < 0) return undefined;
    const key = textOf(frame, at, afterKey);
    if (key === 'head') head = frame.subarray(afterKey, afterValue);
    else if (key === 'body') body = frame.subarray(afterKey, afterValue);
    at = afterValue;
  }
  if (!head || !body || head.length > maxHeadBytes) return undefined;
  return { head, body };
}

function textOf(frame: Buffer, at: number, end: number): string | undefined {
  const key = readHead(frame, at);
  return key && key.content === 4 ? frame.toString('latin1', at + key.size, end) : undefined;
}

/** Builds one frame from encoded parts. */
export function joinFrame(head: Uint8Array, body: Uint8Array): Buffer {
  return Buffer.concat([start, head, middle, body]);
}

/** The bytes before the body in a frame: large bodies are sent after it without a copy. */
export function frameStart(head: Uint8Array): Buffer {
  return Buffer.concat([start, head, middle]);
}

/** A publish frame: the envelope as a byte string, the only form that minions of 3007 and later accept. */
export function publishFrame(payload: Uint8Array): Buffer {
  return Buffer.concat([start, emptyHead, middle, rawHeader(payload.length), payload]);
}

function rawHeader(length: number): Buffer {
  if (length < 32) return Buffer.from([0xa0 | length]);
  const header = Buffer.alloc(length < 0x10000 ? 3 : 5);
  header[0] = length < 0x10000 ? 0xda : 0xdb;
  header.writeUIntBE(length, 1, header.length - 1);
  return header;
}

/** The envelope of a publish, in both forms that masters send: a byte string that contains it, or the map itself. */
export function publishBody(body: Buffer): Buffer {
  const code = body[0] as number;
  const isString = (code >= 0xa0 && code < 0xc0) || (code >= 0xc4 && code <= 0xc6) || (code >= 0xd9 && code <= 0xdb);
  return isString ? body.subarray(readHead(body, 0)?.size ?? 0) : body;
}

/** A text field of a head; undefined when it is absent or the head is not a map. Never throws. */
export function headText(head: Uint8Array, key: string): string | undefined {
  try {
    const map = unpack(head, { maxDepth: 4, maxBytes: maxHeadBytes });
    if (!isDict(map) || map instanceof Map) return undefined;
    const value = map[key];
    return asText(value);
  } catch {
    return undefined;
  }
}
