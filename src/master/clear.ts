// Clear commands on the request port: the stable interface remote API hosts and Salt's own tools use.
import { readValue } from '../base/codec/json/index.ts';
import { isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Master } from './core.ts';
import { authenticateCaller, authorizeMaster, authorizePublish } from './door.ts';
import type { MasterFunctions } from './functions.ts';
import { noMatchText, type PublishRequest, publishJob } from './publish.ts';

type ClearHandler = (load: PlainDict) => Promise<Value>;

/** A dispatch table, never reflection: what is not here cannot be called. */
export function clearCommands(master: Master, functions: MasterFunctions): (load: PlainDict) => Promise<Value> {
  const table = new Map<string, ClearHandler>([
    ['ping', async (load) => load],
    ['publish', (load) => publish(master, load)],
    ['runner', (load) => runner(master, functions, load)],
    ['wheel', (load) => wheel(master, functions, load)],
    ['mk_token', async () => ''],
    ['get_token', async () => newDict()],
  ]);
  return async (load) => {
    const handler = typeof load['cmd'] === 'string' ? table.get(load['cmd']) : undefined;
    if (!handler) return newDict();
    try {
      return await handler(load);
    } catch (error) {
      return { error: { name: nameOf(error), message: messageOf(error) } };
    }
  };
}

function nameOf(error: unknown): string {
  if (!(error instanceof HaliteError)) return 'SaltClientError';
  if (error.code === 'auth.failed') return 'AuthenticationError';
  return error.code === 'auth.denied' ? 'AuthorizationError' : 'SaltInvocationError';
}

const passedOn = [
  'metadata',
  'ret_config',
  'ret_kwargs',
  'module_executors',
  'executor_opts',
  'master_id',
  'id',
] as const;

async function publish(master: Master, load: PlainDict): Promise<Value> {
  const kwargs = isDict(load['kwargs']) && !(load['kwargs'] instanceof Map) ? load['kwargs'] : newDict();
  const caller = authenticateCaller(master, {
    ...load,
    token: kwargs['token'] ?? null,
    eauth: kwargs['eauth'] ?? null,
  });
  const fun = load['fun'];
  const extra = newDict();
  for (const name of passedOn) if (kwargs[name] !== undefined && kwargs[name] !== null) extra[name] = kwargs[name];
  const request: PublishRequest = {
    tgt: load['tgt'] as string | string[],
    tgt_type: String(load['tgt_type'] ?? 'glob'),
    fun: Array.isArray(fun) ? fun.map(String) : String(fun ?? ''),
    arg: Array.isArray(load['arg']) ? load['arg'] : [],
    ret: typeof load['ret'] === 'string' ? load['ret'] : '',
    ...(typeof load['jid'] === 'string' && load['jid'] ? { jid: load['jid'] } : {}),
    user: caller.user,
    ...(typeof kwargs['delimiter'] === 'string' ? { delimiter: kwargs['delimiter'] } : {}),
    extra,
    unwatched: true,
  };
  authorizePublish(master, caller, request);
  try {
    const job = await publishJob(master, request);
    return { enc: 'clear', load: { jid: job.jid, minions: [...job.minions], missing: [...job.missing] } };
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'target.empty') throw error;
    return { enc: 'clear', load: { jid: null, minions: [], error: noMatchText } };
  }
}

const argumentsOf = (load: PlainDict): { args: Value[]; kwargs: PlainDict } => ({
  args: Array.isArray(load['arg']) ? load['arg'] : [],
  kwargs: isDict(load['kwarg']) && !(load['kwarg'] instanceof Map) ? load['kwarg'] : newDict(),
});

async function runner(master: Master, functions: MasterFunctions, load: PlainDict): Promise<Value> {
  const caller = authenticateCaller(master, load);
  const fun = String(load['fun'] ?? '');
  authorizeMaster(master, caller, `runner ${fun}`);
  const { args, kwargs } = argumentsOf(load);
  const run = functions.start('runners', fun, args, kwargs, caller.user);
  run.result.catch(() => {});
  return { tag: `salt/run/${run.jid}`, jid: run.jid };
}

async function wheel(master: Master, functions: MasterFunctions, load: PlainDict): Promise<Value> {
  const caller = authenticateCaller(master, load);
  const fun = String(load['fun'] ?? '');
  authorizeMaster(master, caller, `wheel ${fun}`);
  const { args } = argumentsOf(load);
  const own = new Set(['cmd', 'fun', 'arg', 'user', 'key', 'token', 'eauth', 'kwarg']);
  const kwargs = newDict(Object.entries(load).filter(([name]) => !own.has(name)));
  const run = functions.start('wheel', fun, args, { ...kwargs, ...argumentsOf(load).kwargs }, caller.user);
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
