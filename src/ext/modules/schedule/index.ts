// Execution module `schedule`: the schedule of this minion.
import { cleanKwargs, defineModule, fn, isDict, isTruthy, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { dumpYaml } from 'halite/sdk/codec';
import { moveRun, reload, runEntryNow, send, switchAll, switchJob } from './actions.ts';
import { add, answer, modify, purge, remove } from './changes.ts';
import { buildItem } from './item.ts';
import { ask, listJobs, markSaved } from './store.ts';
import { withFormat } from './times.ts';

const itemDoc = 'function, seconds/minutes/hours/days, when, cron, once, splay, range, job_args, job_kwargs, …';
const name = p.string({ doc: 'name of the job' });
/** With `test` it only reports what it would do. */
const onlySays = (args: { readonly kwargs: PlainDict }): boolean => isTruthy(args.kwargs['test'] ?? null);

export default defineModule({
  name: 'schedule',
  doc: 'The schedule of this minion.',
  reads: ['list', 'is_enabled', 'build_schedule_item', 'show_next_fire_time', 'job_status'],
  functions: {
    list: fn({
      doc: 'The jobs of the schedule, as YAML or as data.',
      examples: [
        "salt '*' schedule.list",
        "salt '*' schedule.list show_all=True",
        "salt '*' schedule.list show_disabled=False",
      ],
      params: {
        show_all: p.bool({ default: false, doc: 'also internal jobs of the minion' }),
        show_disabled: p.bool({ default: true }),
        where: p.string({ default: null, doc: 'only those of `opts` or of `pillar`' }),
        return_yaml: p.bool({ default: true }),
        offline: p.bool({ default: false, doc: 'read the file instead of querying the scheduler' }),
      },
      async run({ show_all, show_disabled, where, return_yaml, offline }, ctx) {
        const jobs = await listJobs(ctx, { showAll: show_all, showDisabled: show_disabled, where, offline });
        if (!return_yaml) return jobs;
        markSaved(ctx, jobs);
        return dumpYaml(newDict([['schedule', jobs]]), { flow: false });
      },
    }),
    is_enabled: fn({
      doc: 'A job of the schedule; without a name whether the scheduler is enabled.',
      examples: ["salt '*' schedule.is_enabled name=job_name", "salt '*' schedule.is_enabled"],
      params: { name: p.string({ default: null, falsy: null, doc: 'name of the job' }) },
      async run({ name: asked }, ctx) {
        const jobs = await listJobs(ctx, {});
        return isTruthy(asked) ? (jobs[String(asked)] ?? newDict()) : (jobs['enabled'] ?? true);
      },
    }),
    purge: fn({
      doc: 'Removes every job from the schedule.',
      examples: ["salt '*' schedule.purge"],
      params: { kwargs: p.kwargs({ doc: 'test, persist, offline' }) },
      reads: onlySays,
      run: ({ kwargs }, ctx) => purge(cleanKwargs(kwargs), ctx),
    }),
    delete: fn({
      doc: 'Removes a job from the schedule.',
      examples: ["salt '*' schedule.delete job1"],
      params: { name, kwargs: p.kwargs({ doc: 'test, persist, offline' }) },
      reads: onlySays,
      run: ({ name: job, kwargs }, ctx) => remove(job, cleanKwargs(kwargs), ctx),
    }),
    build_schedule_item: fn({
      doc: 'Builds an entry from these arguments.',
      examples: ["salt '*' schedule.build_schedule_item job1 function='test.ping' seconds=3600"],
      params: { name, kwargs: p.kwargs({ doc: itemDoc }) },
      run: ({ name: job, kwargs }) => Promise.resolve(buildItem(job, cleanKwargs(kwargs))),
    }),
    add: fn({
      doc: 'Adds a job to the schedule.',
      examples: [
        "salt '*' schedule.add job1 function='test.ping' seconds=3600",
        `salt '*' schedule.add job2 function='cmd.run' job_args="['date >> /tmp/date.log']" seconds=60`,
        "salt '*' schedule.add job1 function='test.ping' seconds=3600 offline=True",
      ],
      params: { name, kwargs: p.kwargs({ doc: itemDoc }) },
      reads: onlySays,
      run: ({ name: job, kwargs }, ctx) => add(job, cleanKwargs(kwargs), ctx),
    }),
    modify: fn({
      doc: 'Replaces a job of the schedule.',
      examples: ["salt '*' schedule.modify job1 function='test.ping' seconds=3600"],
      params: { name, kwargs: p.kwargs({ doc: itemDoc }) },
      reads: onlySays,
      run: ({ name: job, kwargs }, ctx) => modify(job, cleanKwargs(kwargs), ctx),
    }),
    run_job: fn({
      doc: 'Runs a job of the schedule now.',
      examples: ["salt '*' schedule.run_job job1", "salt '*' schedule.run_job job1 force=True"],
      params: { name, force: p.bool({ default: false, doc: 'also when it is disabled' }) },
      run: ({ name: job, force }, ctx) => runEntryNow(job, force, ctx),
    }),
    enable_job: fn({
      doc: 'Enables a job.',
      examples: ["salt '*' schedule.enable_job job1"],
      params: { name, kwargs: p.kwargs({ doc: 'persist' }) },
      reads: (_, ctx) => ctx.test,
      run: ({ name: job, kwargs }, ctx) => switchJob(job, true, cleanKwargs(kwargs), ctx.test, ctx),
    }),
    disable_job: fn({
      doc: 'Disables a job.',
      examples: ["salt '*' schedule.disable_job job1"],
      params: { name, kwargs: p.kwargs({ doc: 'test, persist' }) },
      reads: onlySays,
      run: ({ name: job, kwargs }, ctx) =>
        switchJob(job, false, cleanKwargs(kwargs), isTruthy(kwargs['test'] ?? false), ctx),
    }),
    save: fn({
      doc: 'Writes the schedule, without the jobs of the pillar, to the minion’s configuration.',
      examples: ["salt '*' schedule.save"],
      params: { kwargs: p.kwargs({ doc: 'test' }) },
      async run({ kwargs }, ctx) {
        if (isTruthy(kwargs['test'] ?? false)) return answer({ comment: 'Schedule would be saved.', result: true });
        const told = await ask(ctx, { func: 'save_schedule' });
        return told['complete'] === true
          ? answer({ comment: 'Schedule (non-pillar items) saved.', result: true })
          : answer({ comment: 'Failed to save schedule.', result: false });
      },
    }),
    enable: fn({
      doc: 'Enables the scheduler.',
      examples: ["salt '*' schedule.enable"],
      params: { kwargs: p.kwargs({ doc: 'test, persist' }) },
      reads: onlySays,
      run: ({ kwargs }, ctx) => switchAll(true, cleanKwargs(kwargs), ctx),
    }),
    disable: fn({
      doc: 'Disables the scheduler.',
      examples: ["salt '*' schedule.disable"],
      params: { kwargs: p.kwargs({ doc: 'test, persist' }) },
      reads: onlySays,
      run: ({ kwargs }, ctx) => switchAll(false, cleanKwargs(kwargs), ctx),
    }),
    reload: fn({
      doc: 'Reads the saved schedule and that of the pillar again.',
      examples: ["salt '*' schedule.reload"],
      run: (_, ctx) => reload(ctx),
    }),
    move: fn({
      doc: 'Moves a job to other minions.',
      examples: ["salt '*' schedule.move jobname target"],
      params: { name, target: p.string({ doc: 'which minions' }), kwargs: p.kwargs({ doc: 'test' }) },
      run: ({ name: job, target, kwargs }, ctx) => send(job, target, true, isTruthy(kwargs['test'] ?? false), ctx),
    }),
    copy: fn({
      doc: 'Copies a job to other minions.',
      examples: ["salt '*' schedule.copy jobname target"],
      params: { name, target: p.string({ doc: 'which minions' }), kwargs: p.kwargs({ doc: 'test' }) },
      run: ({ name: job, target, kwargs }, ctx) => send(job, target, false, isTruthy(kwargs['test'] ?? false), ctx),
    }),
    postpone_job: fn({
      doc: 'Moves one run of a job to another time.',
      examples: ["salt '*' schedule.postpone_job job 2026-11-30T10:00:00 2026-11-30T12:00:00"],
      params: {
        name,
        current_time: p.scalar({ nullable: true, doc: 'when it would run' }),
        new_time: p.scalar({ nullable: true, doc: 'when it is to run' }),
        kwargs: p.kwargs({ doc: 'time_fmt' }),
      },
      run: ({ name: job, current_time, new_time, kwargs }, ctx) =>
        moveRun(job, { time: current_time, newTime: new_time }, cleanKwargs(kwargs), ctx),
    }),
    skip_job: fn({
      doc: 'Skips one run of a job.',
      examples: ["salt '*' schedule.skip_job job 2026-11-30T10:00:00"],
      params: {
        name,
        current_time: p.scalar({ nullable: true, doc: 'when it would run' }),
        kwargs: p.kwargs({ doc: 'time_fmt' }),
      },
      run: ({ name: job, current_time, kwargs }, ctx) => moveRun(job, { time: current_time }, cleanKwargs(kwargs), ctx),
    }),
    show_next_fire_time: fn({
      doc: 'When a job runs next.',
      examples: ["salt '*' schedule.show_next_fire_time job_name"],
      params: { name, kwargs: p.kwargs() },
      async run({ name: job }, ctx) {
        const told = await ask(ctx, { func: 'get_next_fire_time', name: job });
        return 'next_fire_time' in told
          ? answer({ result: true, next_fire_time: told['next_fire_time'] as Value })
          : answer({ result: true, comment: 'next fire time not available.' });
      },
    }),
    job_status: fn({
      doc: 'A job with its status in the scheduler.',
      examples: ["salt '*' schedule.job_status job_name"],
      params: { name, time_fmt: p.string({ default: '%Y-%m-%dT%H:%M:%S', doc: 'how times are written' }) },
      async run({ name: job, time_fmt }, ctx) {
        const told = await ask(ctx, { func: 'job_status', name: job });
        const data = told['data'];
        return isDict(data ?? null) ? withFormat(data as PlainDict, time_fmt) : newDict();
      },
    }),
  },
});
