// Msgpack as Salt speaks it: raw family on the wire, every family accepted.
export { formatDateTime, microsOf, PreciseDate, parseDateTime } from './datetime.ts';
export { defaultLimits, type UnpackOptions, unpack, unpacked } from './decode.ts';
export { type PackOptions, pack } from './encode.ts';
export { PackedValue } from './packed.ts';
export { unpackShallow } from './shallow.ts';
export { Unpacker } from './unpacker.ts';
