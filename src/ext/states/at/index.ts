// State module `at`: commands that run once at a later time.
import {
  type ArgsOf,
  defineState,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const params = {
  name: p.string({ doc: 'the command, or any text' }),
  timespec: p.string({ doc: 'when, as at(1) reads it' }),
  tag: p.scalar({ default: null, doc: 'a tag to identify the job' }),
  user: p.scalar({ default: null, doc: 'run as this user' }),
  job: p.scalar({ default: null, doc: 'the command' }),
  unique_tag: p.bool({ default: false, doc: 'only one job with this tag' }),
};

type Job = ArgsOf<typeof params>;

const jobsIn = (value: Value | undefined): Value[] => (Array.isArray(value) ? value : []);

async function add(args: Job, ctx: StateContext): Promise<StateResult> {
  const command = pyStr(args.job || args.name);
  if (args.unique_tag) {
    if (!args.tag) return ctx.fail('no tag provided and unique_tag is set to True');
    const found = textKeyed(await ctx.callWith('at.jobcheck', [], newDict([['tag', args.tag]])));
    if (jobsIn(found['jobs']).length > 0) return ctx.ok(`atleast one job with tag ${pyStr(args.tag)} exists.`);
  }
  if (args.user && Object.keys(textKeyed(await ctx.call('user.info', args.user))).length === 0)
    return ctx.fail(`user ${pyStr(args.user)} does not exists`);
  return ctx.change(newDict(), '', {
    test: `job ${command} added and will run on ${args.timespec}`,
    async apply() {
      const kwargs = newDict([['tag', args.tag], ...(args.user ? [['runas', args.user] as [string, Value]] : [])]);
      const made = textKeyed(await ctx.callWith('at.at', [args.timespec, command], kwargs));
      const changes = textKeyed(jobsIn(made['jobs'])[0] ?? null);
      const who = args.user ? ` as ${pyStr(args.user)}` : '';
      if (made['error'] !== undefined) return ctx.fail(pyStr(made['error']), { changes });
      return ctx.ok(`job ${command} added and will run${who} on ${args.timespec}`, { changes });
    },
  });
}

async function removeOne(id: Value, ctx: StateContext): Promise<StateResult | undefined> {
  const found = jobsIn(textKeyed(await ctx.call('at.atq', id))['jobs']).map(textKeyed);
  if (found.length === 0) return ctx.ok(`job with id ${pyStr(id)} not present`);
  if (found.length > 1) return ctx.fail(`more than one job was return for job with id ${pyStr(id)}`);
  if (!found[0]?.['job']) return undefined;
  return ctx.change(newDict(), '', {
    test: 'removed ? job(s)',
    async apply() {
      const gone = jobsIn(textKeyed(textKeyed(await ctx.call('at.atrm', id))['jobs'])['removed']);
      const fine = gone.map(pyStr).includes(pyStr(id));
      return ctx.result({
        result: fine,
        comment: fine ? `job with id ${pyStr(id)} was removed` : `failed to remove job with id ${pyStr(id)}`,
        changes: newDict([['removed', gone]]),
      });
    },
  });
}

async function removeMany(conditions: PlainDict, ctx: StateContext): Promise<StateResult> {
  const all = Object.keys(conditions).length === 0;
  const found = textKeyed(all ? await ctx.call('at.atq') : await ctx.callWith('at.jobcheck', [], conditions));
  const ids = jobsIn(found['jobs']).map((job) => pyStr(textKeyed(job)['job'] ?? ''));
  if (ids.length === 0) return ctx.ok('removed 0 job(s)');
  return ctx.change(newDict(), '', {
    test: 'removed ? job(s)',
    async apply() {
      const done = textKeyed(textKeyed(await ctx.call('at.atrm', ...(all ? ['all'] : ids)))['jobs']);
      const gone = jobsIn(done['removed']);
      return ctx.ok(`removed ${gone.length} job(s)`, { changes: newDict(gone.length > 0 ? [['removed', gone]] : []) });
    },
  });
}

export default defineState({
  name: 'at',
  doc: 'Commands that run once at a later time.',
  available: needsFunction('at.at', 'at module could not be loaded'),
  functions: {
    present: state({
      doc: 'A job that must be queued.',
      examples: [
        '/usr/local/bin/backup:\n  at.present:\n    - timespec: 23:30\n    - tag: backup\n    - unique_tag: true',
      ],
      params,
      run: add,
    }),
    absent: state({
      doc: 'Jobs that must not be queued: one by its number, those that match (runas, tag, hour, …), or all.',
      examples: ['backup:\n  at.absent:\n    - tag: backup'],
      params: {
        name: p.string({ doc: 'any text' }),
        jobid: p.scalar({ default: null, doc: 'the number of one job' }),
        kwargs: p.kwargs({ doc: 'runas, tag, hour, minute, day, month, year' }),
      },
      async run(args, ctx) {
        if (args.kwargs['limit'] !== undefined) return ctx.fail(`limit parameter not supported ${args.name}`);
        const one = args.jobid ? await removeOne(args.jobid, ctx) : undefined;
        return one ?? removeMany(args.kwargs, ctx);
      },
    }),
    watch: state({
      doc: 'A job that is added when something it watches changes.',
      examples: [
        '/usr/local/bin/backup:\n  at.watch:\n    - timespec: now + 5 minutes\n    - watch:\n      - file: /etc/x',
      ],
      params,
      run: (_args, ctx) => ctx.ok(''),
    }),
  },
  modWatch: state({
    doc: 'Adds the job.',
    params,
    run: (args, ctx) => (ctx.watchedFunction === 'watch' ? add(args, ctx) : ctx.fail('')),
  }),
});
