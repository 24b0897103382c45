// Msgpack as Salt speaks it: raw family on the wire, every family accepted.
export { formatDateTime, microsOf, PreciseDate, parseDateTime } from './datetime.ts';
export { defaultLimits, type UnpackOptions, unpack } from './decode.ts';
export { type PackOptions, pack } from './encode.ts';
export { Unpacker } from './unpacker.ts';
