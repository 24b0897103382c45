// Msgpack: read, written and read again.
import { pack, unpack } from '../../../src/base/codec/msgpack/index.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';
import { sameValue } from '../engine/values.ts';

const limits = { maxItems: 10_000, maxBytes: 100_000, maxDepth: 64 };

const target: FuzzTarget = {
  seeds: [
    pack({ enc: 'aes', load: Buffer.from('x'), n: [1, -1, 1.5, null, true], m: new Map([[1, 2]]) }),
    pack([new Date(0), 10n ** 18n, 'ä', Buffer.alloc(40)]),
    Uint8Array.from([0xc7, 4, 79, 0x81, 0xa1, 0x61, 1]),
  ],
  run: (bytes) => {
    const value = read(() => unpack(bytes, limits));
    const raw = read(() => unpack(bytes, { ...limits, raw: true }));
    hold((value === undefined) === (raw === undefined), 'raw and not raw read the same bytes');
    if (value === undefined) return;
    const written = read(() => pack(value));
    if (written) hold(sameValue(unpack(written), value), 'what is written reads as it was');
  },
};
export default target;
