// Execution module `ps`: processes and the state of the whole machine.
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import {
  defineModule,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyInt,
  pyStr,
  type Value,
} from 'halite/sdk';
import { osError } from 'halite/sdk/fs';
import { askTool, requireBinary, runTool, which } from 'halite/sdk/system';
import { lines, pyFloat, pyRegexSearch, words } from 'halite/sdk/text';
import { strftime } from 'halite/sdk/time';
import { allProcesses, bootTime, describe, type Process, processIds, total } from '../../shared/ps/processes.ts';
import {
  busyPercent,
  cpuTimes,
  cpuTimesDict,
  diskCounters,
  diskUsage,
  networkCounters,
  partitions,
  swapMemory,
  virtualMemory,
} from '../../shared/ps/system-facts.ts';
import { processInfo } from './proc-info.ts';

async function top(count: number, interval: number, ctx: ModuleContext): Promise<PlainDict[]> {
  const before = new Map(allProcesses().map((process) => [process.pid, total(process)]));
  await pause(interval * 1000, undefined, { signal: ctx.signal });
  const now = allProcesses().filter((process) => before.has(process.pid));
  const used = (process: Process): number => total(process) - (before.get(process.pid) ?? 0);
  return now
    .sort((a, b) => used(b) - used(a))
    .slice(0, count)
    .map(describe);
}

function fitting(pattern: string, user: string | null, full: boolean, isRegex: boolean): Process[] {
  const compiled = isRegex ? pyRegexSearch(pattern) : undefined;
  return allProcesses().filter((process) => {
    const text = full ? process.cmdline.join(' ') : process.name;
    return (compiled ? compiled.test(text) : text.includes(pattern)) && (user === null || process.user === user);
  });
}

/** False when there is no such process. */
function signal(pid: number, number: number): boolean {
  try {
    process.kill(pid, number);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw osError(error);
  }
}

async function cpuPercent(interval: number, perCpu: boolean, ctx: ModuleContext): Promise<Value> {
  const before = cpuTimes(perCpu);
  await pause(interval * 1000, undefined, { signal: ctx.signal });
  const values = cpuTimes(perCpu).map((after, index) => pyFloat(busyPercent(before[index] ?? [], after)));
  return perCpu ? values : (values[0] ?? pyFloat(0));
}

async function loggedIn(ctx: ModuleContext): Promise<PlainDict[]> {
  if (!which('who')) return [];
  return lines((await askTool(ctx, 'who', ['-u'])).stdout).map((row) => {
    const columns = words(row);
    const from = /\(([^)]*)\)\s*$/.exec(row)?.[1] ?? '';
    const started = Date.parse(`${columns[2]}T${columns[3]}`) / 1000;
    return newDict([
      ['name', columns[0] ?? ''],
      ['terminal', columns[1] ?? ''],
      ['host', from],
      ['started', pyFloat(started)],
      ['pid', Number(columns[5] ?? 0)],
    ]);
  });
}

const linesWith = async (ctx: ModuleContext, tool: string, args: string[], name: string): Promise<Value[]> => {
  const { stdout } = await runTool(ctx, tool, args, { mergeStderr: true });
  return [name, lines(stdout).filter((line) => line.includes(name))];
};

const processFunctions = {
  top: fn({
    doc: 'The processes that used most processor time during an interval.',
    examples: ["salt '*' ps.top", "salt '*' ps.top 5 10"],
    params: { num_processes: p.int({ default: 5 }), interval: p.float({ default: 3 }) },
    run: (args, ctx) => top(args.num_processes, args.interval, ctx),
  }),
  get_pid_list: fn({ doc: 'All process ids.', examples: ["salt '*' ps.get_pid_list"], run: () => processIds() }),
  proc_info: fn({
    doc: 'Facts about a process, as psutil names them (net_connections and memory_maps are left out); attrs is a list of those wanted.',
    examples: ["salt '*' ps.proc_info 2322", `salt '*' ps.proc_info 2322 attrs='["pid", "name"]'`],
    params: { pid: p.int(), attrs: p.oneOf(['string', 'list'], { default: null }) },
    run: (args, ctx) => processInfo(pyInt(args.pid), args.attrs, ctx),
  }),
  kill_pid: fn({
    doc: 'Sends a signal to a process; False when there is none.',
    examples: ["salt 'minion' ps.kill_pid pid signal=9"],
    params: { pid: p.int(), signal: p.int({ default: 15 }) },
    run: (args) => signal(pyInt(args.pid), pyInt(args.signal)),
  }),
  pkill: fn({
    doc: 'Sends a signal to all processes whose name (or command line, with full) contains a text.',
    examples: ["salt '*' ps.pkill httpd signal=9", "salt '*' ps.pkill bash user=root"],
    params: {
      pattern: p.string(),
      user: p.string({ default: null }),
      signal: p.int({ default: 15 }),
      full: p.bool({ default: false }),
    },
    run(args) {
      const killed = fitting(args.pattern, args.user, args.full, false)
        .filter((process) => signal(process.pid, pyInt(args.signal)))
        .map((process) => process.pid);
      return killed.length > 0 ? newDict([['killed', killed]]) : null;
    },
  }),
  pgrep: fn({
    doc: 'Ids of processes whose name (or command line, with full) contains a text; None when there are none.',
    examples: ["salt '*' ps.pgrep httpd", "salt '*' ps.pgrep bash user=root"],
    params: {
      pattern: p.string(),
      user: p.string({ default: null }),
      full: p.bool({ default: false }),
      pattern_is_regex: p.bool({ default: false }),
    },
    run(args) {
      const found = fitting(args.pattern, args.user, args.full, args.pattern_is_regex).map((process) => process.pid);
      return found.length > 0 ? found : null;
    },
  }),
  status: fn({
    doc: 'Processes in a state: running, sleeping, disk-sleep, stopped, zombie, idle …',
    examples: ["salt '*' ps.status sleeping"],
    params: { status: p.string() },
    run(args) {
      if (!args.status) throw invocationError('Filter is required for ps.status');
      return allProcesses()
        .filter((process) => process.status === args.status)
        .map((process) =>
          newDict([
            ['pid', process.pid],
            ['name', process.name],
          ]),
        );
    },
  }),
  psaux: fn({
    doc: 'Lines of `ps aux` that match a regular expression.',
    examples: ["salt '*' ps.psaux www-data.+apache2"],
    params: { name: p.string() },
    async run(args, ctx) {
      const pattern = pyRegexSearch(args.name);
      const found = lines((await askTool(ctx, 'ps', ['aux'])).stdout).filter(
        (line) => pattern.test(line) && !/salt.+ps\.psaux.+/.test(line),
      );
      return [args.name, found, `${found.length} occurrence(s).`];
    },
  }),
  lsof: fn({
    doc: 'Open files of processes with a name.',
    examples: ["salt '*' ps.lsof apache2"],
    params: { name: p.string() },
    run: async (args, ctx) => [
      args.name,
      (await runTool(ctx, 'lsof', ['-c', args.name], { mergeStderr: true })).stdout.trimEnd(),
    ],
  }),
  netstat: fn({
    doc: 'Lines of `netstat -nap` that contain a name.',
    examples: ["salt '*' ps.netstat apache2"],
    params: { name: p.string() },
    run: (args, ctx) => linesWith(ctx, requireBinary('netstat'), ['-nap'], args.name),
  }),
  ss: fn({
    doc: 'Lines of `ss -neap` that contain a name.',
    examples: ["salt '*' ps.ss apache2"],
    params: { name: p.string() },
    run: (args, ctx) => linesWith(ctx, requireBinary('ss'), ['-neap'], args.name),
  }),
};

const machineFunctions = {
  cpu_percent: fn({
    doc: 'How busy the processors were during an interval.',
    examples: ["salt '*' ps.cpu_percent"],
    params: { interval: p.float({ default: 0.1 }), per_cpu: p.bool({ default: false }) },
    run: (args, ctx) => cpuPercent(args.interval, args.per_cpu, ctx),
  }),
  cpu_times: fn({
    doc: 'Seconds the processors spent in each state.',
    examples: ["salt '*' ps.cpu_times"],
    params: { per_cpu: p.bool({ default: false }) },
    run(args) {
      const all = cpuTimes(args.per_cpu).map(cpuTimesDict);
      return args.per_cpu ? all : (all[0] ?? newDict());
    },
  }),
  virtual_memory: fn({ doc: 'Memory in bytes.', examples: ["salt '*' ps.virtual_memory"], run: () => virtualMemory() }),
  swap_memory: fn({ doc: 'Swap space in bytes.', examples: ["salt '*' ps.swap_memory"], run: () => swapMemory() }),
  total_physical_memory: fn({
    doc: 'Bytes of memory.',
    examples: ["salt '*' ps.total_physical_memory"],
    run: () => virtualMemory()['total'] ?? 0,
  }),
  num_cpus: fn({ doc: 'Number of processors.', examples: ["salt '*' ps.num_cpus"], run: () => os.cpus().length }),
  boot_time: fn({
    doc: 'When the machine was started: seconds since 1970, or written by a pattern.',
    examples: ["salt '*' ps.boot_time", "salt '*' ps.boot_time '%Y-%m-%d'"],
    params: { time_format: p.string({ default: null }) },
    run: (args) => (args.time_format ? strftime(new Date(bootTime() * 1000), args.time_format) : bootTime()),
  }),
  disk_partitions: fn({
    doc: 'Mounted filesystems; with all also those without a device.',
    examples: ["salt '*' ps.disk_partitions"],
    params: { all: p.bool({ default: false }) },
    run: (args) => partitions(args.all),
  }),
  disk_usage: fn({
    doc: 'Space of the filesystem of a path.',
    examples: ["salt '*' ps.disk_usage /home"],
    params: { path: p.path() },
    run: (args) => diskUsage(args.path),
  }),
  disk_partition_usage: fn({
    doc: 'Mounted filesystems with their space.',
    examples: ["salt '*' ps.disk_partition_usage"],
    params: { all: p.bool({ default: false }) },
    run: (args) =>
      partitions(args.all).map((partition) =>
        Object.assign(partition, diskUsage(pyStr(partition['mountpoint'] ?? '/'))),
      ),
  }),
  network_io_counters: fn({
    doc: 'Bytes and packets of all interfaces, or of one.',
    examples: ["salt '*' ps.network_io_counters", "salt '*' ps.network_io_counters interface=eth0"],
    params: { interface: p.string({ default: null }) },
    run: (args) => networkCounters(args.interface) ?? false,
  }),
  disk_io_counters: fn({
    doc: 'Reads and writes of all disks, or of one device.',
    examples: ["salt '*' ps.disk_io_counters", "salt '*' ps.disk_io_counters device=sda1"],
    params: { device: p.string({ default: null }) },
    run: (args) => diskCounters(args.device) ?? false,
  }),
  get_users: fn({ doc: 'Who is logged in.', examples: ["salt '*' ps.get_users"], run: (_, ctx) => loggedIn(ctx) }),
};

export default defineModule({
  name: 'ps',
  doc: 'Processes and the state of the whole machine.',
  available: () => process.platform === 'linux' || 'ps: only Linux is supported',
  reads: [
    'top',
    'get_pid_list',
    'proc_info',
    'pgrep',
    'status',
    'psaux',
    'lsof',
    'netstat',
    'ss',
    'cpu_percent',
    'cpu_times',
    'virtual_memory',
    'swap_memory',
    'total_physical_memory',
    'num_cpus',
    'boot_time',
    'disk_partitions',
    'disk_usage',
    'disk_partition_usage',
    'network_io_counters',
    'disk_io_counters',
    'get_users',
  ],
  functions: { ...processFunctions, ...machineFunctions },
});
