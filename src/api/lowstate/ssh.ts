// The client ssh: functions on hosts without a minion. The master runs salt-ssh, with its own rosters, keys and options.
import { isTruthy } from '../../base/codec/python/index.ts';
import { asList, asPlainDict, isTexts, newDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/index.ts';
import { eventStamp } from '../../protocol/event/stamp.ts';
import { readSshItem, type SshCall, sshCallArgs } from '../../protocol/wire/messages/ssh-call.ts';
import { ApiError } from '../http/errors.ts';
import type { Call } from './call.ts';

/** Nothing else of a chunk is looked at: options of ssh, keys and passwords are those of the master. */
function callOf({ chunk, settings }: Call): SshCall {
  const { tgt, fun, roster_file: roster } = chunk;
  const raw = isTruthy(chunk['raw_shell']);
  if (raw && !settings.rawShell) throw new ApiError(401, 'Raw shell option not allowed.');
  if ((typeof tgt !== 'string' && !isTexts(tgt)) || tgt.length === 0)
    throw new ApiError(400, 'The target (tgt) is missing: a text or a list of texts');
  if (typeof fun !== 'string' || fun === '') throw new ApiError(400, 'The function (fun) is missing: a text');
  if (roster !== undefined && roster !== null && typeof roster !== 'string')
    throw new ApiError(400, 'The roster_file must be a text');
  const kind = chunk['tgt_type'] ?? chunk['expr_form'] ?? '';
  const given = chunk['arg'] ?? [];
  const list = asList(given) ?? [given];
  const { args, kwargs } = raw ? { args: list, kwargs: newDict() } : parseInput(list);
  return {
    ...{ tgt, tgt_type: typeof kind === 'string' && kind !== '' ? kind : isTexts(tgt) ? 'list' : 'glob', fun, raw },
    ...{ arg: args, kwarg: { ...kwargs, ...asPlainDict(chunk['kwarg']) }, rosterFile: roster ?? '' },
  };
}

export async function ssh(call: Call): Promise<Value[]> {
  const asked = callOf(call);
  const found = new Map<Value, Value>();
  let jid = '';
  for await (const item of call.session.call('ssh', sshCallArgs(asked), readSshItem, call.signal)) {
    if (item.type === 'hosts') jid = item.jid;
    if (item.type !== 'return') continue;
    const { id, ret, retcode, funArgs } = item;
    const facts = { return: ret, retcode, id, fun: asked.fun, fun_args: [...funArgs], jid, _stamp: eventStamp() };
    found.set(id, newDict(Object.entries(facts)));
  }
  return [found];
}
