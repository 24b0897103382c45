// Adds, changes and removes jobs of the schedule.
import {
  HaliteError,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyEquals,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { buildItem, isRefused, timesConflict, togetherText } from './item.ts';
import { ask, listJobs, whereIs, writeSchedule } from './store.ts';

export const answer = (fields: Record<string, Value>): PlainDict => newDict(Object.entries(fields));
export const persistOf = (kwargs: PlainDict): Value => kwargs['persist'] ?? true;

const requireFunction = (kwargs: PlainDict): void => {
  if (!('function' in kwargs)) throw new HaliteError('call.arguments', "'function'");
};

export async function add(name: string, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const offline = isTruthy(kwargs['offline']);
  const ret = answer({ comment: `Failed to add job ${name} to schedule.`, result: false, changes: newDict() });
  const current = await listJobs(ctx, { showAll: true, offline });
  const refuse = (comment: string): PlainDict => Object.assign(ret, { comment });
  if (name in current) return refuse(`Job ${name} already exists in schedule.`);
  if (timesConflict(kwargs))
    return refuse('Error: Unable to use "seconds", "minutes", "hours", or "days" with "when" or "cron" options.');
  if ('when' in kwargs && 'cron' in kwargs) return refuse(togetherText);
  requireFunction(kwargs);
  const item = buildItem(name, kwargs);
  if (isRefused(item)) return item;
  if (isTruthy(kwargs['test']))
    return Object.assign(ret, { comment: `Job: ${name} would be added to schedule.`, result: true });
  const done = (): PlainDict =>
    Object.assign(ret, {
      comment: `Added job: ${name} to schedule.`,
      result: true,
      changes: answer({ [name]: 'added' }),
    });
  if (offline) {
    current[name] = item;
    writeSchedule(ctx, current);
    return done();
  }
  const schedule = answer({ [name]: item });
  const told = await ask(ctx, { func: 'add', name, schedule, persist: persistOf(kwargs) });
  return isDict(told['schedule']) && name in textKeyed(told['schedule']) ? done() : ret;
}

export async function modify(name: string, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const offline = isTruthy(kwargs['offline']);
  const ret = answer({ comment: '', changes: newDict(), result: true });
  const refuse = (comment: string): PlainDict => Object.assign(ret, { comment, result: false });
  if (timesConflict(kwargs))
    return refuse('Error: Unable to use "seconds", "minutes", "hours", or "days" with "when" option.');
  if ('when' in kwargs && 'cron' in kwargs) return refuse(togetherText);
  const current = await listJobs(ctx, { showAll: true, offline });
  const before = current[name];
  if (before === undefined || !isDict(before)) return refuse(`Job ${name} does not exist in schedule.`);
  const old = textKeyed(before);
  const item = buildItem(name, newDict([['function', old['function'] ?? null], ...Object.entries(kwargs)]));
  if (isRefused(item)) return item;
  if (pyEquals(item, old)) return Object.assign(ret, { comment: `Job ${name} in correct state` });
  ret['changes'] = answer({ [name]: answer({ old, new: item }) });
  if (isTruthy(kwargs['test'])) return Object.assign(ret, { comment: `Job: ${name} would be modified in schedule.` });
  if (offline) {
    current[name] = newDict([...Object.entries(old), ...Object.entries(item)]);
    writeSchedule(ctx, current);
  } else {
    const where = await whereIs(ctx, name);
    const persist = where === 'pillar' ? false : persistOf(kwargs);
    const told = await ask(ctx, { func: 'modify', name, schedule: item, persist });
    if (told['complete'] !== true) return refuse(`Failed to modify job ${name} in schedule.`);
  }
  return Object.assign(ret, { comment: `Modified job: ${name} in schedule.` });
}

export async function remove(name: string, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const failed = `Failed to delete job ${name} from schedule.`;
  const ret = answer({ comment: failed, result: false, changes: newDict() });
  const done = (): PlainDict =>
    Object.assign(ret, {
      comment: `Deleted Job ${name} from schedule.`,
      result: true,
      changes: answer({ [name]: 'removed' }),
    });
  if (isTruthy(kwargs['test']))
    return Object.assign(ret, { comment: `Job: ${name} would be deleted from schedule.`, result: true });
  if (isTruthy(kwargs['offline'])) {
    const current = await listJobs(ctx, { showAll: true, offline: true });
    if (!(name in current)) return Object.assign(ret, { comment: `Job ${name} does not exist.` });
    delete current[name];
    writeSchedule(ctx, current);
    return done();
  }
  const where = await whereIs(ctx, name);
  if (!where) return Object.assign(ret, { comment: `Job ${name} does not exist.` });
  const persist = where === 'pillar' ? false : persistOf(kwargs);
  const told = await ask(ctx, { func: 'delete', name, persist });
  return isDict(told['schedule']) && !(name in textKeyed(told['schedule'])) ? done() : ret;
}

export async function purge(kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const offline = isTruthy(kwargs['offline']);
  const comment: Value[] = [];
  const changes = newDict();
  const current = await listJobs(ctx, { showAll: true, offline });
  for (const name of Object.keys(current)) {
    if (name === 'enabled' || name.startsWith('__')) continue;
    if (isTruthy(kwargs['test'])) {
      comment.push(`Job: ${name} would be deleted from schedule.`);
      continue;
    }
    if (offline) delete current[name];
    const told = offline ? current : (await ask(ctx, { name, func: 'delete', persist: persistOf(kwargs) }))['schedule'];
    if (isDict(told) && !(name in textKeyed(told))) {
      changes[name] = 'removed';
      comment.push(`Deleted job: ${name} from schedule.`);
    } else comment.push(`Failed to delete job ${name} from schedule.`);
  }
  if (offline) writeSchedule(ctx, current);
  return answer({ comment, changes, result: true });
}
