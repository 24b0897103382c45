// Jobs and runners that minions start themselves (`publish.*`), allowed by `peer` and `peer_run` only.
import { readValue } from '../../base/codec/json/index.ts';
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { matchesIdRule, matchesRule } from '../../base/util/function-rule.ts';
import { splitArguments } from '../../engine/exec/index.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readPeerPublish, readPeerRunner } from '../../protocol/wire/messages/minion-loads.ts';
import type { Master, Sender } from '../core.ts';
import type { MasterFunctions } from '../functions.ts';
import { type PreparedJob, prepareJob, runToEnd } from '../publish.ts';
import type { Handlers } from './table.ts';

export function peerHandlers(master: Master, functions: MasterFunctions): Handlers {
  const asked = new Map<string, string>();
  return {
    minion_pub: {
      run: async (load, sender) => {
        const job = peerJob(master, load, sender, asked, true);
        await job?.send();
        return job ? { jid: job.jid, minions: [...job.minions] } : newDict();
      },
    },
    minion_publish: { run: (load, sender) => publishAndWait(master, load, sender, asked) },
    pub_ret: { run: (load, sender) => results(master, load, sender, asked) },
    minion_runner: { run: (load, sender) => callRunner(master, functions, load, sender) },
  };
}

/** `peer` and `peer_run`: {id expression: [function expressions]}. */
function allowed(rules: unknown, id: string, functions: readonly string[]): boolean {
  if (!isDict(rules as Value)) return false;
  for (const [expression, wanted] of Object.entries(rules as PlainDict)) {
    if (!matchesIdRule(expression, id) || !Array.isArray(wanted)) continue;
    if (functions.every((fun) => wanted.some((rule) => matchesRule(String(rule), fun)))) return true;
  }
  return false;
}

/** publish.* is never allowed, or jobs would breed jobs. */
const mayPublish = (master: Master, id: string, functions: readonly string[]): boolean =>
  !functions.some((fun) => fun.startsWith('publish.')) && allowed(master.opts.raw['peer'], id, functions);

/** The job a minion asks for, ready to be sent; undefined when it may not, or nobody matches. */
function peerJob(
  master: Master,
  load: PlainDict,
  sender: Sender,
  asked: Map<string, string>,
  unwatched: boolean,
): PreparedJob | undefined {
  const request = readPeerPublish(load);
  if (isProblem(request)) return undefined;
  const functions = request.fun.split(',');
  if (!mayPublish(master, sender.id, functions)) {
    const fields = { minion: sender.id, functions };
    master.log.limited(`peer:${sender.id}`, 'warn', 'minion may not publish this function', fields);
    return undefined;
  }
  const { tgt, tgt_type, arg, ret, timeout } = request;
  try {
    const job = prepareJob(master, {
      tgt,
      tgt_type,
      fun: functions.length === 1 ? request.fun : functions,
      arg,
      ret,
      user: sender.id,
      extra: newDict([['id', sender.id]]),
      timeoutSeconds: timeout > 0 ? timeout : master.opts.timeout,
      unwatched,
    });
    asked.set(job.jid, sender.id);
    if (asked.size > 10_000) asked.delete(asked.keys().next().value ?? '');
    return job;
  } catch (error) {
    if (error instanceof HaliteError && error.code === 'target.empty') return undefined;
    throw error;
  }
}

async function publishAndWait(
  master: Master,
  load: PlainDict,
  sender: Sender,
  asked: Map<string, string>,
): Promise<Value> {
  const job = peerJob(master, load, sender, asked, false);
  const found = newDict();
  if (!job) return found;
  const full = load['form'] === 'full';
  const take = (id: string, result: PlainDict): void => {
    found[id] = full ? { ...result, ret: result['return'] ?? null } : (result['return'] ?? null);
  };
  await runToEnd(job, take);
  return found;
}

async function results(
  master: Master,
  load: PlainDict,
  sender: Sender,
  asked: ReadonlyMap<string, string>,
): Promise<Value> {
  const jid = String(load['jid'] ?? '');
  if (asked.get(jid) !== sender.id) return newDict();
  const found = newDict();
  for (const [id, result] of await master.store.returns(jid)) {
    if (isDict(result) && !(result instanceof Map)) found[id] = { ret: result['return'] ?? null };
  }
  return found;
}

/** A runner on behalf of a minion; what it may not do is answered as Salt does, with nothing. */
async function callRunner(master: Master, functions: MasterFunctions, load: PlainDict, sender: Sender): Promise<Value> {
  const request = readPeerRunner(load);
  if (isProblem(request)) return newDict();
  const { fun, arg } = request;
  if (!allowed(master.opts.raw['peer_run'], sender.id, [fun])) {
    const fields = { minion: sender.id, runner: fun, hint: 'peer_run' };
    master.log.limited(`peer_run:${sender.id}`, 'warn', 'minion may not start this runner', fields);
    return newDict();
  }
  const params = (await functions.paramsOf('runners', fun)) ?? {};
  const { args, kwargs } = await splitArguments(params, arg, undefined);
  const { ret } = await functions.start('runners', fun, args, kwargs, sender.id).result;
  return readValue(ret);
}
