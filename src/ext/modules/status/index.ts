// Execution module `status`: load, memory, disks, network and processes of the machine.
import { lookup } from 'node:dns/promises';
import os from 'node:os';
import {
  asNumber,
  defineModule,
  dictEntries,
  dictGet,
  dictOf,
  fn,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { readText, statfsSync } from 'halite/sdk/fs';
import { formatIp, parseIp } from 'halite/sdk/net';
import { which } from 'halite/sdk/system';
import { lines, matchesGlob, pyFloat, pyRegexSearch, words } from 'halite/sdk/text';
import { strftime } from 'halite/sdk/time';
import { canConnect } from '../shared/can-connect.ts';
import { cpuInfo, cpuStats, diskStats, memInfo, netDev, netStats, remotesOfPort, vmStats } from './proc.ts';

const processList = (ctx: ModuleContext): Promise<{ stdout: string }> =>
  ctx.exec('/bin/sh', ['-c', pyStr(dictGet(ctx.grains, 'ps') ?? 'ps -efHww')]);

async function processes(ctx: ModuleContext): Promise<Value> {
  const [header = '', ...rows] = lines((await processList(ctx)).stdout);
  const columns = words(header);
  const at = (...names: string[]): number => Math.max(0, ...names.map((name) => columns.indexOf(name)));
  const [user, pid, command] = [at('USER', 'UID'), at('PID'), at('COMMAND', 'CMD')];
  const entries = rows.filter(Boolean).map((row): [Value, Value] => {
    const fields = words(row);
    return [
      fields[pid] ?? '',
      newDict([
        ['user', fields[user] ?? ''],
        ['cmd', fields.slice(command).join(' ')],
      ]),
    ];
  });
  return dictOf(entries);
}

async function uptime(ctx: ModuleContext): Promise<PlainDict> {
  const seconds = Math.floor(Number(words(readText('/proc/uptime') ?? '0')[0]));
  const now = Date.now() / 1000;
  const boot = new Date((now - seconds) * 1000);
  const micros = String(Math.floor(((now - seconds) % 1) * 1e6)).padStart(6, '0');
  const found = newDict([
    ['seconds', seconds],
    ['since_iso', `${boot.toISOString().slice(0, 19)}.${micros}`],
    ['since_t', Math.floor(now - seconds)],
    ['days', Math.floor(seconds / 86400)],
    ['time', `${Math.floor((seconds % 86400) / 3600)}:${Math.floor((seconds % 3600) / 60)}`],
  ]);
  const who = which('who');
  if (who) found['users'] = (await ctx.exec(who, ['-s'])).stdout.trimEnd().split('\n').length;
  return found;
}

function loadAverage(): PlainDict {
  const [one = 0, five = 0, fifteen = 0] = os.loadavg();
  return newDict([
    ['1-min', pyFloat(one)],
    ['5-min', pyFloat(five)],
    ['15-min', pyFloat(fifteen)],
  ]);
}

/** Space of filesystems, chosen by mount point (`/…`) or by type (a glob); all when nothing is named. */
function diskUsage(args: readonly string[]): PlainDict {
  const paths = args.filter((arg) => arg.startsWith('/'));
  const types = args.length === 0 ? ['*'] : args.filter((arg) => !arg.startsWith('/'));
  if (types.length > 0) {
    for (const [, point, type = ''] of lines(readText('/proc/mounts') ?? '').map(words)) {
      if (point !== undefined && types.some((glob) => matchesGlob(type, glob)))
        paths.push(point.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))));
    }
  }
  const found = newDict();
  for (const path of new Set(paths)) {
    try {
      const stats = statfsSync(path);
      found[path] = newDict([
        ['available', stats.bavail * stats.bsize],
        ['total', stats.blocks * stats.bsize],
      ]);
    } catch {
      // A mount point that cannot be queried (removed, no permission) is omitted.
    }
  }
  return found;
}

async function loggedIn(ctx: ModuleContext): Promise<PlainDict[]> {
  const program = which('w');
  if (!program) return [];
  const names = ['user', 'tty', 'login', 'idle', 'jcpu', 'pcpu'];
  return lines((await ctx.exec(program, ['-fh'])).stdout)
    .filter(Boolean)
    .map((row) => {
      const columns = words(row);
      const record = newDict(names.map((name, index) => [name, columns[index] ?? '']));
      record['what'] = columns.slice(6).join(' ');
      return record;
    });
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map((entry) => entry.address);
  } catch {
    return [];
  }
}

/** Whether this minion has a connection to the publish port of that master. */
async function masterConnected(master: string, ctx: ModuleContext): Promise<boolean | null> {
  const addresses = await addressesOf(master);
  if (addresses.length === 0) return null;
  const port = asNumber((await ctx.call('config.get', 'publish_port', 4505)) ?? 4505) ?? 4505;
  const normal = (text: string): string => {
    const address = parseIp(text);
    return address ? formatIp(address) : text;
  };
  const connected = new Set(remotesOfPort(port).map(normal));
  return addresses.some((address) => connected.has(normal(address)));
}

/** The values that the options `status.<function>.custom` select, from those functions. */
async function custom(ctx: ModuleContext): Promise<PlainDict> {
  const found = newDict();
  const wanted = await ctx.call('config.dot_vals', 'status');
  for (const [key, items] of isDict(wanted) ? dictEntries(wanted) : []) {
    const name = pyStr(key).split('.').slice(0, -1).join('.');
    if (name === 'status.custom' || name === '' || !Array.isArray(items)) continue;
    try {
      const values = await ctx.call(name);
      for (const item of items) found[pyStr(item)] = (isDict(values) ? dictGet(values, item) : undefined) ?? 'UNKNOWN';
    } catch (error) {
      ctx.log.warn('custom status is not available', { name, problem: messageOf(error) });
    }
  }
  return found;
}

const simple = (doc: string, name: string, run: (ctx: ModuleContext) => Value | Promise<Value>) =>
  fn({ doc, examples: [`salt '*' status.${name}`], run: (_, ctx) => run(ctx) });

export default defineModule({
  name: 'status',
  doc: 'Load, memory, disks, network and processes of the machine.',
  available: () => process.platform === 'linux' || 'status: only Linux is supported',
  reads: [
    'loadavg',
    'uptime',
    'cpustats',
    'cpuinfo',
    'meminfo',
    'diskstats',
    'vmstats',
    'netstats',
    'netdev',
    'nproc',
    'procs',
    'w',
    'version',
    'custom',
    'diskusage',
    'pid',
    'all_status',
    'time',
  ],
  functions: {
    loadavg: simple('Load averages of 1, 5 and 15 minutes.', 'loadavg', loadAverage),
    uptime: simple('How long the machine runs, since when, and how many users are logged in.', 'uptime', uptime),
    cpustats: simple('Counters of /proc/stat.', 'cpustats', cpuStats),
    cpuinfo: simple('/proc/cpuinfo as a dictionary; of several processors the last one.', 'cpuinfo', cpuInfo),
    meminfo: simple('/proc/meminfo as a dictionary of value and unit.', 'meminfo', memInfo),
    diskstats: simple('Counters of /proc/diskstats.', 'diskstats', diskStats),
    vmstats: simple('Counters of /proc/vmstat.', 'vmstats', vmStats),
    netstats: simple('Counters of /proc/net/netstat.', 'netstats', netStats),
    netdev: simple('Counters of each network interface.', 'netdev', netDev),
    nproc: simple('Number of processors this minion may use.', 'nproc', () => os.availableParallelism()),
    procs: simple('All processes with user and command line, by process id.', 'procs', processes),
    w: simple('Who is logged in and what they do.', 'w', loggedIn),
    version: simple('The kernel’s version line.', 'version', () => (readText('/proc/version') ?? '').trim()),
    custom: simple('The values that options named `status.<function>.custom` ask for.', 'custom', custom),
    diskusage: fn({
      doc: 'Total and available bytes of filesystems, by mount point or by type (a glob).',
      examples: ["salt '*' status.diskusage", "salt '*' status.diskusage /", "salt '*' status.diskusage ext? /mnt/usb"],
      params: { args: p.rest() },
      run: ({ args }) => diskUsage(args.map(pyStr)),
    }),
    pid: fn({
      doc: 'Process ids whose line in the process list matches a regular expression, one per line.',
      examples: ["salt '*' status.pid <sig>"],
      params: { sig: p.string() },
      async run({ sig }, ctx) {
        const pattern = pyRegexSearch(sig);
        const own = String(process.pid);
        const rows = lines((await processList(ctx)).stdout).filter((row) => !row.includes(own) && pattern.test(row));
        return rows.map((row) => words(row)[1] ?? '').join('\n');
      },
    }),
    all_status: simple('Everything the other functions report, in one answer.', 'all_status', async (ctx) =>
      newDict([
        ['cpuinfo', cpuInfo()],
        ['cpustats', cpuStats()],
        ['diskstats', diskStats()],
        ['diskusage', diskUsage([])],
        ['loadavg', loadAverage()],
        ['meminfo', memInfo()],
        ['netdev', netDev()],
        ['netstats', netStats()],
        ['uptime', await uptime(ctx)],
        ['vmstats', vmStats()],
        ['w', await loggedIn(ctx)],
      ]),
    ),
    master: fn({
      doc: 'Whether this minion is connected to a master; None when the name cannot be resolved.',
      examples: ["salt '*' status.master"],
      params: { master: p.string({ default: null }), connected: p.bool({ default: true, doc: 'accepted' }) },
      run: ({ master }, ctx) => (master ? masterConnected(master, ctx) : null),
    }),
    masters: fn({
      doc: 'The masters this running minion uses, and how it stands with each. Not in Salt.',
      examples: ["salt '*' status.masters"],
      run: async (_, ctx) => (await ctx.minion.masters?.()) ?? [],
    }),
    ping_master: fn({
      doc: 'Whether a master can be reached at its request port.',
      examples: ["salt '*' status.ping_master localhost"],
      params: { master: p.string() },
      run({ master }, ctx) {
        const port = asNumber(ctx.opts['master_port'] ?? 4506) ?? 4506;
        return master === '' ? false : canConnect(master, port, 5000);
      },
    }),
    proxy_reconnect: fn({
      doc: 'Proxy minions only: connects again when the device is not alive. False where nothing can tell, and on other minions.',
      examples: ["salt '*' status.proxy_reconnect rest_sample"],
      params: { proxy_name: p.string(), opts: p.ignored({ default: null }) },
      inline: true,
      run: async ({ proxy_name }, ctx) => (ctx.proxy?.type === proxy_name ? ctx.proxy.reconnect() : false),
    }),
    time: fn({
      doc: 'The minion’s local time, written by a pattern.',
      examples: ["salt '*' status.time", "salt '*' status.time '%s'"],
      params: { format: p.string({ default: '%A, %d. %B %Y %I:%M%p' }) },
      run: ({ format }) => strftime(new Date(), format),
    }),
  },
});
