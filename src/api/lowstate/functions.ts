// The clients runner and wheel, and those that do not wait.
import { JsonText, readValue } from '../../base/codec/json/index.ts';
import { isTruthy } from '../../base/codec/python/index.ts';
import { asList, asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { eventStamp } from '../../protocol/event/stamp.ts';
import { readRunnerItem } from '../../protocol/wire/messages/local.ts';
import { ApiError } from '../http/errors.ts';
import type { MasterSession } from '../master.ts';
import type { Call, Item } from './call.ts';
import { numberOf } from './chunk.ts';

/** Keys of a chunk that are never arguments of a function; those of a runner and of a wheel function differ as in Salt. */
const ownKeys = 'client cmd eauth fun kwarg arg args token username password full_return token_expire'.split(' ');
const ownOf = { runner: new Set([...ownKeys, 'timeout', 'user', 'key']), wheel: new Set([...ownKeys, 'print_event']) };

interface Asked {
  readonly fun: string;
  readonly arg: readonly Value[];
  readonly kwarg: PlainDict;
  readonly extra: PlainDict;
}

function namesOnly(chunk: PlainDict, kind: 'runner' | 'wheel'): PlainDict {
  return newDict(Object.entries(chunk).filter(([name]) => !ownOf[kind].has(name)));
}

function functionOf(chunk: PlainDict, kind: 'runner' | 'wheel'): string {
  const { fun, client } = chunk;
  if (fun === undefined)
    throw new ApiError(400, `${client === `${kind}_async` ? client : kind} takes at least 1 argument (0 given)`);
  if (kind === 'runner' && (fun === null || fun === ''))
    throw new ApiError(400, 'Must specify a function to run!\nex: manage.up');
  if (typeof fun !== 'string') throw new ApiError(400, `The ${kind} function must be a text`);
  if (!/^[^.]+\.[^.]+$/.test(fun)) throw new ApiError(400, 'A command invocation error occurred: Check syntax.');
  return fun;
}

/** Arguments of runners may be written in three ways: `arg`, `kwarg`, or beside `fun`. */
function runnerCall(chunk: PlainDict): Asked {
  const given = chunk['arg'] ?? chunk['args'];
  const list = given === undefined || given === null ? [] : (asList(given) ?? [given]);
  const { args, kwargs } = parseInput(list);
  const kwarg = asPlainDict(chunk['kwarg']) ?? newDict();
  return {
    fun: functionOf(chunk, 'runner'),
    arg: args,
    kwarg: { ...kwargs, ...kwarg },
    extra: namesOnly(chunk, 'runner'),
  };
}

/** Salt reads `arg` and `kwarg` of a wheel call only when both are there; otherwise the keys beside `fun`. */
function wheelCall(chunk: PlainDict): Asked {
  const [arg, kwarg] = [asList(chunk['arg']), asPlainDict(chunk['kwarg'])];
  const fun = functionOf(chunk, 'wheel');
  if (arg && kwarg) return { fun, arg, kwarg, extra: newDict() };
  return { fun, arg: [], kwarg: newDict(), extra: namesOnly(chunk, 'wheel') };
}

interface Outcome {
  readonly jid: string;
  readonly user: string;
  readonly result?: {
    readonly ret: Value | JsonText;
    readonly success: boolean;
    readonly failed: boolean;
    readonly out?: string;
  };
}

async function ask(
  session: MasterSession,
  verb: 'runner' | 'wheel',
  asked: Asked,
  more: PlainDict,
  signal: AbortSignal,
  began: (jid: string) => void = () => undefined,
): Promise<Outcome> {
  const { fun, arg, kwarg, extra } = asked;
  const args = newDict(Object.entries({ fun, arg: [...arg], kwarg, extra, detached: true, ...more }));
  let [jid, user] = ['', ''];
  for await (const item of session.call(verb, args, readRunnerItem, signal)) {
    if (item.type === 'started') {
      ({ jid, user } = item);
      began(jid);
    }
    if (item.type !== 'result') continue;
    const { success, failed = false, out } = item;
    return { jid, user, result: { ret: item.ret, success, failed, ...(out ? { out } : {}) } };
  }
  return { jid, user };
}

export async function runner({ chunk, session, signal, settings }: Call): Promise<Item[]> {
  const asked = runnerCall(chunk);
  const seconds = numberOf(chunk['timeout']);
  const limitMs = seconds !== undefined && seconds > 0 ? seconds * 1000 : settings.restTimeoutMs;
  const late = AbortSignal.timeout(Math.min(limitMs, 2 ** 31 - 1));
  let begun = '';
  const { jid, user, result } = await ask(
    session,
    'runner',
    asked,
    newDict([['known', true]]),
    AbortSignal.any([signal, late]),
    (started) => {
      begun = started;
    },
  ).catch((error: unknown) => {
    if (!late.aborted || signal.aborted) throw error;
    const hint = begun === '' ? undefined : `It continues as job ${begun}: ask jobs.lookup_jid for its result.`;
    throw new ApiError(504, 'The gateway server did not receive a timely response', { hint });
  });
  const text = result?.ret ?? null;
  const whole = isTruthy(chunk['full_return']);
  if (!whole && text instanceof JsonText && text.facts.outputter === undefined) return [text];
  const ret = readValue(text);
  if (!whole) return [ret];
  const data = {
    ...{ fun: `runner.${asked.fun}`, fun_args: shownArguments(asked), jid, return: ret },
    ...{ success: result?.success ?? false, user, _stamp: eventStamp() },
    ...(result?.failed ? { retcode: 1 } : {}),
  };
  return [newDict(Object.entries({ tag: `salt/run/${jid}/ret`, data: newDict(Object.entries(data)) }))];
}

function shownArguments({ arg, kwarg, extra }: Asked): Value[] {
  const named = { ...extra, ...kwarg };
  return Object.keys(named).length > 0 ? [...arg, newDict(Object.entries(named))] : [...arg];
}

export async function runnerAsync(call: Call): Promise<Value[]> {
  return background(call, 'runner', runnerCall(call.chunk));
}

export async function wheel({ chunk, session, signal }: Call): Promise<Value[]> {
  const asked = wheelCall(chunk);
  const { jid, user, result } = await ask(session, 'wheel', asked, newDict(), signal);
  const tag = `salt/wheel/${jid}`;
  const ret = readValue(result?.ret ?? null);
  const text = result?.failed ? `Exception occurred in wheel ${asked.fun}: ${String(ret)}` : undefined;
  const told = text?.startsWith(`Exception occurred in wheel ${asked.fun}: Exception occurred`) ? String(ret) : text;
  const data = {
    ...{ tag, jid, fun: `wheel.${asked.fun}`, user, return: told ?? ret },
    ...{ success: result?.success ?? false, _stamp: eventStamp() },
  };
  return [newDict(Object.entries({ tag, data: newDict(Object.entries(data)) }))];
}

export async function wheelAsync(call: Call): Promise<Value[]> {
  return background(call, 'wheel', wheelCall(call.chunk));
}

/** The master checks everything before it answers with the job id. */
async function background({ session, signal }: Call, verb: 'runner' | 'wheel', asked: Asked): Promise<Value[]> {
  const more = newDict([
    ['async', true],
    ['known', true],
  ]);
  const { jid } = await ask(session, verb, asked, more, signal);
  if (jid === '') throw new HaliteError('codec.malformed', 'The master sent no job id');
  const tag = `salt/${verb === 'runner' ? 'run' : 'wheel'}/${jid}`;
  return [newDict(Object.entries({ tag, jid }))];
}
