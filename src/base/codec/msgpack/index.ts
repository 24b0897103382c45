// Msgpack as Salt speaks it: raw family on the wire, every family accepted.
export { formatDateTime, microsOf } from './datetime.ts';
export { type UnpackOptions, unpack, unpacked } from './decode.ts';
export { pack } from './encode.ts';
export { PackedValue } from './packed.ts';
export { unpackShallow } from './shallow.ts';
