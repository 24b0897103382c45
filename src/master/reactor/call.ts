// Runs one reaction: a job for minions, a runner, a wheel function, or a function on the master itself.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Chunk } from '../../engine/state/data.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import type { MasterFunctions, MasterKind } from '../local/functions.ts';
import type { OwnMinion } from '../local/own-minion.ts';
import { askedBy } from '../publish/run-job.ts';
import { describe, reactionArguments } from './arguments.ts';

/** Events of jobs that reactions start have this user, so that a reaction to them does not trigger itself. */
export const reactorUser = 'Reactor';

export interface ReactionParts {
  publish(request: AskedJob): Promise<unknown>;
  readonly functions: Pick<MasterFunctions, 'paramsOf' | 'start'>;
  readonly own: Pick<OwnMinion, 'call'>;
  readonly signal: AbortSignal;
}

const masterKinds: Readonly<Record<string, MasterKind>> = { runner: 'runners', wheel: 'wheel' };

/** Whether it only sends and is then finished; the others take as long as the called function. */
export const isSent = (chunk: Chunk): boolean => chunk['state'] === 'local';

/** Runs it to its end; throws with the reason when it fails. */
export async function carryOut(chunk: Chunk, parts: ReactionParts): Promise<void> {
  const kind = String(chunk['state']);
  if (kind === 'local') return publish(chunk, parts);
  if (kind === 'caller') return callHere(chunk, parts);
  const masterKind = Object.hasOwn(masterKinds, kind) ? masterKinds[kind] : undefined;
  if (masterKind) return callMaster(chunk, masterKind, parts);
  throw new HaliteError(
    'call.unknown',
    `${describe(chunk)}: there is no "${kind}"; use local, runner, wheel or caller`,
  );
}

async function publish(chunk: Chunk, parts: ReactionParts): Promise<void> {
  const { tgt } = chunk;
  if (typeof tgt !== 'string' && !Array.isArray(tgt)) {
    throw new HaliteError('call.arguments', `${describe(chunk)} has no target: it needs "- tgt: …"`);
  }
  const { args, kwargs } = reactionArguments(chunk);
  const extra = newDict(
    ['metadata', 'ret_config', 'ret_kwargs'].flatMap((name): [string, Value][] =>
      name in chunk ? [[name, chunk[name] as Value]] : [],
    ),
  );
  const kind = chunk['tgt_type'] ?? chunk['expr_form'];
  const request = askedBy({
    tgt: Array.isArray(tgt) ? tgt.map(String) : tgt,
    tgt_type: typeof kind === 'string' ? kind : Array.isArray(tgt) ? 'list' : 'glob',
    fun: String(chunk['fun']),
    arg: args,
    kwargs,
    ...(typeof chunk['ret'] === 'string' ? { ret: chunk['ret'] } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  });
  await parts.publish(request);
}

async function callMaster(chunk: Chunk, kind: MasterKind, { functions, signal }: ReactionParts): Promise<void> {
  const fun = String(chunk['fun']);
  const params = await functions.paramsOf(kind, fun);
  if (!params) throw new HaliteError('call.unknown', `${describe(chunk)}: there is no such function`);
  const { args, kwargs } = reactionArguments(chunk, params);
  const { ret, success } = await functions.start(kind, fun, args, kwargs, reactorUser, { signal }).result;
  if (!success) throw failure(chunk, ret);
}

async function callHere(chunk: Chunk, { own, signal }: ReactionParts): Promise<void> {
  const { args, kwargs } = reactionArguments(chunk);
  const options = { signal, user: reactorUser, progress: () => undefined };
  const outcome = await own.call(String(chunk['fun']), args, kwargs as PlainDict, options);
  if (!outcome.success) throw failure(chunk, outcome.return);
}

const failure = (chunk: Chunk, result: unknown): HaliteError =>
  new HaliteError(
    'call.failed',
    `${describe(chunk)} failed: ${typeof result === 'string' ? result.trim() : 'its result says so'}`,
  );
