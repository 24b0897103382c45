// The local time zone's abbreviation (`CET`), which JavaScript's own formatting does not give reliably.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

function zoneFile(): string {
  const variable = process.env['TZ']?.replace(/^:/, '');
  if (!variable) return '/etc/localtime';
  return variable.startsWith('/') ? variable : join('/usr/share/zoneinfo', variable);
}

interface Block {
  readonly sizes: { isut: number; isstd: number; leap: number; time: number; type: number; char: number };
  readonly start: number;
  readonly timeBytes: number;
  readonly end: number;
}

function blockAt(data: Buffer, offset: number, timeBytes: number): Block {
  const count = (index: number): number => data.readUInt32BE(offset + 20 + index * 4);
  const sizes = { isut: count(0), isstd: count(1), leap: count(2), time: count(3), type: count(4), char: count(5) };
  const start = offset + 44;
  const length =
    sizes.time * timeBytes +
    sizes.time +
    sizes.type * 6 +
    sizes.char +
    sizes.leap * (timeBytes + 4) +
    sizes.isstd +
    sizes.isut;
  return { sizes, start, timeBytes, end: start + length };
}

function abbreviationIn(data: Buffer, block: Block, seconds: number): { name: string; afterLast: boolean } {
  const { sizes, start, timeBytes } = block;
  const timeAt = (i: number): number =>
    timeBytes === 8 ? Number(data.readBigInt64BE(start + i * 8)) : data.readInt32BE(start + i * 4);
  let index = -1;
  for (let i = 0; i < sizes.time && timeAt(i) <= seconds; i++) index = i;
  const typesAt = start + sizes.time * timeBytes;
  const type = index < 0 ? 0 : data.readUInt8(typesAt + index);
  const infoAt = typesAt + sizes.time + type * 6;
  const charsAt = typesAt + sizes.time + sizes.type * 6;
  const nameAt = charsAt + data.readUInt8(infoAt + 5);
  return { name: data.toString('latin1', nameAt, data.indexOf(0, nameAt)), afterLast: index === sizes.time - 1 };
}

/**
 * The abbreviation that a POSIX rule such as `CET-1CEST,M3.5.0,M10.5.0/3` gives for an offset in minutes west of UTC.
 */
function abbreviationByRule(rule: string, minutesWest: number): string | undefined {
  const name = '(?:<([^>]+)>|([A-Za-z]+))';
  const match = new RegExp(`^${name}([-+\\d:]+)(?:${name})?`).exec(rule);
  if (!match) return undefined;
  const [hours = 0, minutes = 0] = (match[3] ?? '0').split(':').map(Number);
  const standard = hours * 60 + Math.sign(hours || 1) * minutes;
  const summer = match[4] ?? match[5];
  return summer && minutesWest !== standard ? summer : (match[1] ?? match[2]);
}

/** Abbreviation of the local zone at a moment; `UTC` when the zone's file cannot be read. */
export function zoneAbbreviation(at: Date = new Date()): string {
  try {
    const data = readFileSync(zoneFile());
    if (data.toString('latin1', 0, 4) !== 'TZif') return 'UTC';
    const seconds = Math.floor(at.getTime() / 1000);
    const first = blockAt(data, 0, 4);
    if (data.readUInt8(4) === 0) return abbreviationIn(data, first, seconds).name;
    const second = blockAt(data, first.end, 8);
    const { name, afterLast } = abbreviationIn(data, second, seconds);
    const rule = data.toString('latin1', second.end + 1, data.indexOf(10, second.end + 1));
    return afterLast && rule ? (abbreviationByRule(rule, at.getTimezoneOffset()) ?? name) : name;
  } catch {
    return 'UTC';
  }
}

/** `+0100`. */
export function zoneOffset(at: Date = new Date()): string {
  const east = -at.getTimezoneOffset();
  const pad = (n: number): string => String(Math.abs(n)).padStart(2, '0');
  return `${east < 0 ? '-' : '+'}${pad(Math.trunc(east / 60))}${pad(east % 60)}`;
}
