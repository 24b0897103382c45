// State module `schedule`: jobs of the minion's schedule.
import {
  defineState,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';

const one = (name: string, word: string): PlainDict => newDict([[name, word]]);
const kwargsDoc = 'what schedule.add takes, and persist, offline';

async function jobs(ctx: StateContext, kwargs: PlainDict): Promise<PlainDict> {
  const request = newDict([
    ['show_all', true],
    ['return_yaml', false],
  ] as [string, Value][]);
  if (isTruthy(kwargs['offline'])) request['offline'] = true;
  return textKeyed(await ctx.callWith('schedule.list', [], request));
}

/** Calls the execution function; under test the function only reports, and the planned change is shown. */
async function tell(
  ctx: StateContext,
  fun: string,
  { name, kwargs }: { name: string; kwargs: PlainDict },
  done: string,
  planned?: PlainDict,
): Promise<StateResult> {
  // The function has a test mode of its own.
  const told = textKeyed(await ctx.callWith(fun, [name], { ...kwargs, ...(ctx.test ? { test: true } : {}) }));
  const comment = pyStr(told['comment'] ?? '');
  const changes = textKeyed(told['changes']);
  if (!isTruthy(told['result'])) return ctx.fail(comment, { changes });
  return withForecast(
    ctx,
    () => ctx.result({ result: null, comment, changes: planned ?? changes }),
    () => ctx.ok(done, { changes }),
  );
}

const present = state({
  doc: 'A job is in the schedule, with these settings.',
  examples: [
    'job1:\n  schedule.present:\n    - function: state.sls\n    - job_args:\n      - httpd\n    - minutes: 30',
  ],
  params: { name: p.string({ doc: 'name of the job' }), kwargs: p.kwargs({ doc: kwargsDoc }) },
  async run(job, ctx) {
    const { name, kwargs } = job;
    const current = await jobs(ctx, kwargs);
    if (!(name in current))
      return tell(ctx, 'schedule.add', job, `Adding new job ${name} to schedule`, one(name, 'added'));
    const item = textKeyed(await ctx.callWith('schedule.build_schedule_item', [name], kwargs));
    if ('result' in item && !isTruthy(item['result'])) return ctx.fail(pyStr(item['comment'] ?? ''));
    if (pyEquals(item, current[name] ?? null)) return ctx.ok(`Job ${name} in correct state`);
    return tell(ctx, 'schedule.modify', job, `Modifying job ${name} in schedule`);
  },
});

const absent = state({
  doc: 'A job is not in the schedule.',
  examples: ['job1:\n  schedule.absent'],
  params: { name: p.string({ doc: 'name of the job' }), kwargs: p.kwargs({ doc: 'persist, offline' }) },
  async run(job, ctx) {
    const { name, kwargs } = job;
    if (!(name in (await jobs(ctx, kwargs)))) return ctx.ok(`Job ${name} not present in schedule`);
    return tell(ctx, 'schedule.delete', job, `Removed job ${name} from schedule`, one(name, 'removed'));
  },
});

const switched = (fun: 'enable_job' | 'disable_job', word: string) =>
  state({
    doc: `A job of the schedule is ${word.toLowerCase()}.`,
    examples: [`job1:\n  schedule.${word.toLowerCase()}`],
    params: { name: p.string({ doc: 'name of the job' }), kwargs: p.kwargs({ doc: 'persist' }) },
    async run(given, ctx) {
      const { name, kwargs } = given;
      const job = (await jobs(ctx, kwargs))[name];
      if (job === undefined) return ctx.ok(`Job ${name} not present in schedule`);
      const done = `${word} job ${name} from schedule`;
      const wanted = fun === 'enable_job';
      if ((textKeyed(job)['enabled'] !== false) === wanted) return ctx.ok(done);
      return tell(ctx, `schedule.${fun}`, given, done, one(name, word.toLowerCase()));
    },
  });

export default defineState({
  name: 'schedule',
  doc: 'Jobs of the minion’s schedule.',
  functions: {
    present,
    absent,
    enabled: switched('enable_job', 'Enabled'),
    disabled: switched('disable_job', 'Disabled'),
  },
});
