// Facts about the whole machine, in psutil's shapes.

import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { listDir, readText, statfsSync } from 'halite/sdk/fs';
import { lines, pyFloat, roundTo, words } from 'halite/sdk/text';

const cpuFields = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal', 'guest', 'guest_nice'];

/** Seconds by kind, for all processors or for each. */
export function cpuTimes(perCpu: boolean): number[][] {
  const rows = lines(readText('/proc/stat') ?? '').filter((line) =>
    perCpu ? /^cpu\d/.test(line) : /^cpu /.test(line),
  );
  return rows.map((row) =>
    words(row)
      .slice(1)
      .map((value) => Number(value) / 100),
  );
}

export const cpuTimesDict = (times: readonly number[]): PlainDict =>
  newDict(cpuFields.map((name, index) => [name, pyFloat(times[index] ?? 0)]));

/** Busy share of the time between two readings, in percent. */
export function busyPercent(before: readonly number[], after: readonly number[]): number {
  const sum = (times: readonly number[]): number => times.slice(0, 8).reduce((total, value) => total + value, 0);
  const idle = (times: readonly number[]): number => (times[3] ?? 0) + (times[4] ?? 0);
  const all = sum(after) - sum(before);
  return all <= 0 ? 0 : roundTo(Math.max(0, 100 * (1 - (idle(after) - idle(before)) / all)), 1);
}

function meminfo(): Map<string, number> {
  return new Map(
    lines(readText('/proc/meminfo') ?? '').map((line) => {
      const [name = '', value = '0', unit] = words(line);
      return [name.replace(':', ''), Number(value) * (unit === 'kB' ? 1024 : 1)];
    }),
  );
}

export function virtualMemory(): PlainDict {
  const info = meminfo();
  const get = (name: string): number => info.get(name) ?? 0;
  const [totalBytes, free, buffers] = [get('MemTotal'), get('MemFree'), get('Buffers')];
  const cached = get('Cached') + get('SReclaimable');
  const available = info.get('MemAvailable') ?? free + buffers + cached;
  const used = totalBytes - available;
  return newDict([
    ['total', totalBytes],
    ['available', available],
    ['percent', pyFloat(roundTo(totalBytes > 0 ? ((totalBytes - available) / totalBytes) * 100 : 0, 1))],
    ['used', used],
    ['free', free],
    ['active', get('Active')],
    ['inactive', get('Inactive')],
    ['buffers', buffers],
    ['cached', cached],
    ['shared', get('Shmem')],
    ['slab', get('Slab')],
  ]);
}

export function swapMemory(): PlainDict {
  const info = meminfo();
  const [totalBytes, free] = [info.get('SwapTotal') ?? 0, info.get('SwapFree') ?? 0];
  const moved = (name: string): number =>
    Number(new RegExp(`^${name} (\\d+)`, 'm').exec(readText('/proc/vmstat') ?? '')?.[1] ?? 0) * 4096;
  return newDict([
    ['total', totalBytes],
    ['used', totalBytes - free],
    ['free', free],
    ['percent', pyFloat(totalBytes > 0 ? roundTo(((totalBytes - free) / totalBytes) * 100, 1) : 0)],
    ['sin', moved('pswpin')],
    ['sout', moved('pswpout')],
  ]);
}

const unescaped = (text: string): string =>
  text.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));

/** Mounted filesystems; without `all` only those on devices of known types. */
export function partitions(all: boolean): PlainDict[] {
  const types = lines(readText('/proc/filesystems') ?? '').flatMap((line) =>
    line.startsWith('nodev') ? (line.includes('zfs') ? ['zfs'] : []) : [line.trim()],
  );
  return lines(readText('/proc/self/mounts') ?? '').flatMap((line) => {
    const [device = '', point = '', type = '', options = ''] = words(line);
    if (!all && (device === 'none' || device === '' || !types.includes(type))) return [];
    return [
      newDict([
        ['device', device === 'none' ? '' : unescaped(device)],
        ['mountpoint', unescaped(point)],
        ['fstype', type],
        ['opts', options],
      ]),
    ];
  });
}

export function diskUsage(path: string): PlainDict {
  const stats = statfsSync(path);
  const [totalBytes, free] = [stats.blocks * stats.bsize, stats.bavail * stats.bsize];
  const used = (stats.blocks - stats.bfree) * stats.bsize;
  return newDict([
    ['total', totalBytes],
    ['used', used],
    ['free', free],
    ['percent', pyFloat(used + free > 0 ? roundTo((used / (used + free)) * 100, 1) : 0)],
  ]);
}

const networkFields: readonly (readonly [string, number])[] = [
  ['bytes_sent', 8],
  ['bytes_recv', 0],
  ['packets_sent', 9],
  ['packets_recv', 1],
  ['errin', 2],
  ['errout', 10],
  ['dropin', 3],
  ['dropout', 11],
];

/** Counters of interfaces: summed, of one, or undefined when there is none of that name. */
export function networkCounters(wanted: string | null): PlainDict | undefined {
  const rows = lines(readText('/proc/net/dev') ?? '')
    .slice(2)
    .map((line) => {
      const at = line.lastIndexOf(':');
      return { name: line.slice(0, at).trim(), counters: words(line.slice(at + 1)).map(Number) };
    });
  const chosen = wanted === null ? rows : rows.filter((row) => row.name === wanted);
  if (chosen.length === 0) return undefined;
  return newDict(
    networkFields.map(([name, index]) => [name, chosen.reduce((sum, row) => sum + (row.counters[index] ?? 0), 0)]),
  );
}

const diskFields: readonly (readonly [string, number, number])[] = [
  ['read_count', 3, 1],
  ['write_count', 7, 1],
  ['read_bytes', 5, 512],
  ['write_bytes', 9, 512],
  ['read_time', 6, 1],
  ['write_time', 10, 1],
  ['read_merged_count', 4, 1],
  ['write_merged_count', 8, 1],
  ['busy_time', 12, 1],
];

/** Counters of whole disks summed, or of one device. */
export function diskCounters(wanted: string | null): PlainDict | undefined {
  const whole = listDir('/sys/block');
  const rows = lines(readText('/proc/diskstats') ?? '').map(words);
  const chosen = rows.filter((row) => (wanted === null ? whole.includes(row[2] ?? '') : row[2] === wanted));
  if (chosen.length === 0) return undefined;
  return newDict(
    diskFields.map(([name, index, factor]): [string, Value] => [
      name,
      chosen.reduce((sum, row) => sum + Number(row[index] ?? 0) * factor, 0),
    ]),
  );
}
