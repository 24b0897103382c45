// `salt-call --return a,b`: passes the result of a local call to returners, in this process.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { type ReturnerChoice, ReturnerSessions, returnerChoice } from '../../engine/exec/index.ts';
import { callForReturner } from '../../engine/exec/returners/call.ts';
import type { JobReturn, ReturnerRequest } from '../../protocol/job/job-return.ts';
import { returnFields } from '../../protocol/wire/messages/job-return.ts';
import { type CallOutcome, localReturn } from './run.ts';
import type { Caller, LocalCallRequest } from './types.ts';

async function saveHere(
  caller: Caller,
  request: LocalCallRequest,
  choice: ReturnerChoice,
  ret: JobReturn,
): Promise<void> {
  const { runtime } = caller;
  const signal = request.signal ?? new AbortController().signal;
  const sessions = new ReturnerSessions(
    () => runtime.loader,
    () => ({
      ...{ id: runtime.id, opts: runtime.opts(), log: runtime.log, signal },
      grains: runtime.grains() as PlainDict,
      pillar: runtime.pillar() as PlainDict,
      call: (fun, args) => callForReturner(runtime, fun, args),
    }),
  );
  const problems = await sessions.save(choice, neverSent(returnFields(ret)));
  for (const { returner, error } of problems) {
    request.log.error(`The return failed for job ${ret.jid}: ${error}`, { returner });
  }
  await sessions.close();
}

/** A result that is not sent to a master is not a request. */
const neverSent = (fields: PlainDict): PlainDict => newDict(Object.entries(fields).filter(([name]) => name !== 'cmd'));

/** Saves the result; returns what the master shall do instead (`return_via_master`). */
export async function handToReturners(
  caller: Caller,
  request: LocalCallRequest,
  result: CallOutcome,
): Promise<ReturnerRequest | undefined> {
  const choice = returnerChoice({}, request.opts.raw['return']);
  if (!choice) return undefined;
  if (request.opts.return_via_master && caller.session && request.sendReturn !== false) return choice;
  const ret = localReturn(request, result);
  await saveHere(caller, request, choice, { ...ret, success: ret.retcode === 0 });
  return undefined;
}
