// The master's unix socket: requests of local commands, authorized, answered as streams.
import { join } from 'node:path';
import { textField, textsField } from '../../base/codec/fields.ts';
import {
  asList,
  asPlainDict,
  dictEntries,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { JobItem, RunnerItem } from '../../engine/client/api.ts';
import { ownSocketName, socketName } from '../../engine/client/socket.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import {
  type IpcCall,
  type IpcServer,
  limitedUser,
  listenIpc,
  sharedLimits,
  trustedUser,
} from '../../protocol/wire/ipc.ts';
import { readCredentials } from '../../protocol/wire/messages/clear.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { type BatchRequest, readLocalPublish } from '../../protocol/wire/messages/local.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { BatchOptions } from '../publish/batch.ts';
import { type Preflight, preflightText, refuseBelow } from '../publish/preflight.ts';
import type { PreparedJob } from '../publish/publish.ts';
import type { MatchOptions, Targets } from '../publish/targets.ts';
import type { KeyChanges } from '../sign-in/key-changes.ts';
import type { MasterFunctions } from './functions.ts';

/** What local commands may do with jobs. */
export interface LocalJobs {
  refuseForeignJid(request: AskedJob): Promise<void>;
  prepare(request: AskedJob): PreparedJob;
  follow(job: PreparedJob, signal: AbortSignal): AsyncIterable<JobItem>;
  batch(request: AskedJob, options: BatchOptions, signal: AbortSignal): AsyncIterable<JobItem>;
  preflight(tgt: string | readonly string[], kind: string, options: MatchOptions): Preflight;
}

export interface LocalParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'sock_dir'>;
  readonly log: Pick<Logger, 'info'>;
  readonly bus: Pick<EventBus, 'stream'>;
  readonly fleet: Pick<Fleet, 'connected'>;
  readonly targets: Pick<Targets, 'match'>;
  readonly authorization: Pick<
    Authorization,
    'authenticateCaller' | 'authorizeMaster' | 'authorizePublish' | 'hasFullRights'
  >;
  readonly functions: Pick<MasterFunctions, 'start'>;
  readonly keyChanges: Pick<KeyChanges, 'note' | 'rotate'>;
  readonly jobs: LocalJobs;
}

type Items = AsyncIterable<Value>;
type Verb = (args: PlainDict, caller: Caller, signal: AbortSignal) => Items;

export async function listenLocal(parts: LocalParts): Promise<IpcServer> {
  const verbs = new Map<string, Verb>([
    // Authenticates the caller before anything large is sent.
    ['hello', async function* () {}],
    ['publish', (args, caller, signal) => publish(parts, args, caller, signal)],
    ['runner', (args, caller, signal) => callFunction(parts, 'runners', args, caller, signal)],
    ['wheel', (args, caller, signal) => callFunction(parts, 'wheel', args, caller, signal)],
    ['preview', (args, caller) => preview(parts, args, caller)],
    ['events', (args, caller, signal) => events(parts, args, caller, signal)],
    ['keys-changed', (args, caller) => keysChanged(parts, args, caller)],
  ]);
  const handler = async (call: IpcCall): Promise<void> => {
    const verb = verbs.get(call.verb);
    if (!verb) throw new HaliteError('call.unknown', `the master has no call '${call.verb}'`);
    const caller = parts.authorization.authenticateCaller(readCredentials(call.args));
    await call.admit(caller.user, parts.authorization.hasFullRights(caller) ? trustedUser : limitedUser);
    await stream(call, verb(call.args, caller, call.signal));
  };
  const path = (name: string): string => join(parts.opts.sock_dir, name);
  const { publisher_acl: acl, external_auth: eauth } = parts.opts.raw;
  const shared = [acl, eauth].some((rules) => isDict(rules) && dictEntries(rules).length > 0);
  if (!shared) return listenIpc(path(socketName), { mode: 0o600 }, handler);
  // The master's own user has a socket that no other user can block.
  const servers = await Promise.all([
    listenIpc(path(socketName), { mode: 0o666, limits: sharedLimits }, handler),
    listenIpc(path(ownSocketName), { mode: 0o600 }, handler),
  ]);
  return {
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** Sends items at the speed at which the client reads them. */
async function stream(call: IpcCall, items: Items): Promise<void> {
  for await (const item of items) {
    if (call.signal.aborted) return;
    await call.send(item);
  }
}

async function* publish(
  { authorization, jobs, targets, log }: LocalParts,
  args: PlainDict,
  caller: Caller,
  signal: AbortSignal,
): Items {
  const call = readLocalPublish(args);
  if (isProblem(call)) throw new HaliteError('call.arguments', `The job is refused: ${call.problem}.`);
  const { batch, require } = call;
  const request = authorization.authorizePublish(caller, { ...call.job, user: caller.user });
  await jobs.refuseForeignJid(request);
  if (require) refuseBelow(log, jobs.preflight(request.tgt, request.tgt_type, request), require);
  const size = batch && (batch.size || safeSize(targets, request, batch));
  if (size) {
    const options = { size, waitSeconds: batch.wait ?? 0, failhard: batch.failhard === true };
    // A caller waits for every batch, which needs its next slot.
    yield* jobs.batch({ ...request, unwatched: false }, options, signal) as AsyncIterable<JobItem> as Items;
    return;
  }
  const job = jobs.prepare(request);
  if (request.unwatched) {
    await job.send();
    yield { type: 'job', jid: job.jid, minions: [...job.minions], missing: [...job.missing] };
    return;
  }
  yield* jobs.follow(job, signal) as AsyncIterable<JobItem> as Items;
}

/** --batch-safe-limit: a job for that many minions becomes a batch automatically. */
function safeSize(targets: LocalParts['targets'], request: AskedJob, batch: BatchRequest): string | undefined {
  const { safe_limit: limit, safe_size: size = 8 } = batch;
  if (!limit) return undefined;
  const { matched, unknown } = targets.match(request.tgt, request.tgt_type, request);
  return matched.length + unknown.length >= limit ? String(size) : undefined;
}

async function* callFunction(
  { authorization, functions }: LocalParts,
  kind: 'runners' | 'wheel',
  args: PlainDict,
  caller: Caller,
  signal: AbortSignal,
): Items {
  const fun = textField(args, 'fun') ?? '';
  authorization.authorizeMaster(caller, `${kind === 'runners' ? 'runner' : 'wheel'} ${fun}`);
  const lines: RunnerItem[] = [];
  let wake = (): void => {};
  const background = args['async'] === true;
  const run = functions.start(
    kind,
    fun,
    asList(args['arg']) ?? [],
    asPlainDict(args['kwarg']) ?? newDict(),
    caller.user,
    {
      progress: (line) => {
        lines.push({ type: 'progress', text: line });
        wake();
      },
      print: (line) => {
        lines.push({ type: 'print', text: line });
        wake();
      },
      // In the background the function continues after the command that started it.
      ...(background ? {} : { signal }),
    },
  );
  yield { type: 'started', jid: run.jid };
  if (background) return;
  let done = false;
  const finished = run.result.then((result) => {
    lines.push({ type: 'result', ...result });
    done = true;
    wake();
  });
  while (!done || lines.length > 0) {
    const line = lines.shift();
    if (line) yield line as Value;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (done || lines.length > 0) resolve();
      });
  }
  await finished;
}

/** It reveals whose grains and pillar match an expression, without a function that a rule could allow. */
async function* preview({ authorization, jobs, fleet }: LocalParts, args: PlainDict, caller: Caller): Items {
  authorization.authorizeMaster(caller, 'a preview of a target');
  const { nodegroups } = args;
  const tgt = textsField(args, 'tgt');
  if (tgt === undefined)
    throw new HaliteError('call.arguments', 'A preview needs a target: a text or a list of texts.');
  const found = jobs.preflight(tgt, textField(args, 'tgt_type') || 'glob', {
    delimiter: textField(args, 'delimiter') || undefined,
    ...(isDict(nodegroups) ? { nodegroups } : {}),
  });
  yield {
    minions: found.matched,
    unknown: found.unknown,
    connected: newDict([...found.matched, ...found.unknown].map((id) => [id, fleet.connected(id)])),
    classes: newDict(Object.entries(found.classes)),
    summary: preflightText(found.classes),
  };
}

async function* events(
  { authorization, bus }: LocalParts,
  args: PlainDict,
  caller: Caller,
  signal: AbortSignal,
): Items {
  authorization.authorizeMaster(caller, 'the event stream');
  for await (const { tag, data } of bus.stream(textField(args, 'tag') ?? '', { signal })) yield { tag, data };
}

/** salt-key changed the folders itself; this applies the change to a running master. */
async function* keysChanged({ authorization, keyChanges }: LocalParts, args: PlainDict, caller: Caller): Items {
  authorization.authorizeMaster(caller, 'key changes');
  for (const change of asList(args['changes']) ?? []) {
    const { act, id } = asPlainDict(change) ?? newDict();
    if (typeof id !== 'string' || (act !== 'accept' && act !== 'reject' && act !== 'delete')) continue;
    keyChanges.note(act, id);
  }
  if (args['rotate'] === true) keyChanges.rotate();
  yield true;
}
