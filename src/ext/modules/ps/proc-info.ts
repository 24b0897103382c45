// The facts of `ps.proc_info` about one process, in the order and form of psutil: tuples are lists.

import os from 'node:os';
import { commandError, type ModuleContext, newDict, type PlainDict, pyStr, pythonError, type Value } from 'halite/sdk';
import { isFile, listDir, readlinkSync, readText } from 'halite/sdk/fs';
import { askTool, which } from 'halite/sdk/system';
import { lines, pyFloat, words } from 'halite/sdk/text';
import { cpuTimes, memoryInfo, type Process, page, readProcess, ticks } from '../../shared/ps/processes.ts';

/** None when reading is not permitted. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** The rest of a line of /proc/<pid>/status. */
const statusLine = (pid: number, name: string): string =>
  new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readText(`/proc/${pid}/status`) ?? '')?.[1] ?? '';

const numbers = (text: string, count: number): Value[] => words(text).slice(0, count).map(Number);

/** `0-2,5` → 0, 1, 2, 5. */
const range = (text: string): number[] =>
  text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });

function environOf(pid: number): Value {
  const text = readText(`/proc/${pid}/environ`);
  if (text === undefined) return null;
  const pairs = text.split('\0').flatMap((entry): [string, Value][] => {
    const at = entry.indexOf('=');
    return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)]] : [];
  });
  return newDict(pairs);
}

function ioCounters(pid: number): Value {
  const found = new Map(lines(readText(`/proc/${pid}/io`) ?? '').map((line) => line.split(': ') as [string, string]));
  if (found.size === 0) return null;
  return ['syscr', 'syscw', 'read_bytes', 'write_bytes', 'rchar', 'wchar'].map((name) => Number(found.get(name) ?? 0));
}

/** Its open regular files: path, descriptor, position, mode, flags. */
function openFiles(pid: number): Value {
  if (linkOf(`/proc/${pid}/exe`) === null) return null;
  return listDir(`/proc/${pid}/fd`).flatMap((fd): Value[] => {
    const path = linkOf(`/proc/${pid}/fd/${fd}`);
    if (!path?.startsWith('/') || !isFile(path)) return [];
    const about = readText(`/proc/${pid}/fdinfo/${fd}`) ?? '';
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(about)?.[1] ?? '0', 8);
    const letters = ['r', 'w', 'r+'][flags & 3] ?? 'r';
    const mode = flags & 0o2000 ? letters.replace('w', 'a').replace('r+', 'a+') : letters;
    return [[path, Number(fd), Number(/^pos:\s*(\d+)/m.exec(about)?.[1] ?? 0), mode, flags]];
  });
}

function threadsOf(pid: number): Value[] {
  return listDir(`/proc/${pid}/task`).flatMap((id): Value[] => {
    const stat = readText(`/proc/${pid}/task/${id}/stat`);
    if (stat === undefined) return [];
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const seconds = (at: number) => pyFloat(Number(fields[at] ?? 0) / ticks);
    return [[Number(id), seconds(11), seconds(12)]];
  });
}

/** `memory_info` with the private memory, the proportional share and the swapped memory. */
function fullMemory(process: Process): Value {
  const text = readText(`/proc/${process.pid}/smaps_rollup`) ?? '';
  if (text === '') return null;
  const sum = (name: RegExp): number =>
    [...text.matchAll(name)].reduce((total, match) => total + Number(match[1]) * 1024, 0);
  const own = [sum(/^Private\w*:\s+(\d+)/gm), sum(/^Pss:\s+(\d+)/gm), sum(/^Swap:\s+(\d+)/gm)];
  return [...Object.values(memoryInfo(process)), ...own];
}

/** I/O class and priority; no file in /proc has them. */
async function ioNice(pid: number, ctx: ModuleContext): Promise<Value> {
  if (!which('ionice')) return [0, 0];
  const { stdout } = await askTool(ctx, 'ionice', ['-p', String(pid)]);
  const kind = ['none', 'realtime', 'best-effort', 'idle'].findIndex((name) => stdout.startsWith(name));
  return [Math.max(0, kind), Number(/prio (\d+)/.exec(stdout)?.[1] ?? 0)];
}

function terminalOf(pid: number, number: number): Value {
  if (number === 0) return null;
  const path = [0, 1, 2]
    .map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
    .find((name) => name && /^\/dev\/(tty|pts)/.test(name));
  return path ?? null;
}

type Facts = Readonly<Record<string, () => Value | Promise<Value>>>;

function factsOf(process: Process, ctx: ModuleContext): Facts {
  const { pid } = process;
  const stat = readText(`/proc/${pid}/stat`) ?? '';
  const field = (at: number): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[at] ?? 0);
  return {
    cmdline: () => process.cmdline,
    cpu_affinity: () => range(statusLine(pid, 'Cpus_allowed_list')),
    cpu_num: () => field(36),
    cpu_percent: () => pyFloat(0),
    cpu_times: () => Object.values(cpuTimes(process)),
    create_time: () => pyFloat(process.started),
    cwd: () => linkOf(`/proc/${pid}/cwd`),
    environ: () => environOf(pid),
    exe: () => linkOf(`/proc/${pid}/exe`),
    gids: () => numbers(statusLine(pid, 'Gid'), 3),
    io_counters: () => ioCounters(pid),
    ionice: () => ioNice(pid, ctx),
    memory_full_info: () => fullMemory(process),
    memory_info: () => Object.values(memoryInfo(process)),
    memory_percent: () => pyFloat((field(21) * page * 100) / os.totalmem()),
    name: () => process.name,
    nice: () => process.nice,
    num_ctx_switches: () =>
      ['voluntary_ctxt_switches', 'nonvoluntary_ctxt_switches'].map((name) => Number(statusLine(pid, name))),
    num_fds: () => listDir(`/proc/${pid}/fd`).length,
    num_threads: () => process.threads,
    open_files: () => openFiles(pid),
    pid: () => pid,
    ppid: () => process.ppid,
    status: () => process.status,
    terminal: () => terminalOf(pid, field(4)),
    threads: () => threadsOf(pid),
    uids: () => numbers(statusLine(pid, 'Uid'), 3),
    username: () => process.user,
  };
}

/** Facts about one process: all, or those asked for. */
export async function processInfo(pid: number, attrs: Value, ctx: ModuleContext): Promise<PlainDict> {
  if (attrs !== null && !Array.isArray(attrs))
    throw pythonError('TypeError', `invalid attrs type <class '${typeof attrs === 'string' ? 'str' : 'dict'}'>`);
  const found = readProcess(pid);
  if (!found) throw commandError(`process PID not found (pid=${pid})`);
  const facts = factsOf(found, ctx);
  const names = attrs === null || attrs.length === 0 ? Object.keys(facts) : attrs.map(pyStr);
  const unknown = names.filter((name) => !Object.hasOwn(facts, name));
  if (unknown.length > 0)
    throw pythonError('ValueError', `invalid attr name${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}`);
  const told = newDict();
  for (const name of names) told[name] = await (facts[name] as () => Value | Promise<Value>)();
  return told;
}
