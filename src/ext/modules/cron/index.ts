// Execution module `cron`: jobs in the crontabs of users.
import { randomInt } from 'node:crypto';
import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import {
  installFile,
  isMeant,
  type Job,
  needsChange,
  noIdentifier,
  readRaw,
  readTable,
  type Special,
  type Table,
  type TimeField,
  timeFields,
  writeTable,
} from '../../shared/cron/table.ts';

type Times = Record<TimeField, string>;
const entryDict = (entry: object): PlainDict => newDict(Object.entries(entry) as [string, Value][]);
const tableDict = (table: Table): PlainDict =>
  newDict([
    ['pre', table.pre],
    ['crons', table.crons.map(entryDict)],
    ['special', table.special.map(entryDict)],
    ['env', table.env.map(entryDict)],
  ]);

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  minute: [0, 59],
  hour: [0, 23],
  month: [1, 12],
  dayweek: [0, 6],
};

/** Chooses a number for `random` or a range `5:10`. */
function chosenTimes(times: Times): Times {
  const made = { ...times };
  for (const field of ['minute', 'hour', 'month', 'dayweek'] as const) {
    const [low, high] = ranges[field] as readonly [number, number];
    const range = /^(\d+):(\d+)$/.exec(times[field]);
    if (times[field] === 'random') made[field] = String(randomInt(low, high + 1));
    else if (range) {
      const [from, to] = [Number(range[1]), Number(range[2])].sort((a, b) => a - b) as [number, number];
      made[field] = String(randomInt(from, to + 1));
    }
  }
  const days = ['4', '6', '9', '11'].includes(made.month)
    ? 30
    : ['1', '3', '5', '7', '8', '10', '12'].includes(made.month)
      ? 31
      : 28;
  if (times.daymonth === 'random') made.daymonth = String(randomInt(1, days + 1));
  return made;
}

interface CronEntry {
  readonly cmd: string;
  readonly comment: string | null;
  readonly commented: boolean;
  readonly identifier: Value;
}

/** Whether an entry must change to match a request; `own` are the fields of this kind of entry. */
function differs(
  entry: Job | Special,
  request: CronEntry,
  own: readonly (readonly [Value | undefined, Value])[],
): boolean {
  const fields = [
    [entry.comment, request.comment],
    [entry.commented, request.commented],
    [request.identifier, entry.identifier ?? noIdentifier],
    [entry.cmd, request.cmd],
    ...own,
  ] as const;
  return fields.some(([old, now]) => needsChange(old, now));
}

const kept = <T extends Value>(old: T, now: T): T => (needsChange(old, now) ? now : old);
const identifierText = (identifier: Value): string | null => (identifier ? pyStr(identifier) : null);

/** Adds or changes an entry: `new`, `updated`, `present`, or crontab's error message. */
async function put(
  user: string,
  request: CronEntry,
  times: Times | undefined,
  spec: string | undefined,
  ctx: ModuleContext,
): Promise<string> {
  const table = await readTable(user, ctx);
  const entry = [...table.crons, ...table.special].find((item) => isMeant(item, request.cmd, request.identifier));
  let identifier = identifierText(request.identifier);
  let made: CronEntry = request;
  let chosen = times;
  if (entry) {
    const old = entry as Partial<Job & Special> & (Job | Special);
    const own = times
      ? [...timeFields.map((field) => [old[field], times[field]] as const), [old.spec, null] as const]
      : [[old.spec, spec ?? null] as const];
    const otherKind = times ? 'spec' in entry : !('spec' in entry);
    if (!otherKind && !differs(entry, request, own)) return 'present';
    if (times)
      chosen = Object.fromEntries(timeFields.map((field) => [field, kept(old[field] ?? '*', times[field])])) as Times;
    made = { ...request, comment: kept(entry.comment, request.comment), commented: request.commented };
    identifier = entry.identifier && !needsChange(entry.identifier, identifier) ? entry.identifier : identifier;
    const list: (Job | Special)[] = 'spec' in entry ? table.special : table.crons;
    list.splice(list.indexOf(entry), 1);
  }
  const common = { cmd: made.cmd, identifier, comment: made.comment, commented: made.commented };
  if (chosen) table.crons.push({ ...common, ...chosenTimes(chosen) });
  else table.special.push({ spec: spec ?? '', ...common });
  return (await writeTable(user, table, ctx)) ?? (entry ? 'updated' : 'new');
}

async function take<T extends Job | Special>(
  user: string,
  pick: (table: Table) => T[],
  fits: (entry: T) => boolean,
  ctx: ModuleContext,
): Promise<string> {
  const table = await readTable(user, ctx);
  const list = pick(table);
  const at = list.findIndex(fits);
  if (at < 0) return 'absent';
  list.splice(at, 1);
  return (await writeTable(user, table, ctx)) ?? 'removed';
}

async function setEnv(user: string, name: string, value: string | null, ctx: ModuleContext): Promise<string> {
  const table = await readTable(user, ctx);
  const at = table.env.findIndex((variable) => variable.name === name);
  const wanted = value === null ? null : pyStr(value);
  if (at >= 0 && table.env[at]?.value === wanted) return 'present';
  if (at >= 0) table.env.splice(at, 1);
  table.env.push({ name, value: wanted });
  return (await writeTable(user, table, ctx)) ?? (at >= 0 ? 'updated' : 'new');
}

const user = p.string({ doc: 'whose crontab' });
const time = p.string({ default: null });
const cmd = p.string({ doc: 'the command' });
const entryParams = {
  commented: p.bool({ default: false, doc: 'add it as a comment' }),
  comment: p.string({ default: null }),
  identifier: p.string({ default: null, falsy: null, doc: 'name of the entry, so that its command may change' }),
};
const small = (value: string): string => value.toLowerCase();
const jobParams = {
  user,
  minute: p.string(),
  hour: p.string(),
  daymonth: p.string(),
  month: p.string(),
  dayweek: p.string(),
  cmd,
  ...entryParams,
};

const list = fn({
  doc: 'The crontab of a user as data.',
  examples: ["salt '*' cron.list_tab root"],
  params: { user },
  run: async (args, ctx) => tableDict(await readTable(args.user, ctx)),
});
const rmJob = fn({
  doc: 'Removes a job.',
  examples: ["salt '*' cron.rm_job root /usr/local/weekly"],
  params: {
    user,
    cmd,
    minute: time,
    hour: time,
    daymonth: time,
    month: time,
    dayweek: time,
    identifier: p.string({ default: null, falsy: null }),
  },
  run(args, ctx) {
    const fits = (entry: Job): boolean =>
      isMeant(entry, args.cmd, args.identifier) &&
      timeFields.every(
        (field) =>
          args[field] === null ||
          entry[field] === args[field] ||
          (small(args[field]) === 'random' && entry[field] !== '*'),
      );
    return take(args.user, (table) => table.crons, fits, ctx);
  },
});

export default defineModule({
  name: 'cron',
  doc: 'Jobs in the crontabs of users.',
  available: () => which('crontab') !== null || 'Cannot load cron module: crontab command not found',
  reads: ['list_tab', 'ls', 'raw_cron', 'get_entry'],
  functions: {
    list_tab: list,
    ls: list,
    raw_cron: fn({
      doc: 'The crontab of a user as text.',
      examples: ["salt '*' cron.raw_cron root"],
      params: { user },
      run: (args, ctx) => readRaw(args.user, ctx),
    }),
    write_cron_file: fn({
      doc: 'Replaces the crontab of a user by a file.',
      examples: ["salt '*' cron.write_cron_file root /tmp/new_cron"],
      params: { user, path: p.path() },
      run: async (args, ctx) => (await installFile(args.user, args.path, ctx)).retcode === 0,
    }),
    write_cron_file_verbose: fn({
      doc: 'Replaces the crontab of a user by a file and returns what cmd.run_all does.',
      examples: ["salt '*' cron.write_cron_file_verbose root /tmp/new_cron"],
      params: { user, path: p.path() },
      async run(args, ctx) {
        const { pid, retcode, stdout, stderr } = await installFile(args.user, args.path, ctx);
        return newDict(Object.entries({ pid, retcode, stdout: stdout.trim(), stderr: stderr.trim() }));
      },
    }),
    get_entry: fn({
      doc: 'One entry, by its identifier or command; False when there is none.',
      examples: ["salt '*' cron.get_entry root identifier=task1"],
      params: { user, identifier: p.string({ default: null, falsy: null }), cmd: p.string({ default: null }) },
      async run(args, ctx) {
        const table = await readTable(args.user, ctx);
        const entry = [...table.crons, ...table.special].find((item) =>
          args.identifier ? item.identifier === args.identifier : item.cmd === args.cmd,
        );
        return entry ? entryDict(entry) : false;
      },
    }),
    set_job: fn({
      doc: 'Adds a job or changes it: new, updated or present.',
      examples: [`salt '*' cron.set_job root '*' '*' '*' '*' 1 /usr/local/weekly`],
      params: jobParams,
      run({ user: whose, cmd: command, comment, commented, identifier, ...times }, ctx) {
        const wanted = Object.fromEntries(timeFields.map((field) => [field, small(times[field])])) as Times;
        return put(whose, { cmd: command, comment, commented, identifier }, wanted, undefined, ctx);
      },
    }),
    set_special: fn({
      doc: 'Adds a job that runs at a special time (@daily, @reboot) or changes it.',
      examples: [`salt '*' cron.set_special root @hourly 'echo foobar'`],
      params: { user, special: p.string(), cmd, ...entryParams },
      run: ({ user: whose, special, cmd: command, ...request }, ctx) =>
        put(whose, { cmd: command, ...request }, undefined, special, ctx),
    }),
    rm_job: rmJob,
    rm: rmJob,
    rm_special: fn({
      doc: 'Removes a job that runs at a special time.',
      examples: [`salt '*' cron.rm_special root /usr/bin/foo`],
      params: { user, cmd, special: p.string({ default: null }), identifier: p.string({ default: null, falsy: null }) },
      run: (args, ctx) =>
        take(
          args.user,
          (table) => table.special,
          (entry) =>
            isMeant(entry, args.cmd, args.identifier) && (args.special === null || entry.spec === args.special),
          ctx,
        ),
    }),
    set_env: fn({
      doc: 'Sets a variable in a crontab: new, updated or present.',
      examples: ["salt '*' cron.set_env root MAILTO user@example.com"],
      params: { user, name: p.string(), value: p.string({ default: null }) },
      run: (args, ctx) => setEnv(args.user, args.name, args.value, ctx),
    }),
    rm_env: fn({
      doc: 'Removes a variable from a crontab.',
      examples: ["salt '*' cron.rm_env root MAILTO"],
      params: { user, name: p.string() },
      async run(args, ctx) {
        const table = await readTable(args.user, ctx);
        const at = table.env.findIndex((variable) => variable.name === args.name);
        if (at < 0) return 'absent';
        table.env.splice(at, 1);
        return (await writeTable(args.user, table, ctx)) ?? 'removed';
      },
    }),
  },
});
