// Execution module `system`: date, time and name of the machine; restart and shutdown.

import { hostname } from 'node:os';
import { commandError, defineModule, fn, invocationError, type ModuleContext, p, type Value } from 'halite/sdk';
import { pathExists, readText, writeFileSync } from 'halite/sdk/fs';
import { askTool, runTool, which } from 'halite/sdk/system';
import { strftime } from 'halite/sdk/time';

/** Minutes east of UTC in `+0130`. */
function offsetMinutes(offset: string): number {
  const match = /^([+-])?(\d\d)(\d\d)$/.exec(offset);
  if (!match) throw invocationError('Invalid UTC offset');
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}

/** Now, shifted so that its local fields read as the time at that offset. */
function nowAt(offset: string | null): Date {
  const now = new Date();
  return offset === null ? now : new Date(now.getTime() + (offsetMinutes(offset) + now.getTimezoneOffset()) * 60_000);
}

interface DateParts {
  readonly years?: number | null;
  readonly months?: number | null;
  readonly days?: number | null;
  readonly hours?: number | null;
  readonly minutes?: number | null;
  readonly seconds?: number | null;
}

async function hasHardwareClock(ctx: ModuleContext): Promise<boolean> {
  return which('hwclock') !== null && (await askTool(ctx, 'hwclock', ['--test', '--systohc'])).retcode === 0;
}

async function setDateTime(parts: DateParts, offset: string | null, ctx: ModuleContext): Promise<boolean> {
  const base = nowAt(offset);
  const fields = [
    parts.years ?? base.getFullYear(),
    (parts.months ?? base.getMonth() + 1) - 1,
    parts.days ?? base.getDate(),
    parts.hours ?? base.getHours(),
    parts.minutes ?? base.getMinutes(),
    parts.seconds ?? base.getSeconds(),
  ] as const;
  const wanted = new Date(...fields);
  if (wanted.getMonth() !== fields[1] || wanted.getDate() !== fields[2] || wanted.getHours() !== fields[3]) {
    throw invocationError('That is no valid date and time');
  }
  const seconds =
    (wanted.getTime() - (offset === null ? 0 : (offsetMinutes(offset) + wanted.getTimezoneOffset()) * 60_000)) / 1000;
  const { retcode, stderr } = await runTool(ctx, 'date', ['-u', '-s', `@${Math.floor(seconds)}`]);
  if (retcode !== 0) throw commandError(`date failed: ${stderr.trim()}`);
  if (await hasHardwareClock(ctx)) await runTool(ctx, 'hwclock', ['--systohc']);
  return true;
}

function parseTime(text: string): DateParts | undefined {
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([AaPp])[Mm])?$/.exec(text.trim());
  if (!match) return undefined;
  const hour = Number(match[1]);
  const half = match[4]?.toLowerCase();
  if (Number(match[2]) > 59 || Number(match[3] ?? 0) > 59 || hour > (half ? 12 : 23) || (half && hour < 1))
    return undefined;
  return {
    hours: half ? (hour % 12) + (half === 'p' ? 12 : 0) : hour,
    minutes: Number(match[2]),
    seconds: Number(match[3] ?? 0),
  };
}

function parseDate(text: string): DateParts {
  const year = (digits: string): number =>
    digits.length === 4 ? Number(digits) : Number(digits) + (Number(digits) < 69 ? 2000 : 1900);
  const iso = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(text.trim());
  const american = /^(\d{1,2})[-/](\d{1,2})[-/](\d{4}|\d{2})$/.exec(text.trim());
  if (iso) return { years: Number(iso[1]), months: Number(iso[2]), days: Number(iso[3]) };
  if (american) return { years: year(american[3] as string), months: Number(american[1]), days: Number(american[2]) };
  throw invocationError('Invalid date format');
}

const unescapeText = (text: string): string =>
  text.replaceAll('\\\\', '\\').replaceAll('\\"', '"').replaceAll('\\n', '\n').replaceAll('\\t', '\t');

async function description(ctx: ModuleContext): Promise<Value> {
  if (which('hostnamectl') && pathExists('/run/systemd/system')) {
    return unescapeText((await askTool(ctx, 'hostnamectl', ['status', '--pretty'])).stdout.trimEnd());
  }
  const line = /^\s*PRETTY_HOSTNAME=(.*)$/m.exec(readText('/etc/machine-info') ?? '')?.[1]?.trim();
  return line === undefined ? false : unescapeText(line.replace(/^(["'])(.*)\1$/, '$2'));
}

async function setDescription(text: string, ctx: ModuleContext): Promise<boolean> {
  const escaped = text.replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  if (which('hostnamectl') && pathExists('/run/systemd/system')) {
    return (await runTool(ctx, 'hostnamectl', ['set-hostname', '--pretty', escaped])).retcode === 0;
  }
  const rest = (readText('/etc/machine-info') ?? '')
    .split('\n')
    .filter((line) => line !== '' && !/^\s*PRETTY_HOSTNAME=/.test(line));
  try {
    writeFileSync('/etc/machine-info', `${[...rest, `PRETTY_HOSTNAME="${escaped}"`].join('\n')}\n`);
    return true;
  } catch {
    return false;
  }
}

const offset = p.string({ default: null, doc: 'time zone as `+0100`, instead of the machine’s' });
const part = (doc: string) => p.int({ default: null, doc });
const command = (doc: string, name: string, argv: readonly string[]) =>
  fn({
    doc,
    examples: [`salt '*' system.${name}`],
    run: async (_, ctx) =>
      (await runTool(ctx, argv[0] as string, argv.slice(1), { mergeStderr: true })).stdout.trimEnd(),
  });
const atTime = (doc: string, name: string, flag: string) =>
  fn({
    doc,
    examples: [`salt '*' system.${name}`, `salt '*' system.${name} at_time=+5`],
    params: { at_time: p.string({ default: null, falsy: null, doc: 'minutes, or a time of day; now when not given' }) },
    async run(args, ctx) {
      const when = args.at_time === null || args.at_time === '' ? 'now' : args.at_time;
      return (await runTool(ctx, 'shutdown', [flag, when], { mergeStderr: true })).stdout.trimEnd();
    },
  });

export default defineModule({
  name: 'system',
  doc: 'Date, time and name of the machine; restart and shutdown.',
  available: () => process.platform === 'linux' || 'system: only Linux is supported',
  reads: [
    'get_system_date_time',
    'get_system_date',
    'get_system_time',
    'has_settable_hwclock',
    'get_computer_desc',
    'get_computer_name',
  ],
  functions: {
    get_system_date_time: fn({
      doc: 'Date and time.',
      examples: [`salt '*' system.get_system_date_time "'-0500'"`],
      params: { utc_offset: offset },
      run: (args) => strftime(nowAt(args.utc_offset), '%Y-%m-%d %H:%M:%S'),
    }),
    get_system_date: fn({
      doc: 'The date.',
      examples: ["salt '*' system.get_system_date"],
      params: { utc_offset: offset },
      run: (args) => strftime(nowAt(args.utc_offset), '%a %m/%d/%Y'),
    }),
    get_system_time: fn({
      doc: 'The time of day.',
      examples: ["salt '*' system.get_system_time"],
      params: { utc_offset: offset },
      run: (args) => strftime(nowAt(args.utc_offset), '%I:%M:%S %p'),
    }),
    set_system_date_time: fn({
      doc: 'Sets parts of date and time; the others are unchanged.',
      examples: ["salt '*' system.set_system_date_time 2015 5 12 11 37 53"],
      params: {
        years: part('year'),
        months: part('month, 1 to 12'),
        days: part('day'),
        hours: part('hour'),
        minutes: part('minute'),
        seconds: part('second'),
        utc_offset: offset,
      },
      run: (args, ctx) => setDateTime(args, args.utc_offset, ctx),
    }),
    set_system_date: fn({
      doc: 'Sets the date: YYYY-MM-DD, MM-DD-YYYY, MM/DD/YYYY and the like.',
      examples: ["salt '*' system.set_system_date '03-28-13'"],
      params: { newdate: p.string(), utc_offset: offset },
      run: (args, ctx) => setDateTime(parseDate(args.newdate), args.utc_offset, ctx),
    }),
    set_system_time: fn({
      doc: 'Sets the time of day: HH:MM, HH:MM:SS, also with AM or PM. False for an invalid time.',
      examples: [`salt '*' system.set_system_time "'11:20:02 PM'"`],
      params: { newtime: p.string(), utc_offset: offset },
      run(args, ctx) {
        const time = parseTime(args.newtime);
        return time ? setDateTime(time, args.utc_offset, ctx) : false;
      },
    }),
    has_settable_hwclock: fn({
      doc: 'Whether the hardware clock can be set.',
      examples: ["salt '*' system.has_settable_hwclock"],
      run: (_, ctx) => hasHardwareClock(ctx),
    }),
    get_computer_desc: fn({
      doc: 'The descriptive name of the machine; False when it has none.',
      examples: ["salt '*' system.get_computer_desc"],
      run: (_, ctx) => description(ctx),
    }),
    set_computer_desc: fn({
      doc: 'Sets the descriptive name of the machine.',
      examples: [`salt '*' system.set_computer_desc "Office printer server"`],
      params: { desc: p.string() },
      run: (args, ctx) => setDescription(args.desc, ctx),
    }),
    get_computer_name: fn({
      doc: 'The host name.',
      examples: ["salt '*' system.get_computer_name"],
      run: () => hostname(),
    }),
    set_computer_name: fn({
      doc: 'Sets the host name.',
      examples: ["salt '*' system.set_computer_name master.saltstack.com"],
      params: { hostname: p.string() },
      run: (args, ctx) => ctx.call('network.mod_hostname', args.hostname),
    }),
    reboot: atTime('Restarts the machine.', 'reboot', '-r'),
    shutdown: atTime('Shuts the machine down.', 'shutdown', '-h'),
    halt: command('Halts the machine.', 'halt', ['halt']),
    poweroff: command('Switches the machine off.', 'poweroff', ['poweroff']),
    init: fn({
      doc: 'Changes the run level.',
      examples: ["salt '*' system.init 3"],
      params: { runlevel: p.string() },
      run: async (args, ctx) => (await runTool(ctx, 'init', [args.runlevel], { mergeStderr: true })).stdout.trimEnd(),
    }),
  },
});
