// Processes as /proc shows them.

import { newDict, type PlainDict } from 'halite/sdk';
import { listDir, readText, statSync } from 'halite/sdk/fs';
import { userById } from 'halite/sdk/system';
import { pyFloat } from 'halite/sdk/text';

/** Clock ticks per second and bytes per page of every Linux in use. */
export const ticks = 100;
export const page = 4096;

const states: Readonly<Record<string, string>> = {
  R: 'running',
  S: 'sleeping',
  D: 'disk-sleep',
  T: 'stopped',
  t: 'tracing-stop',
  Z: 'zombie',
  X: 'dead',
  I: 'idle',
  P: 'parked',
};

export interface Process {
  readonly pid: number;
  readonly name: string;
  readonly cmdline: string[];
  readonly status: string;
  readonly ppid: number;
  /** The kernel's number of its terminal; zero is none. */
  readonly terminal: number;
  readonly user: string;
  readonly threads: number;
  readonly nice: number;
  readonly userTime: number;
  readonly systemTime: number;
  readonly childUserTime: number;
  readonly childSystemTime: number;
  readonly started: number;
  readonly virtualBytes: number;
  readonly residentBytes: number;
}

export const processIds = (): number[] =>
  listDir('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);

export const bootTime = (): number => Number(/^btime (\d+)/m.exec(readText('/proc/stat') ?? '')?.[1] ?? 0);

function ownerOf(pid: number): string {
  try {
    const { uid } = statSync(`/proc/${pid}`);
    return userById(uid)?.name ?? String(uid);
  } catch {
    return '';
  }
}

/** The kernel truncates names to 15 characters; the command line has the full name. */
function fullName(short: string, cmdline: readonly string[]): string {
  const long = (cmdline[0] ?? '').split('/').at(-1) ?? '';
  return short.length >= 15 && long.startsWith(short) ? long : short;
}

/** Only its name, which is cheaper to read than everything. */
export function processName(pid: number): string | undefined {
  const short = readText(`/proc/${pid}/comm`)?.replace(/\n$/, '');
  if (short === undefined || short.length < 15) return short;
  return fullName(short, (readText(`/proc/${pid}/cmdline`) ?? '').split('\0'));
}

/** One process; undefined when it is gone. */
export function readProcess(pid: number): Process | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ');
  const field = (index: number): number => Number(fields[index] ?? 0);
  const raw = readText(`/proc/${pid}/cmdline`) ?? '';
  const cmdline = raw === '' ? [] : raw.replace(/\0$/, '').split('\0');
  return {
    pid,
    name: fullName(stat.slice(stat.indexOf('(') + 1, close), cmdline),
    cmdline,
    status: states[fields[0] ?? ''] ?? '?',
    ppid: field(1),
    terminal: field(4),
    user: ownerOf(pid),
    threads: field(17),
    nice: field(16),
    userTime: field(11) / ticks,
    systemTime: field(12) / ticks,
    childUserTime: field(13) / ticks,
    childSystemTime: field(14) / ticks,
    started: bootTime() + field(19) / ticks,
    virtualBytes: field(20),
    residentBytes: field(21) * page,
  };
}

export const allProcesses = (): Process[] => processIds().flatMap((pid) => readProcess(pid) ?? []);

export const cpuTimes = (process: Process): PlainDict =>
  newDict([
    ['user', pyFloat(process.userTime)],
    ['system', pyFloat(process.systemTime)],
    ['children_user', pyFloat(process.childUserTime)],
    ['children_system', pyFloat(process.childSystemTime)],
    ['iowait', pyFloat(0)],
  ]);

export function memoryInfo(process: Process): PlainDict {
  const pages = (readText(`/proc/${process.pid}/statm`) ?? '').split(' ').map((count) => Number(count) * page);
  const names = ['vms', 'rss', 'shared', 'text', 'lib', 'data', 'dirty'];
  const all = new Map(names.map((name, index) => [name, pages[index] ?? 0]));
  return newDict(['rss', 'vms', 'shared', 'text', 'lib', 'data', 'dirty'].map((name) => [name, all.get(name) ?? 0]));
}

/** An entry of `ps.top`. */
export function describe(process: Process): PlainDict {
  return newDict([
    ['cmd', process.cmdline.length > 0 ? process.cmdline : process.name],
    ['user', process.user],
    ['status', process.status],
    ['pid', process.pid],
    ['create_time', pyFloat(process.started)],
    ['cpu', cpuTimes(process)],
    ['mem', memoryInfo(process)],
  ]);
}

export const total = (process: Process): number => process.userTime + process.systemTime;
