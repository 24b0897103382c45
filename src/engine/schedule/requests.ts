// Requests of functions to the scheduler: `{func, name, schedule, …}`, the messages of Salt's own module.
import { textField } from '../../base/codec/fields.ts';
import {
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { parseLocalTime } from '../../base/util/strptime.ts';
import { type Entry, isoFormat, isSetting, plainEntry, timingOf } from './entry.ts';
import type { Schedule } from './schedule.ts';

const pad = (value: number): string => String(value).padStart(2, '0');

/** `2026-11-15T10:00:00`, local time. */
export function isoSeconds(at: Date): string {
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/** An entry as stored by the scheduler: with its name and, after a run, with the assumed values. */
function shown(entry: Entry): PlainDict {
  const data = newDict(Object.entries(entry.data));
  data['name'] ??= entry.name;
  if (entry.state.lastRun && data['jid_include'] !== false) {
    data['jid_include'] = true;
    data['maxrunning'] ??= 1;
  }
  const { skipAt, runAt } = entry.state;
  const times = (list: readonly Date[]): Value =>
    list.map((at) =>
      newDict([
        ['time', isoSeconds(at)],
        ['time_fmt', isoFormat],
      ] as [string, Value][]),
    );
  if (skipAt.length > 0) data['skip_explicit'] = times(skipAt);
  if (runAt.length > 0) data['run_explicit'] = times(runAt);
  return data;
}

function listed(schedule: Schedule, where?: 'opts' | 'pillar'): PlainDict {
  const all = [...schedule.merged(where)].map(([name, value]): [string, Value] => {
    const entry = isDict(value) && !isSetting(name) ? schedule.entry(name) : undefined;
    return [name, entry ? shown(entry) : value];
  });
  return newDict(all);
}

/** The result of `schedule.job_status`: the entry and the scheduler's own data, marked by an underscore. */
function status(entry: Entry): PlainDict {
  const { state } = entry;
  const data = shown(entry);
  const time = (at: Date | undefined): Value => (at ? isoSeconds(at) : null);
  data['_next_fire_time'] = time(state.nextFire);
  data['_splay'] = time(state.splayed);
  const timing = timingOf(entry.data);
  if (timing && 'kind' in timing && timing.kind === 'interval') data['_seconds'] = timing.seconds;
  if (state.nextFire) data['_next_scheduled_fire_time'] = time(state.nextFire);
  const kind = timing && 'kind' in timing ? timing.kind : undefined;
  if (state.nextFire && kind === 'once') data['_continue'] = true;
  if (state.nextFire && kind === 'when') data['_run'] = true;
  if (state.begun && data['run_on_start'] !== undefined) data['_run_on_start'] = false;
  data['splay'] ??= null;
  if (state.lastRun || state.called) data['run'] = true;
  if (state.lastRun) data['_last_run'] = time(state.lastRun);
  if (state.error) data['_error'] = state.error;
  if (state.skipped)
    Object.assign(data, {
      _skip_reason: state.skipped.reason,
      _skipped_time: time(state.skipped.at),
      _skipped: true,
    });
  return data;
}

function momentIn(request: PlainDict, key: string): Date {
  const format = textField(request, 'time_fmt') || isoFormat;
  const at = parseLocalTime(textField(request, key) ?? '', format);
  if (!at) throw new HaliteError('call.arguments', 'Date string could not be parsed.');
  return at;
}

type Action = (schedule: Schedule, name: string, request: PlainDict) => unknown;

function setField(key: string, value: Value): Action {
  return (schedule, name) => {
    const data = schedule.merged('opts').get(name);
    if (isDict(data ?? null))
      schedule.setOwn(name, newDict([...Object.entries(plainEntry(data as Dict)), [key, value]]));
  };
}

/** A change of `enabled` alone must not move the next run. */
function setEnabled(value: boolean): Action {
  return (schedule, name, request) => {
    const before = schedule.entry(name);
    setField('enabled', value)(schedule, name, request);
    const after = schedule.entry(name);
    if (before && after && before !== after) Object.assign(after.state, before.state);
  };
}

const actions: Readonly<Record<string, Action>> = {
  add: (schedule, _name, request) => {
    const [name, data] = isDict(request['schedule']) ? (dictEntries(request['schedule'])[0] ?? []) : [];
    if (name === undefined || !isDict(data ?? null))
      throw new HaliteError('call.arguments', 'Scheduled jobs have to be of type dict.');
    if (schedule.inPillar(String(name)) && !schedule.hasOwn(String(name))) return;
    const entry = plainEntry(data as Dict);
    entry['enabled'] ??= true;
    schedule.setOwn(String(name), entry);
  },
  modify: (schedule, name, request) => {
    if (!schedule.hasOwn(name) && schedule.inPillar(name)) return;
    const changed = request['schedule'];
    if (!isDict(changed)) return;
    // The changed job is the last of the list, as in Salt.
    schedule.deleteOwn(name);
    schedule.setOwn(name, plainEntry(changed));
  },
  delete: (schedule, name) => schedule.deleteOwn(name),
  enable: (schedule) => schedule.setOwn('enabled', true),
  disable: (schedule) => schedule.setOwn('enabled', false),
  enable_job: setEnabled(true),
  disable_job: setEnabled(false),
  save_schedule: (schedule) => schedule.persist(),
  run_job: (schedule, name) => schedule.runNow(name),
  reload: (schedule, _name, request) => {
    const given = request['schedule'];
    const inner = isDict(given ?? null) ? (dictGet(given as Dict, 'schedule') ?? given) : newDict();
    for (const [name, value] of dictEntries(inner as Dict)) {
      schedule.setOwn(String(name), value);
      schedule.forget(String(name));
    }
  },
  skip_job: (schedule, name, request) => {
    const at = momentIn(request, 'time');
    schedule.entry(name)?.state.skipAt.push(at);
  },
  postpone_job: (schedule, name, request) => {
    const [at, later] = [momentIn(request, 'time'), momentIn(request, 'new_time')];
    const state = schedule.entry(name)?.state;
    state?.skipAt.push(at);
    state?.runAt.push(later);
  },
};
const unsaved = new Set(['run_job', 'skip_job', 'postpone_job', 'reload', 'save_schedule']);

/** A job with its times: one that was just added gets them by the next check, which is not waited for. */
async function examined(schedule: Schedule, name: string): Promise<Entry | undefined> {
  const entry = schedule.entry(name);
  if (entry && entry.state.nextFire === undefined) await schedule.tick();
  return schedule.entry(name);
}

/** Handles a request and returns `{complete, schedule}`, or other requested data. */
export async function answerSchedule(schedule: Schedule, request: PlainDict): Promise<PlainDict> {
  const func = textField(request, 'func') ?? '';
  const name = textField(request, 'name') ?? '';
  const where = request['where'] === 'pillar' || request['where'] === 'opts' ? request['where'] : undefined;
  if (func === 'list') return newDict(Object.entries({ complete: true, schedule: listed(schedule, where) }));
  if (func === 'get_next_fire_time') {
    const next = (await examined(schedule, name))?.state.nextFire;
    return newDict(Object.entries({ complete: true, next_fire_time: next ? isoSeconds(next) : null }));
  }
  if (func === 'job_status') {
    const entry = await examined(schedule, name);
    return newDict(Object.entries({ complete: true, data: entry ? status(entry) : newDict() }));
  }
  const action = Object.hasOwn(actions, func) ? actions[func] : undefined;
  if (!action) throw new HaliteError('call.arguments', `The scheduler has no function "${func}"`);
  await action(schedule, name, request);
  if (request['persist'] === true && !unsaved.has(func)) await schedule.persist();
  return newDict(Object.entries({ complete: true, schedule: listed(schedule) }));
}
