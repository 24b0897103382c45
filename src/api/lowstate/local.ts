// The clients that run functions on minions: local, and those in batches, on a subset, or without waiting.
import { dumpJson } from '../../base/codec/json/index.ts';
import { isTruthy } from '../../base/codec/python/index.ts';
import {
  asList,
  asPlainDict,
  type Dict,
  isDict,
  isTexts,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { JobOption } from '../../protocol/job/job.ts';
import { given as present } from '../../protocol/wire/messages/fields.ts';
import {
  type BatchRequest,
  type JobItem,
  type LocalPublish,
  localPublishArgs,
  readJobItem,
} from '../../protocol/wire/messages/local.ts';
import { ApiError } from '../http/errors.ts';
import type { Call } from './call.ts';
import { numberOf } from './chunk.ts';

const options: readonly JobOption[] = ['metadata', 'ret_config', 'ret_kwargs', 'module_executors', 'executor_opts'];

type Asked = LocalPublish['job'];

function jobOf(chunk: PlainDict): Asked {
  if (isTruthy(chunk['raw_shell'])) throw new ApiError(401, 'Raw shell option not allowed.');
  const { tgt: given, fun } = chunk;
  if (given === undefined) throw new ApiError(400, 'The target (tgt) is missing: a text or a list of texts');
  if (typeof fun !== 'string' && !isTexts(fun))
    throw new ApiError(400, 'The function (fun) is missing: a text or a list of texts');
  if (fun.length === 0) throw new ApiError(400, 'The function (fun) is empty');
  return {
    ...{ ...targetOf(chunk, given), fun, arg: argumentsOf(chunk, fun), ret: textOr(chunk['ret']) },
    ...present({
      jid: textOr(chunk['jid']) || undefined,
      delimiter: textOr(chunk['delimiter']) || undefined,
      timeoutSeconds: numberOf(chunk['timeout']),
      gatherSeconds: numberOf(chunk['gather_job_timeout']),
    }),
    options: newDict(options.flatMap((name) => (usable(chunk[name]) ? [[name, chunk[name]] as [string, Value]] : []))),
  };
}

/** What is no target matches nobody, as in Salt; the master says so, after it has looked at the credentials. */
function targetOf(chunk: PlainDict, tgt: Value): Pick<Asked, 'tgt' | 'tgt_type'> {
  if (typeof tgt !== 'string' && !isTexts(tgt)) return { tgt: [], tgt_type: 'list' };
  const asked = chunk['tgt_type'] === undefined ? chunk['expr_form'] : chunk['tgt_type'];
  if (asked === undefined) return { tgt, tgt_type: isTexts(tgt) ? 'list' : 'glob' };
  return { tgt, tgt_type: typeof asked === 'string' && asked !== '' ? asked : dumpJson(asked) };
}

const usable = (value: Value | undefined): boolean => value !== undefined && value !== null && value !== '';
const textOr = (value: Value | undefined): string => (typeof value === 'string' ? value : '');

/** Keyword arguments are a marked map at the end, also for each of several functions. */
function argumentsOf(chunk: PlainDict, fun: string | readonly string[]): Value[] {
  const list = chunk['arg'] ?? chunk['args'] ?? [];
  const args = asList(list) ?? [list];
  const kwarg = asPlainDict(chunk['kwarg']);
  const marked =
    kwarg && Object.keys(kwarg).length > 0 ? [newDict([...Object.entries(kwarg), ['__kwarg__', true]])] : [];
  if (typeof fun === 'string') return [...args, ...marked];
  return fun.map((_name, at) => {
    const own = args[at];
    return [...(asList(own) ?? (own === undefined || own === null ? [] : [own])), ...marked];
  });
}

async function* publish({ session, signal }: Call, call: LocalPublish): AsyncIterable<JobItem> {
  try {
    yield* session.call('publish', localPublishArgs(call), readJobItem, signal);
  } catch (error) {
    // An empty answer.
    if (!matchesNobody(error)) throw plain(error);
  }
}

/** In Salt a target with a mistake matches nobody, and a node group that does not exist is an error. */
const matchesNobody = (error: unknown): boolean =>
  error instanceof HaliteError &&
  (error.code === 'target.empty' || (error.code === 'target.syntax' && !otherMistake.test(error.message)));

/** Node groups, and targets that are too large. */
const otherMistake = /^(There is no nodegroup|The nodegroup|Nodegroups|The target has) /;

/** Salt's sentence about a failed login says nothing else. */
function plain(error: unknown): unknown {
  if (!(error instanceof HaliteError) || error.code !== 'auth.failed') return error;
  return new HaliteError('auth.failed', 'Authentication error occurred.', error.hint ? { hint: error.hint } : {});
}

type Return = Extract<JobItem, { type: 'return' }>;

function shown(item: Return, jid: string, full: boolean): Value {
  if (!full) return item.ret;
  return newDict(
    Object.entries({ ret: item.ret, retcode: item.retcode, jid: item.jid || jid, ...present({ out: item.out }) }),
  );
}

export async function local(call: Call): Promise<Value[]> {
  return [await collected(call, { job: jobOf(call.chunk) })];
}

async function collected(call: Call, request: LocalPublish): Promise<Dict> {
  const full = isTruthy(call.chunk['full_return']);
  const found = new Map<string, Value>();
  let jid = '';
  for await (const item of publish(call, request)) {
    if (item.type === 'job') {
      jid = item.jid;
      // Names without keys alone match nobody.
      const expected = item.minions.length > 0 ? [...item.minions, ...item.missing] : [];
      for (const id of expected) if (!found.has(id)) found.set(id, false);
    }
    if (item.type === 'more') for (const id of item.minions) if (!found.has(id)) found.set(id, false);
    if (item.type === 'return') found.set(item.id, shown(item, jid, full));
    if ((item.type === 'missing' || item.type === 'queued') && found.has(item.id)) found.set(item.id, false);
  }
  return new Map<Value, Value>(found);
}

export async function localSubset(call: Call): Promise<Value[]> {
  const { chunk } = call;
  const size = numberOf(chunk['subset']) ?? numberOf(chunk['sub']) ?? 3;
  if (!Number.isInteger(size) || size < 1) throw new ApiError(400, 'The subset must be a number of minions');
  return [await collected(call, { job: { ...jobOf(chunk), subset: size } })];
}

export async function localAsync(call: Call): Promise<Value[]> {
  for await (const item of publish(call, { job: { ...jobOf(call.chunk), unwatched: true } }))
    if (item.type === 'job' && (item.minions.length > 0 || item.growing))
      return [
        newDict([
          ['jid', item.jid],
          ['minions', [...item.minions]],
        ]),
      ];
  return [newDict()];
}

export async function localBatch(call: Call): Promise<Value[]> {
  const { chunk } = call;
  const batch: BatchRequest = {
    size: batchSize(chunk['batch']),
    failhard: isTruthy(chunk['failhard']),
    ...present({ wait: numberOf(chunk['batch_wait']) }),
  };
  const raw = isTruthy(chunk['raw']);
  const out: Value[] = [];
  let jid = '';
  for await (const item of publish(call, { job: jobOf(chunk), batch })) {
    if (item.type === 'job') jid = item.jid;
    if (item.type !== 'return') continue;
    out.push(raw ? rawReturn(item, jid) : new Map<Value, Value>([[item.id, item.ret]]));
  }
  return out;
}

function rawReturn({ id, fun, ret, retcode, success, jid: own }: Return, given: string): Value {
  const jid = own || given;
  const data = newDict(Object.entries({ id, jid, fun: fun ?? '', return: ret, retcode, success, cmd: '_return' }));
  return newDict([
    ['tag', `salt/job/${jid}/ret/${id}`],
    ['data', data],
  ]);
}

/** A number of minions, or a percentage. */
function batchSize(value: Value | undefined): string {
  if (value === undefined || value === null || value === '') return '10%';
  const text = String(value).trim();
  if (/^[1-9]\d{0,8}$/.test(text)) return text;
  const percent = /^(?:(\d{1,3}(?:\.\d+)?)%|%(\d{1,3}(?:\.\d+)?))$/.exec(text);
  const share = Number(percent?.[1] ?? percent?.[2] ?? 0);
  if (percent && share > 0 && !isDict(value)) return `${percent[1] ?? percent[2]}%`;
  throw new ApiError(
    400,
    `Invalid batch specification '${text.slice(0, 64)}': must be an integer or percentage string like '10' or '25%'.`,
  );
}
