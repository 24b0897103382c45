// MD4: Windows still hashes passwords with it, but crypto libraries no longer include it.

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

const rounds: readonly {
  readonly mix: (b: number, c: number, d: number) => number;
  readonly add: number;
  readonly shifts: readonly number[];
  readonly order: readonly number[];
}[] = [
  {
    mix: (b, c, d) => (b & c) | (~b & d),
    add: 0,
    shifts: [3, 7, 11, 19],
    order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  },
  {
    mix: (b, c, d) => (b & c) | (b & d) | (c & d),
    add: 0x5a827999,
    shifts: [3, 5, 9, 13],
    order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
  },
  {
    mix: (b, c, d) => b ^ c ^ d,
    add: 0x6ed9eba1,
    shifts: [3, 9, 11, 15],
    order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
  },
];

/** The 16 bytes of the digest. */
export function md4(data: Uint8Array): Buffer {
  const length = Math.ceil((data.length + 9) / 64) * 64;
  const padded = Buffer.alloc(length);
  padded.set(data);
  padded[data.length] = 0x80;
  padded.writeBigUInt64LE(BigInt(data.length) * 8n, length - 8);
  const state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
  for (let at = 0; at < length; at += 64) {
    let [a = 0, b = 0, c = 0, d = 0] = state;
    for (const { mix, add, shifts, order } of rounds) {
      for (const [step, word] of order.entries()) {
        const next = rotate((a + mix(b, c, d) + padded.readInt32LE(at + word * 4) + add) | 0, shifts[step % 4] ?? 0);
        [a, b, c, d] = [d, next, b, c];
      }
    }
    for (const [index, value] of [a, b, c, d].entries()) state[index] = ((state[index] ?? 0) + value) | 0;
  }
  const out = Buffer.alloc(16);
  for (const [index, value] of state.entries()) out.writeInt32LE(value, index * 4);
  return out;
}
