// Finds the end of a msgpack value without decoding it, so that payloads are passed through as bytes.
import { HaliteError } from '../../../base/errors/index.ts';

export interface Head {
  /** Bytes of type and length field. */
  readonly size: number;
  /** Following content bytes that are not separate values. */
  readonly content: number;
  /** Following values inside (keys count too). */
  readonly inside: number;
}

/** Reads the head of the value at `at`; undefined when the buffer ends inside it. */
export function readHead(buf: Buffer, at: number): Head | undefined {
  const code = buf[at];
  if (code === undefined) return undefined;
  if (code < 0x80 || code >= 0xe0) return { size: 1, content: 0, inside: 0 };
  if (code < 0x90) return { size: 1, content: 0, inside: (code & 15) * 2 };
  if (code < 0xa0) return { size: 1, content: 0, inside: code & 15 };
  if (code < 0xc0) return { size: 1, content: code & 31, inside: 0 };
  const kind = kinds[code - 0xc0];
  if (!kind) throw new HaliteError('codec.malformed', 'Not valid msgpack: no such type 0xc1');
  const [width, extra, perItem] = kind;
  if (width === 0) return { size: 1, content: extra, inside: 0 };
  if (at + 1 + width > buf.length) return undefined;
  const count = buf.readUIntBE(at + 1, width);
  const size = 1 + width;
  return perItem > 0 ? { size, content: 0, inside: count * perItem } : { size, content: count + extra, inside: 0 };
}

/** For the types 0xc0 to 0xdf: width of the length field, additional content, values per counted item. */
const kinds: readonly (readonly [number, number, number] | undefined)[] = [
  [0, 0, 0], // nil
  undefined,
  [0, 0, 0], // false
  [0, 0, 0], // true
  [1, 0, 0], // bin
  [2, 0, 0],
  [4, 0, 0],
  [1, 1, 0], // ext: one more byte for its type
  [2, 1, 0],
  [4, 1, 0],
  [0, 4, 0], // float
  [0, 8, 0],
  [0, 1, 0], // uint
  [0, 2, 0],
  [0, 4, 0],
  [0, 8, 0],
  [0, 1, 0], // int
  [0, 2, 0],
  [0, 4, 0],
  [0, 8, 0],
  [0, 2, 0], // fixext
  [0, 3, 0],
  [0, 5, 0],
  [0, 9, 0],
  [0, 17, 0],
  [1, 0, 0], // str
  [2, 0, 0],
  [4, 0, 0],
  [2, 0, 1], // array
  [4, 0, 1],
  [2, 0, 2], // map
  [4, 0, 2],
];

/** The offset after the whole value at `at`, -1 when the buffer ends before. Uses a counter instead of recursion. */
export function skipValue(buf: Buffer, at: number): number {
  let missing = 1;
  let position = at;
  while (missing > 0) {
    const head = readHead(buf, position);
    if (!head) return -1;
    position += head.size + head.content;
    missing += head.inside - 1;
  }
  return position <= buf.length ? position : -1;
}
