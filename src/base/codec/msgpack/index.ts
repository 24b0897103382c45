// Msgpack as Salt uses it: writes the raw family, accepts every family.
export { formatDateTime, microsOf } from './datetime.ts';
export { type UnpackOptions, unpack, unpacked } from './decode.ts';
export { pack } from './encode.ts';
export { PackedValue } from './packed.ts';
export { unpackShallow } from './shallow.ts';
export { packValue, unpackValue } from './trusted.ts';
