// Encodes frames of ZMTP. Generation 1 has the length before the flags, the later ones after them.
import type { Generation } from './greeting.ts';

export const flags = { more: 1, long: 2, command: 4 } as const;
/** Frames above this are not copied into one buffer with their head. */
const joinedBytes = 64 * 1024;

/** The number of bytes before the content of a frame of this length. */
function headLength(generation: Generation, length: number): number {
  if (generation === 1) return length < 254 ? 2 : 10;
  return length < 256 ? 2 : 9;
}

/** Writes the bytes before the content of a frame; returns the offset after them. */
function writeHead(into: Buffer, start: number, generation: Generation, length: number, more: boolean): number {
  const flag = more ? flags.more : 0;
  let at = start;
  if (generation === 1) {
    if (length < 254) into[at++] = length + 1;
    else {
      into[at] = 0xff;
      at = into.writeBigUInt64BE(BigInt(length + 1), at + 1);
    }
    into[at++] = flag;
    return at;
  }
  if (length < 256) {
    into[at++] = flag;
    into[at++] = length;
    return at;
  }
  into[at] = flag | flags.long;
  return into.writeBigUInt64BE(BigInt(length), at + 1);
}

/** A message of several frames, as one buffer, or as two when it is large. */
export function encodeMessage(generation: Generation, frames: readonly Uint8Array[]): Uint8Array[] {
  const last = frames.length - 1;
  const content = frames[last] as Uint8Array;
  const isJoined = content.length <= joinedBytes;
  let size = 0;
  for (const { length } of frames) size += headLength(generation, length) + length;
  const bytes = Buffer.allocUnsafe(isJoined ? size : size - content.length);
  let at = 0;
  for (let i = 0; i <= last; i++) {
    const frame = frames[i] as Uint8Array;
    at = writeHead(bytes, at, generation, frame.length, i < last);
    if (i === last && !isJoined) return [bytes, content];
    bytes.set(frame, at);
    at += frame.length;
  }
  return [bytes];
}
