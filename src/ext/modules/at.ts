// Execution module `at`: commands that run once at a later time.
import {
  commandError,
  defineModule,
  dictGet,
  fn,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

async function ask(binary: string, args: readonly string[], ctx: ModuleContext): Promise<string> {
  const path = which(binary);
  if (path === null) throw commandError(`${binary}: command not found`);
  return pyStr(await ctx.callWith('cmd.run_stdout', [[path, ...args]], { python_shell: false }));
}

/** `Mon Jan 12 10:00:00 2026 a root` → date, time, queue, user. */
function when(spec: string): string[] {
  const [, month = '', day = '', time = '', year = '', queue = '', user = ''] = spec.trim().split(/\s+/);
  const number = String(months.indexOf(month) + 1).padStart(2, '0');
  // Red Hat's output has the same fields, but Salt shows them unchanged there.
  return [`${year}-${number}-${day.padStart(2, '0')}`, `${time.slice(0, 5)}:00`, queue, user];
}

async function jobs(tag: Value, ctx: ModuleContext): Promise<PlainDict[]> {
  const redHat = dictGet(ctx.grains, 'os_family') === 'RedHat';
  const found: PlainDict[] = [];
  for (const line of lines(await (redHat ? ask('at', ['-l'], ctx) : ask('atq', [], ctx)))) {
    const [job = '', spec = ''] = line.split('\t');
    if (job === '') continue;
    const [date = '', time = '', queue = '', user = ''] = redHat ? spec.trim().split(/\s+/) : when(spec);
    const text = await ask('at', ['-c', job], ctx);
    const label = [...text.matchAll(/^### SALT: (\w+)/gm)].at(-1)?.[1] ?? '';
    const id = Number(job);
    if (tag && tag !== label && tag !== id && pyStr(tag) !== job) continue;
    found.push(
      newDict([
        ['job', id],
        ['date', date],
        ['time', time],
        ['queue', queue],
        ['user', user],
        ['tag', label],
      ]),
    );
  }
  return found;
}

const listed = async (tag: Value, ctx: ModuleContext): Promise<PlainDict> => newDict([['jobs', await jobs(tag, ctx)]]);

async function remove(wanted: readonly string[], ctx: ModuleContext): Promise<PlainDict> {
  const answer = (removed: string[], tag: string | null): PlainDict =>
    newDict([
      [
        'jobs',
        newDict([
          ['removed', removed],
          ['tag', tag],
        ]),
      ],
    ]);
  if (wanted.length === 0) return answer([], null);
  const tag = wanted[0] === 'all' ? (wanted[1] ?? null) : null;
  const ids = (await jobs(tag, ctx)).map((job) => pyStr(job['job'] ?? ''));
  const gone = wanted[0] === 'all' ? ids : ids.filter((id) => wanted.includes(id));
  if (gone.length > 0) await ask('at', ['-d', ...gone], ctx);
  return answer(gone, tag);
}

async function add(args: readonly Value[], kwargs: PlainDict, ctx: ModuleContext): Promise<Value> {
  const [timespec, ...words] = args.map(pyStr);
  const path = which('at');
  if (timespec === undefined || words.length === 0) return newDict([['jobs', []]]);
  if (path === null) return "'at.at' is not available.";
  const command = words.join(' ');
  const tag = kwargs['tag'];
  const said = pyStr(
    await ctx.callWith('cmd.run', [[path, timespec]], {
      stdin: tag === undefined || tag === null ? command : `### SALT: ${pyStr(tag)}\n${command}`,
      python_shell: false,
      ...(kwargs['runas'] ? { runas: kwargs['runas'] } : {}),
    }),
  );
  if (said.endsWith('Garbled time'))
    return newDict([
      ['jobs', []],
      ['error', 'invalid timespec'],
    ]);
  const id = /^job (\d+)/m.exec(said)?.[1];
  if (id === undefined) throw commandError(said);
  return listed(Number(id), ctx);
}

/** The jobs that match every given condition. */
async function matching(conditions: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const { runas, tag, hour, minute, day, month, year } = conditions as Partial<
    Record<'runas' | 'tag' | 'hour' | 'minute' | 'day' | 'month' | 'year', Value>
  >;
  const two = (value: Value): string => pyStr(value).padStart(2, '0');
  const full = year && pyStr(year).length === 2 ? `20${pyStr(year)}` : year;
  const all = await jobs(null, ctx);
  const found = all.filter((job) => {
    const [years, monthOf, dayOf] = pyStr(job['date'] ?? '').split('-');
    const [hours, minutes] = pyStr(job['time'] ?? '').split(':');
    return (
      (!runas || runas === job['user']) &&
      (!tag || tag === job['tag']) &&
      (!hour || two(hour) === hours) &&
      (!minute || two(minute) === minutes) &&
      (!day || two(day) === dayOf) &&
      (!month || two(month) === monthOf) &&
      (!full || pyStr(full) === years)
    );
  });
  const none = all.length > 0 && found.length === 0;
  return newDict([
    ['jobs', found],
    ...(none ? [['note', 'No match jobs or time format error'] as [string, Value]] : []),
  ]);
}

export default defineModule({
  name: 'at',
  doc: 'Commands that run once at a later time.',
  // Salt has two modules of this name and gives the reasons of both.
  available: () =>
    which('at') !== null ||
    'The at module could not be loaded: at command not found; The at module could not be loaded: unsupported platform',
  reads: ['atq', 'atc', 'jobcheck'],
  functions: {
    atq: fn({
      doc: 'The waiting jobs.',
      examples: ["salt '*' at.atq", "salt '*' at.atq backup"],
      params: { tag: p.string({ default: null, falsy: null, doc: 'only this tag or number' }) },
      run: (args, ctx) => listed(args.tag, ctx),
    }),
    atrm: fn({
      doc: 'Removes jobs: numbers, `all`, or `all` and a tag.',
      examples: ["salt '*' at.atrm 1 2", "salt '*' at.atrm all backup"],
      params: { args: p.rest({ doc: 'numbers, or all' }) },
      run: (args, ctx) => remove(args.args.map(pyStr), ctx),
    }),
    at: fn({
      doc: 'Adds a job: when, and the command.',
      examples: ["salt '*' at.at 12:05am '/usr/local/bin/backup' tag=backup"],
      params: { args: p.rest({ doc: 'when, then the command' }), kwargs: p.kwargs({ doc: 'tag, runas' }) },
      run: (args, ctx) => add(args.args, args.kwargs, ctx),
    }),
    atc: fn({
      doc: 'What a job will run.',
      examples: ["salt '*' at.atc 5"],
      params: { jobid: p.string({ doc: 'its number' }) },
      async run(args, ctx) {
        const text = await ask('at', ['-c', args.jobid], ctx);
        return text === '' ? newDict([['error', `invalid job id '${args.jobid}'`]]) : text;
      },
    }),
    jobcheck: fn({
      doc: 'The jobs that match: runas, tag, hour, minute, day, month, year.',
      examples: ["salt '*' at.jobcheck runas=jam day=13"],
      params: { kwargs: p.kwargs({ doc: 'conditions' }) },
      run: (args, ctx) =>
        Object.keys(args.kwargs).length === 0
          ? newDict([['error', 'You have given a condition']])
          : matching(args.kwargs, ctx),
    }),
  },
});
