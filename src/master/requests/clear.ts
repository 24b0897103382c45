// Clear commands on the request port: the stable interface that remote API hosts and Salt's own tools use.
import { numberField, textField } from '../../base/codec/fields.ts';
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
import {
  type ClearCommand,
  type ClearCredentials,
  readClearCommand,
  type UnprovenJob,
} from '../../protocol/wire/messages/clear.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { tokenValue } from '../../store/tokens/tokens.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { Logins } from '../authorization/logins.ts';
import type { MasterKind } from '../authorization/rules.ts';
import type { FunctionRun, MasterFunctions } from '../local/functions.ts';
import { noMatchText, type PreparedJob } from '../publish/publish.ts';
import type { JobFiles } from '../salt-library/job-files.ts';

export interface ClearParts {
  readonly authorization: Pick<Authorization, 'authenticateCaller' | 'authorizePublish' | 'authorizeFunction'>;
  readonly logins: Pick<Logins, 'login' | 'lookUp' | 'makeToken'>;
  readonly functions: Pick<MasterFunctions, 'start'>;
  readonly jobs: {
    refuseForeignJid(request: AskedJob): Promise<void>;
    prepare(request: AskedJob): PreparedJob;
  };
  /** Where programs with Salt's Python library look for their jobs. */
  readonly files?: Pick<JobFiles, 'saveJob'>;
}

/** Dispatched by name, never by reflection: a command that is not listed here cannot be called. */
export function clearCommands(parts: ClearParts): (load: PlainDict, peer: string) => Promise<Value> {
  return async (load, peer) => {
    // Connections of one host are counted together.
    const from = peer.replace(/:\d+$/, '');
    try {
      const command = readClearCommand(load);
      if (isProblem(command)) throw new HaliteError('call.arguments', `Refused: ${command.problem}.`);
      return await answer(parts, command, from);
    } catch (error) {
      return { error: { name: nameOf(error, load['cmd'], load), message: messageOf(error) } };
    }
  };
}

async function answer(parts: ClearParts, command: ClearCommand, from: string): Promise<Value> {
  switch (command.cmd) {
    case 'ping':
      return command.load;
    case 'publish': {
      const { job, credentials } = command;
      return plainly(credentials, async () =>
        publish(parts, job, await parts.authorization.authenticateCaller(credentials, from)),
      );
    }
    case 'runner':
      return runner(parts, command, from);
    case 'wheel':
      return wheel(parts, command, from);
    case 'mk_token':
      return makeToken(parts, command, from);
    case 'get_token': {
      const found = await parts.logins.lookUp(command.token);
      return found ? tokenValue(found) : newDict();
    }
    case 'unknown':
      return newDict();
  }
}

/** Commands of Salt expect an empty text when the login is refused. */
async function makeToken({ logins }: ClearParts, { credentials, load }: Login, from: string): Promise<Value> {
  try {
    const identity = await logins.login(credentials, from);
    return tokenValue(await logins.makeToken(identity, numberField(load, 'token_expire')));
  } catch (error) {
    if (error instanceof HaliteError && error.code === 'auth.failed') return '';
    throw error;
  }
}

type Login = Extract<ClearCommand, { cmd: 'mk_token' }>;

/** Users of external authentication get Salt's sentence about a failed publish, which says nothing else. */
async function plainly<T>({ token, eauth }: ClearCredentials, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'auth.failed' || !(token || eauth)) throw error;
    throw new HaliteError('auth.failed', 'Authentication error occurred.');
  }
}

/** Salt names errors of runners and wheel functions after the way in which the caller authenticated. */
function nameOf(error: unknown, cmd: Value | undefined, load: Dict): string {
  if (!(error instanceof HaliteError)) return 'SaltClientError';
  const failed = error.code === 'auth.failed';
  if (!failed && error.code !== 'auth.denied') return 'SaltInvocationError';
  if (cmd === 'runner' || cmd === 'wheel') {
    if (textField(load, 'token')) return 'TokenAuthenticationError';
    if (textField(load, 'eauth')) return 'EauthAuthenticationError';
  }
  return failed ? 'AuthenticationError' : 'AuthorizationError';
}

async function publish({ authorization, jobs, files }: ClearParts, job: UnprovenJob, caller: Caller): Promise<Value> {
  const request = authorization.authorizePublish(caller, { ...job, user: caller.user, unwatched: true });
  await jobs.refuseForeignJid(request);
  try {
    const { jid, minions, missing, send } = jobs.prepare(request);
    await files?.saveJob(jid, request, minions);
    await send();
    return { enc: 'clear', load: { jid, minions: [...minions], missing: [...missing] } };
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'target.empty') throw error;
    return { enc: 'clear', load: { jid: null, minions: [], error: noMatchText } };
  }
}

type FunctionCommand = Extract<ClearCommand, { cmd: 'runner' | 'wheel' }>;

async function runner(
  { authorization, functions }: ClearParts,
  command: FunctionCommand,
  from: string,
): Promise<Value> {
  const { fun, arg, kwarg, credentials } = command;
  const caller = await authorization.authenticateCaller(credentials, from);
  const run = startFunction(authorization, functions, caller, { kind: 'runners', fun, arg, kwargs: named(kwarg) });
  run.result.catch(() => {});
  return { tag: `salt/run/${run.jid}`, jid: run.jid };
}

/** Fields of a wheel call that are not arguments of the function. */
const ownFields = new Set<Value>([
  'cmd',
  'fun',
  'arg',
  'user',
  'key',
  'token',
  'eauth',
  'username',
  'password',
  'kwarg',
]);
const isOwnField = (name: Value): boolean => ownFields.has(name) || String(name).startsWith('__');

interface FunctionCall {
  readonly kind: MasterKind;
  readonly fun: string;
  readonly arg: readonly Value[];
  readonly kwargs: PlainDict;
}

/** What is checked is what runs. */
function startFunction(
  authorization: ClearParts['authorization'],
  functions: ClearParts['functions'],
  caller: Caller,
  { kind, fun, arg, kwargs }: FunctionCall,
): FunctionRun {
  authorization.authorizeFunction(caller, kind, { fun, args: arg, kwargs });
  return functions.start(kind, fun, [...arg], kwargs, caller.user);
}

async function wheel({ authorization, functions }: ClearParts, command: FunctionCommand, from: string): Promise<Value> {
  const { fun, arg, kwarg, load, credentials } = command;
  const caller = await authorization.authenticateCaller(credentials, from);
  const beside = dictOf(dictEntries(load).filter(([name]) => !isOwnField(name)));
  const kwargs = { ...named(beside), ...named(kwarg) };
  const run = startFunction(authorization, functions, caller, { kind: 'wheel', fun, arg, kwargs });
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
