// Enables, skips, moves and queries jobs of the schedule.

import { dirname, join } from 'node:path';
import {
  type Dict,
  dictGet,
  dictKeys,
  isDict,
  isTruthy,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  pyStr,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { readFileSync } from 'halite/sdk/fs';
import { parseTime } from 'halite/sdk/time';
import { answer, persistOf } from './changes.ts';
import { ask, listJobs, whereIs } from './store.ts';

const jobIn = (told: PlainDict, name: string): PlainDict | undefined => {
  const job = isDict(told['schedule'] ?? null) ? dictGet(told['schedule'] as Dict, name) : undefined;
  return isDict(job) ? textKeyed(job) : undefined;
};

/** Enables or disables one job. */
export async function switchJob(
  name: string,
  on: boolean,
  kwargs: PlainDict,
  test: boolean,
  ctx: ModuleContext,
): Promise<PlainDict> {
  const [enabled, Enabled] = on ? ['enabled', 'Enabled'] : ['disabled', 'Disabled'];
  const ret = answer({ comment: [], result: true, changes: newDict() });
  if (test) return Object.assign(ret, { comment: `Job: ${name} would be ${enabled} in schedule.` });
  const where = await whereIs(ctx, name);
  if (!where) return Object.assign(ret, { comment: `Job ${name} does not exist.`, result: false });
  const persist = where === 'pillar' ? false : persistOf(kwargs);
  const job = jobIn(await ask(ctx, { name, func: on ? 'enable_job' : 'disable_job', persist }), name);
  if (!job || (job['enabled'] !== false) !== on)
    return Object.assign(ret, {
      comment: `Failed to ${on ? 'enable' : 'disable'} job ${name} in schedule.`,
      result: false,
    });
  const changes = answer({ [name]: enabled });
  return Object.assign(ret, { comment: `${Enabled} Job ${name} in schedule.`, changes });
}

/** Enables or disables the whole scheduler. */
export async function switchAll(on: boolean, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const [enable, Enabled] = on ? ['enable', 'Enabled'] : ['disable', 'Disabled'];
  const ret = answer({ comment: [], changes: newDict(), result: true });
  if (isTruthy(kwargs['test'])) return Object.assign(ret, { comment: `Schedule would be ${enable}d.` });
  const told = await ask(ctx, { func: enable, persist: persistOf(kwargs) });
  const schedule = textKeyed(told['schedule']);
  if (schedule['enabled'] !== on)
    return Object.assign(ret, { comment: `Failed to ${enable} schedule on minion.`, result: false });
  const changes = answer({ schedule: `${enable}d` });
  return Object.assign(ret, { comment: `${Enabled} schedule on minion.`, changes });
}

export async function runEntryNow(name: string, force: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const job = (await listJobs(ctx, { showAll: true }))[name];
  if (job === undefined) return answer({ comment: `Job ${name} does not exist.`, result: false });
  if (isDict(job) && dictGet(job, 'enabled') === false && !force)
    return answer({ comment: `Job ${name} is disabled.`, result: true });
  const told = await ask(ctx, { func: 'run_job', name });
  return told['complete'] === true
    ? answer({ comment: `Scheduling Job ${name} on minion.`, result: true })
    : answer({ comment: `Failed to run job ${name} on minion.`, result: false });
}

export interface Times {
  readonly time: Value;
  /** The new time of a postponed run. */
  readonly newTime?: Value;
}

/** Skips or moves one run of a job. */
export async function moveRun(name: string, times: Times, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const postpone = times.newTime !== undefined;
  const format = isTruthy(kwargs['time_fmt']) ? pyStr(kwargs['time_fmt'] as Value) : '%Y-%m-%dT%H:%M:%S';
  const refuse = (comment: string): PlainDict => answer({ comment, result: false });
  if (!name) return refuse('Job name is required.');
  if (!isTruthy(times.time)) return refuse(postpone ? 'Job current time is required.' : 'Job time is required.');
  const unread = 'Date string could not be parsed.';
  if (!parseTime(pyStr(times.time), format)) return refuse(unread);
  if (postpone && !isTruthy(times.newTime)) return refuse('Job new_time is required.');
  if (postpone && !parseTime(pyStr(times.newTime as Value), format)) return refuse(unread);
  if (ctx.test)
    return answer({
      comment: `Job: ${name} would be ${postpone ? 'postponed' : 'skipped'} in schedule.`,
      result: true,
    });
  if (!(await whereIs(ctx, name))) return refuse(`Job ${name} does not exist.`);
  const told = await ask(ctx, {
    name,
    func: postpone ? 'postpone_job' : 'skip_job',
    time: pyStr(times.time),
    time_fmt: format,
    ...(postpone ? { new_time: pyStr(times.newTime as Value) } : {}),
  });
  const job = jobIn(told, name);
  if (!job || job['enabled'] === false)
    return refuse(`Failed to ${postpone ? 'postpone' : 'skip'} job ${name} in schedule.`);
  return answer({ comment: `${postpone ? 'Postponed' : 'Added Skip'} Job ${name} in schedule.`, result: true });
}

/** Reads the pillar's schedule and the file `schedule.conf` again. */
export async function reload(ctx: ModuleContext): Promise<PlainDict> {
  const comment: Value[] = [];
  let result = true;
  const say = (good: boolean, text: string): void => {
    comment.push(text);
    result &&= good;
  };
  if (dictGet(ctx.pillar, 'schedule') !== undefined) {
    const done = await ctx.minion.refreshPillar();
    say(done, `${done ? 'Reloaded' : 'Failed to reload'} schedule from pillar on minion.`);
  }
  const folder = pyStr(ctx.opts['conf_dir'] ?? ctx.opts['config_dir'] ?? dirname(pyStr(ctx.opts['conf_file'] ?? '')));
  const file = join(folder, dirname(pyStr(ctx.opts['default_include'] ?? 'minion.d/*.conf')), 'schedule.conf');
  const text = readText(file);
  if (text !== undefined) {
    let read: Value = null;
    try {
      read = loadYaml(text);
    } catch (error) {
      comment.push(`Unable to read existing schedule file: ${messageOf(error)}`);
    }
    const inner = isDict(read) ? dictGet(read, 'schedule') : undefined;
    if (!isDict(inner ?? null) || dictKeys(inner as Dict).length === 0)
      say(false, 'Failed to reload schedule on minion.  Saved file is empty or invalid.');
    else {
      const told = await ask(ctx, { func: 'reload', schedule: read });
      const good = told['complete'] === true;
      say(good, `${good ? 'Reloaded' : 'Failed to reload'} schedule on minion from schedule.conf.`);
    }
  }
  return answer({ comment, result });
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Copies a job to other minions; with `move` it is removed here. */
export async function send(
  name: string,
  target: string,
  move: boolean,
  test: boolean,
  ctx: ModuleContext,
): Promise<PlainDict> {
  if (test)
    return answer({ comment: `Job: ${name} would be ${move ? 'moved' : 'copied'} from schedule.`, result: true });
  const job = (await listJobs(ctx, { showAll: true }))[name];
  if (!isDict(job ?? null)) return answer({ comment: `Job ${name} does not exist.`, result: false });
  const { args, kwargs, name: _name, ...fields } = textKeyed(job as Dict);
  const words = newDict(
    Object.entries({ ...fields, ...(args ? { job_args: args } : {}), ...(kwargs ? { job_kwargs: kwargs } : {}) }),
  );
  const marked = newDict([['__kwarg__', true], ...Object.entries(words)]);
  const told = await ctx.call('publish.publish', target, 'schedule.add', [name, marked]);
  const minions = isDict(told) ? dictKeys(told).map((id) => pyStr(id)) : [];
  if (minions.length === 0)
    return answer({ comment: 'no servers answered the published schedule.add command', result: true });
  const errors = minions.filter((id) => !isTruthy(dictGet(told as Dict, id) ?? null));
  if (errors.length > 0)
    return answer({ comment: 'the following minions return False', minions: errors, result: true });
  if (move) await ask(ctx, { func: 'delete', name, persist: true });
  const comment = move ? `Moved Job ${name} from schedule.` : `Copied Job ${name} from schedule to minion(s).`;
  return answer({ comment, minions, result: true });
}
