// A job as a map: as sent to minions and job processes, stored in the job store and in proc files, and passed to
// functions.

import { intField, listField, numberField, textField, textsField } from '../../../base/codec/fields.ts';
import {
  asDict,
  asPlainDict,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  newDict,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';
import { type JobOption, type JobOptions, type PublishedJob, type RunningJob, wireTexts } from '../../job/job.ts';
import { deadlineField, durableField, keptForField } from '../../job/verdict.ts';
import { given, isProblem, type Problem, problem } from './fields.ts';

/** Of a running job: when its process must end, in milliseconds. */
const deadlineAtField = 'halite_deadline_at';

/** In the record of a run that a minion started itself, as in Salt; no published job has it. */
const startedByMinion = '_return';

type OptionReader<Name extends JobOption> = (value: Value) => JobOptions[Name] | undefined;
const anything = (value: Value): Value | undefined => value ?? undefined;
const filledText = (value: Value): string | undefined => asText(value) || undefined;
const optionReaders: { readonly [Name in JobOption]: OptionReader<Name> } = {
  metadata: anything,
  ret_config: filledText,
  ret_kwargs: asDict,
  module_executors: anything,
  executor_opts: anything,
  start_event: (value) => (value === true ? true : undefined),
  id: filledText,
  master_id: filledText,
};
export const jobOptionNames = Object.keys(optionReaders) as readonly JobOption[];

/** The options with these names; a value of the wrong type counts as absent, and other names are not read. */
export function readJobOptions(from: Dict, names: readonly JobOption[]): JobOptions {
  const found: { -readonly [Name in JobOption]?: JobOptions[Name] } = {};
  const read = <Name extends JobOption>(name: Name, reader: OptionReader<Name>): void => {
    const value = reader(dictGet(from, name) ?? null);
    if (value !== undefined) found[name] = value;
  };
  for (const name of names) read(name, optionReaders[name] as OptionReader<typeof name>);
  return found;
}

const known = new Set<Value>([
  ...jobOptionNames,
  ...['fun', 'arg', 'tgt', 'jid', 'ret', 'tgt_type', 'user', 'delimiter', 'schedule', 'cmd', 'serial'],
  ...[deadlineField, durableField, deadlineAtField, keptForField, 'pid'],
]);

/** Reads a job. As in Salt, a minion runs it only when `tgt`, `jid`, `fun` and `arg` are present. */
export function readPublishedJob(value: Value): PublishedJob | Problem {
  const fields = asPlainDict(value);
  if (!fields) return problem('a job whose keys are not text');
  const jid = textField(fields, 'jid');
  if (!jid) return problem('a job without jid');
  const fun = textsField(fields, 'fun');
  if (fun === undefined) return problem('a job without function');
  const arg = listField(fields, 'arg');
  if (!arg) return problem('a job without arguments');
  const tgt = textsField(fields, 'tgt');
  const tgt_type = dictGet(fields, 'tgt_type') ?? 'glob';
  const delimiter = dictGet(fields, 'delimiter') ?? ':';
  if (tgt === undefined || typeof tgt_type !== 'string' || typeof delimiter !== 'string')
    return problem('a job without target');
  const id = textField(fields, 'id');
  const ownRun = id !== undefined && dictGet(fields, 'cmd') === startedByMinion;
  return {
    ...{ jid, fun, arg, tgt, tgt_type },
    options: readJobOptions(fields, ownRun ? notItsSender : jobOptionNames),
    extra: unknownFields(fields),
    ...given({
      ret: namesOf(textsField(fields, 'ret')),
      delimiter: delimiter === ':' ? undefined : delimiter,
      user: textField(fields, 'user'),
      schedule: textField(fields, 'schedule'),
      deadlineSeconds: positive(fields, deadlineField),
      durableUntil: positive(fields, durableField),
      startedBy: ownRun ? id : undefined,
      keptFor: ownRun ? readMasterName(fields) : undefined,
    }),
  };
}

/** The master that asked for a job, `host:port` as the minion's configuration has it. */
export function readMasterName(fields: Dict): string | undefined {
  const name = textField(fields, keptForField);
  return name !== undefined && /^[\w.:%[\]-]{1,300}$/.test(name) ? name : undefined;
}

const notItsSender = jobOptionNames.filter((name) => name !== 'id');
const namesOf = (names: string | readonly string[] | undefined): string | undefined =>
  typeof names === 'object' ? names.join(',') : names;

function positive(fields: Dict, name: string): number | undefined {
  const value = numberField(fields, name);
  return value !== undefined && value > 0 ? value : undefined;
}

function unknownFields(fields: PlainDict): PlainDict {
  const extra = newDict();
  for (const name in fields) {
    const value = fields[name];
    if (!known.has(name) && value !== undefined) extra[name] = value;
  }
  return extra;
}

/** The job as a new map. `tgt` is text for every kind except lists: 2015.5 minions ignore anything else. */
export function jobFields(job: PublishedJob): PlainDict {
  const fields = newDict();
  const { options = {}, extra = {}, startedBy } = job;
  if (startedBy !== undefined) fields['cmd'] = startedByMinion;
  fields['fun'] = wireTexts(job.fun);
  fields['arg'] = [...job.arg];
  fields['tgt'] = wireTexts(job.tgt);
  fields['jid'] = job.jid;
  if (job.ret !== undefined) fields['ret'] = job.ret;
  fields['tgt_type'] = job.tgt_type;
  if (job.user !== undefined) fields['user'] = job.user;
  if (job.delimiter !== undefined && job.delimiter !== ':') fields['delimiter'] = job.delimiter;
  if (job.schedule !== undefined) fields['schedule'] = job.schedule;
  if (job.deadlineSeconds !== undefined) fields[deadlineField] = job.deadlineSeconds;
  if (job.durableUntil !== undefined) fields[durableField] = job.durableUntil;
  for (const name of jobOptionNames) {
    const value = options[name];
    if (value !== undefined) fields[name] = value;
  }
  if (startedBy !== undefined) fields['id'] = startedBy;
  if (job.keptFor !== undefined) fields[keptForField] = job.keptFor;
  for (const [name, value] of dictEntries(extra))
    if (typeof name === 'string' && !known.has(name)) fields[name] = value;
  return fields;
}

/** A running job as `saltutil.running` returns it, and as stored in its proc file. */
export function runningFields(job: PublishedJob, pid: number, deadlineAt?: number): PlainDict {
  const fields = newDict([['pid', pid], ...Object.entries(jobFields(job))]);
  if (deadlineAt !== undefined) fields[deadlineAtField] = deadlineAt;
  return fields;
}

/** Reads a proc file. That of a `salt-call` has neither arguments nor returners. */
export function readRunningJob(value: Value): RunningJob | Problem {
  const shown = asPlainDict(value);
  const pid = shown && intField(shown, 'pid');
  if (!shown || pid === undefined) return problem('a proc file without pid');
  const job = readPublishedJob(newDict([['fun', ''], ['arg', []], ['tgt', ''], ...Object.entries(shown)]));
  if (isProblem(job)) return job;
  return { job, pid, shown, ...given({ deadlineAt: numberField(shown, deadlineAtField) }) };
}
