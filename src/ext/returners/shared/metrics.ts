// Metrics in the two formats of carbon: lines, and a pickle preceded by its length.
import { asNumber, reprFloat, type Value } from 'halite/sdk';

export interface Metric {
  readonly path: string;
  readonly value: number;
  readonly seconds: number;
}

/** Python's float(value): numbers, booleans, and texts that are numbers. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return asNumber(value);
  return /^\s*[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/.test(value)
    ? Number(value.replaceAll('_', ''))
    : undefined;
}

/** Spaces and line breaks would end the name, and a line break would start another metric. */
const nameOf = (path: string): string => path.replace(/\s/g, '_');

export const metricLines = (metrics: readonly Metric[]): Buffer =>
  Buffer.from(metrics.map(({ path, value, seconds }) => `${nameOf(path)} ${reprFloat(value)} ${seconds}\n`).join(''));

/** Opcodes of pickle protocol 2, the few that a list of `(name, (time, value))` needs. */
const op = {
  proto: 0x80,
  list: 0x5d,
  mark: 0x28,
  text: 0x58,
  int: 0x4a,
  float: 0x47,
  pair: 0x86,
  appends: 0x65,
  stop: 0x2e,
};

export function metricPickle(metrics: readonly Metric[]): Buffer {
  const pieces: Buffer[] = [Buffer.from([op.proto, 2, op.list, op.mark])];
  for (const { path, value, seconds } of metrics) {
    const name = Buffer.from(nameOf(path));
    const head = Buffer.alloc(5);
    head[0] = op.text;
    head.writeUInt32LE(name.length, 1);
    const rest = Buffer.alloc(16);
    rest[0] = op.int;
    rest.writeInt32LE(seconds, 1);
    rest[5] = op.float;
    rest.writeDoubleBE(value, 6);
    rest[14] = op.pair;
    rest[15] = op.pair;
    pieces.push(head, name, rest);
  }
  pieces.push(Buffer.from([op.appends, op.stop]));
  const data = Buffer.concat(pieces);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, data]);
}
