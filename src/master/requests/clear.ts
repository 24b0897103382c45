// Clear commands on the request port: the stable interface that remote API hosts and Salt's own tools use.
import { readValue } from '../../base/codec/json/index.ts';
import {
  asPlainDict,
  type Dict,
  dictEntries,
  dictOf,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { type ClearCommand, readClearCommand, type UnprovenJob } from '../../protocol/wire/messages/clear.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { MasterFunctions } from '../local/functions.ts';
import { noMatchText, type TrackedJob } from '../publish/publish.ts';

export interface ClearParts {
  readonly authorization: Pick<Authorization, 'authenticateCaller' | 'authorizePublish' | 'authorizeMaster'>;
  readonly functions: Pick<MasterFunctions, 'start'>;
  readonly jobs: {
    refuseForeignJid(request: AskedJob): Promise<void>;
    publish(request: AskedJob): Promise<TrackedJob>;
  };
}

/** Dispatched by name, never by reflection: a command that is not listed here cannot be called. */
export function clearCommands(parts: ClearParts): (load: PlainDict) => Promise<Value> {
  return async (load) => {
    try {
      const command = readClearCommand(load);
      if (isProblem(command)) throw new HaliteError('call.arguments', `Refused: ${command.problem}.`);
      return await answer(parts, command);
    } catch (error) {
      return { error: { name: nameOf(error), message: messageOf(error) } };
    }
  };
}

async function answer(parts: ClearParts, command: ClearCommand): Promise<Value> {
  switch (command.cmd) {
    case 'ping':
      return command.load;
    case 'publish':
      return publish(parts, command.job, parts.authorization.authenticateCaller(command.credentials));
    case 'runner':
      return runner(parts, command);
    case 'wheel':
      return wheel(parts, command);
    case 'mk_token':
      return '';
    case 'get_token':
    case 'unknown':
      return newDict();
  }
}

function nameOf(error: unknown): string {
  if (!(error instanceof HaliteError)) return 'SaltClientError';
  if (error.code === 'auth.failed') return 'AuthenticationError';
  return error.code === 'auth.denied' ? 'AuthorizationError' : 'SaltInvocationError';
}

async function publish({ authorization, jobs }: ClearParts, job: UnprovenJob, caller: Caller): Promise<Value> {
  const request = authorization.authorizePublish(caller, { ...job, user: caller.user, unwatched: true });
  await jobs.refuseForeignJid(request);
  try {
    const { jid, minions, missing } = await jobs.publish(request);
    return { enc: 'clear', load: { jid, minions: [...minions], missing: [...missing] } };
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'target.empty') throw error;
    return { enc: 'clear', load: { jid: null, minions: [], error: noMatchText } };
  }
}

type FunctionCommand = Extract<ClearCommand, { cmd: 'runner' | 'wheel' }>;

async function runner({ authorization, functions }: ClearParts, command: FunctionCommand): Promise<Value> {
  const { fun, arg, kwarg, credentials } = command;
  const caller = authorization.authenticateCaller(credentials);
  authorization.authorizeMaster(caller, `runner ${fun}`);
  const run = functions.start('runners', fun, [...arg], named(kwarg), caller.user);
  run.result.catch(() => {});
  return { tag: `salt/run/${run.jid}`, jid: run.jid };
}

/** Fields of a wheel call that are not arguments of the function. */
const ownFields = new Set<Value>(['cmd', 'fun', 'arg', 'user', 'key', 'token', 'eauth', 'kwarg']);

async function wheel({ authorization, functions }: ClearParts, command: FunctionCommand): Promise<Value> {
  const { fun, arg, kwarg, load, credentials } = command;
  const caller = authorization.authenticateCaller(credentials);
  authorization.authorizeMaster(caller, `wheel ${fun}`);
  const beside = dictOf(dictEntries(load).filter(([name]) => !ownFields.has(name)));
  const run = functions.start('wheel', fun, [...arg], { ...named(beside), ...named(kwarg) }, caller.user);
  const result = await run.result;
  const tag = `salt/wheel/${run.jid}`;
  return {
    tag,
    data: {
      fun: `wheel.${fun}`,
      jid: run.jid,
      tag,
      user: caller.user,
      return: readValue(result.ret),
      success: result.success,
    },
  };
}

/** Arguments are a map with text keys; other maps count as empty. */
const named = (dict: Dict): PlainDict => asPlainDict(dict) ?? newDict();
