// Values between the processes of one daemon, which are packed because cloning would lose prototypes and PyFloat.
import type { Value } from '../value.ts';
import { unpack } from './decode.ts';
import { pack } from './encode.ts';

// They come from our own process and may be deep and large (grains, pillar), so the limits for untrusted peers do not
// apply.
const trusted = { maxDepth: 480, maxBytes: 1 << 30, maxItems: 1 << 27 } as const;

export const packValue = (value: Value): Uint8Array => pack(value, { bin: true });

export const unpackValue = (body: Uint8Array, raw = false): Value => unpack(body, { ...trusted, raw });
