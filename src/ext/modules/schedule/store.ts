// Reading the schedule: from the running scheduler, or from the file of a minion that does not run.

import { dirname, join } from 'node:path';
import {
  type Dict,
  dictEntries,
  fieldOf,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { dumpYaml, loadYaml } from 'halite/sdk/codec';
import { mkdirSync, readFileSync, replaceFileNow } from 'halite/sdk/fs';

/** The keys of an entry; all other keys are internal to the scheduler. */
const shownFields = new Set([
  ...['name', 'maxrunning', 'function', 'splay', 'range', 'when', 'once', 'once_fmt', 'returner', 'jid_include'],
  ...['args', 'kwargs', 'seconds', 'minutes', 'hours', 'days', 'enabled', 'return_job', 'metadata', 'cron', 'until'],
  ...['after', 'return_config', 'return_kwargs', 'run_on_start', 'skip_during_range', 'run_after_skip_range'],
]);
const settings = new Set(['enabled', 'skip_function', 'skip_during_range', 'splay']);

/** The file of the minion's own schedule. */
function schedulePath(opts: Readonly<Record<string, Value>>): string {
  const folder = opts['conf_dir'] ?? opts['config_dir'] ?? dirname(String(opts['conf_file'] ?? ''));
  return join(String(folder), dirname(String(opts['default_include'] ?? 'minion.d/*.conf')), '_schedule.conf');
}

function readSchedule(ctx: ModuleContext): PlainDict {
  let text = '';
  try {
    text = readFileSync(schedulePath(ctx.opts), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const value = text === '' ? null : loadYaml(text);
  const schedule = fieldOf(value, 'schedule');
  return textKeyed(schedule);
}

export function writeSchedule(ctx: ModuleContext, schedule: PlainDict): void {
  const path = schedulePath(ctx.opts);
  mkdirSync(dirname(path), { recursive: true });
  // Atomically, because the daemon reads the file too.
  replaceFileNow(path, dumpYaml(newDict([['schedule', schedule]]), { sortKeys: false }));
}

/** Queries the scheduler; undefined where none runs. */
export async function ask(ctx: ModuleContext, request: Record<string, Value>): Promise<PlainDict> {
  if (!ctx.minion.schedule) return newDict();
  return ctx.minion.schedule(newDict(Object.entries(request)));
}

export interface ListOptions {
  readonly showAll?: boolean;
  readonly showDisabled?: boolean;
  readonly where?: Value;
  readonly offline?: boolean;
}

/** The jobs in the form that is shown. */
export async function listJobs(ctx: ModuleContext, options: ListOptions): Promise<PlainDict> {
  const found = options.offline
    ? readSchedule(ctx)
    : (await ask(ctx, { func: 'list', where: options.where ?? null }))['schedule'];
  const listed = newDict();
  for (const [name, value] of isDict(found ?? null) ? dictEntries(found as Dict) : []) {
    const key = String(name);
    if (settings.has(key) || !isDict(value)) {
      listed[key] = value;
      continue;
    }
    if (key.startsWith('__') && options.showAll !== true) continue;
    const job = shownJob(value);
    if (options.showDisabled !== false || job['enabled'] !== false) listed[key] = job;
  }
  return listed;
}

function shownJob(value: Dict): PlainDict {
  const job = newDict();
  for (const [field, item] of dictEntries(value)) {
    if (!shownFields.has(String(field)) || item === null) continue;
    job[String(field)] = item === 'true' ? true : item === 'false' ? false : item;
  }
  job['enabled'] ??= true;
  return job;
}

/** Marks entries that are also in the file. */
export function markSaved(ctx: ModuleContext, jobs: PlainDict): void {
  const saved = readSchedule(ctx);
  for (const [name, job] of Object.entries(jobs)) if (isDict(job)) (job as PlainDict)['saved'] = name in saved;
}

/** Where a job is defined: in the minion's own schedule, in the pillar, or nowhere. */
export async function whereIs(ctx: ModuleContext, name: string): Promise<'opts' | 'pillar' | undefined> {
  if (name in (await listJobs(ctx, { showAll: true, where: 'opts' }))) return 'opts';
  return name in (await listJobs(ctx, { showAll: true, where: 'pillar' })) ? 'pillar' : undefined;
}
