// Encodes frames of ZMTP. Generation 1 has the length before the flags, the later ones after them.
import type { Generation } from './greeting.ts';

export const flags = { more: 1, long: 2, command: 4 } as const;
/** Frames above this are not copied into one buffer with their head. */
const joinedBytes = 64 * 1024;

/** The bytes before the content of a frame of this length. */
function frameHead(generation: Generation, length: number, more: boolean): Buffer {
  const flag = more ? flags.more : 0;
  if (generation === 1) {
    if (length < 254) return Buffer.from([length + 1, flag]);
    const head = Buffer.alloc(10);
    head[0] = 0xff;
    head.writeBigUInt64BE(BigInt(length + 1), 1);
    head[9] = flag;
    return head;
  }
  if (length < 256) return Buffer.from([flag, length]);
  const head = Buffer.alloc(9);
  head[0] = flag | flags.long;
  head.writeBigUInt64BE(BigInt(length), 1);
  return head;
}

/** A message of several frames, as one buffer, or as two when it is large. */
export function encodeMessage(generation: Generation, frames: readonly Uint8Array[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  const last = frames.length - 1;
  for (let i = 0; i <= last; i++) {
    const frame = frames[i] as Uint8Array;
    parts.push(frameHead(generation, frame.length, i < last), frame);
  }
  const content = parts.pop() as Uint8Array;
  const head = Buffer.concat(parts);
  return content.length > joinedBytes ? [head, content] : [Buffer.concat([head, content])];
}
