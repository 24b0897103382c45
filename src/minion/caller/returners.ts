// `salt-call --return a,b`: hands the result of a local call to returners, in this process.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { type ReturnerChoice, ReturnerSessions, returnerChoice } from '../../engine/exec/index.ts';
import { callForReturner } from '../../engine/exec/returners/call.ts';
import { choiceForMaster } from '../jobs/returners.ts';
import type { CallOutcome } from './run.ts';
import type { Caller, LocalCallRequest } from './types.ts';

/** What a returner gets; the fields of a return under the job id of the call. */
function loadOf(request: LocalCallRequest, result: CallOutcome): PlainDict {
  return newDict([
    ['jid', result.jid],
    ['return', result.return],
    ['retcode', result.retcode ?? 1],
    ...(result.out ? [['out', result.out] as const] : []),
    ['id', request.opts.id],
    ['fun', request.fun],
    ['fun_args', result.funArgs],
    ...(request.metadata !== undefined ? [['metadata', request.metadata] as const] : []),
    ['success', (result.retcode ?? 1) === 0],
  ]);
}

async function saveHere(
  caller: Caller,
  request: LocalCallRequest,
  choice: ReturnerChoice,
  load: PlainDict,
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
  const problems = await sessions.save(choice, load);
  for (const { returner, error } of problems) {
    request.log.error(`The return failed for job ${String(load['jid'])}: ${error}`, { returner });
  }
  await sessions.close();
}

/** Saves the result; what the master shall do instead, when it is asked to (`return_via_master`). */
export async function handToReturners(
  caller: Caller,
  request: LocalCallRequest,
  result: CallOutcome,
): Promise<PlainDict | undefined> {
  const choice = returnerChoice(newDict(), request.opts.raw['return']);
  if (!choice) return undefined;
  if (request.opts.return_via_master && caller.session && request.sendReturn !== false) return choiceForMaster(choice);
  await saveHere(caller, request, choice, loadOf(request, result));
  return undefined;
}
