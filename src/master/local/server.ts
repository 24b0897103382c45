// The master's unix socket: requests of local commands, authorized, answered as streams.
import { join } from 'node:path';
import { textField, textsField } from '../../base/codec/fields.ts';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isJid } from '../../base/util/jid.ts';
import type { JobItem } from '../../engine/client/api.ts';
import { ownSocketName, socketName } from '../../engine/client/socket.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { type AskedJob, funName } from '../../protocol/job/job.ts';
import {
  type IpcCall,
  type IpcServer,
  limitedUser,
  listenIpc,
  sharedLimits,
  trustedUser,
} from '../../protocol/wire/ipc.ts';
import { certificateKeyName } from '../../protocol/wire/messages/certificate.ts';
import { readCredentials } from '../../protocol/wire/messages/clear.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { hookKeyName } from '../../protocol/wire/messages/hook.ts';
import { type BatchRequest, readLocalPublish } from '../../protocol/wire/messages/local.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import { blockOf } from '../authorization/external-auth.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { MetricsService } from '../metrics/service.ts';
import type { BatchOptions } from '../publish/batch.ts';
import { type Preflight, preflightText, refuseBelow } from '../publish/preflight.ts';
import type { PreparedJob } from '../publish/publish.ts';
import type { MatchOptions, Targets } from '../publish/targets.ts';
import type { SharedKeys } from '../shared/keys.ts';
import type { KeyChanges } from '../sign-in/key-changes.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { ViewContext, Views } from '../views/verbs.ts';
import { ApiKey } from './api-key.ts';
import { Audit } from './audit.ts';
import { EventTail } from './event-tail.ts';
import { externalEvents } from './external-events.ts';
import { callFunction, type FunctionCallParts } from './function-call.ts';
import { fireHook } from './hook.ts';
import { type LoginParts, loginCall, originOf } from './login.ts';
import { Once } from './once.ts';
import { sshCall } from './ssh-call.ts';
import { recordSsh, type SshRecordParts } from './ssh-record.ts';
import { ownerOf, StartedJobs } from './started-jobs.ts';

/** What local commands may do with jobs. */
export interface LocalJobs {
  refuseForeignJid(request: AskedJob): Promise<void>;
  prepare(request: AskedJob): PreparedJob;
  send(job: PreparedJob, announce: boolean): AsyncIterable<JobItem>;
  follow(job: PreparedJob, signal: AbortSignal, announce: boolean): AsyncIterable<JobItem>;
  batch(request: AskedJob, options: BatchOptions, signal: AbortSignal): AsyncIterable<JobItem>;
  preflight(tgt: string | readonly string[], kind: string, options: MatchOptions): Preflight;
  attach(jid: string, signal: AbortSignal): AsyncIterable<JobItem>;
  userOf(jid: string): Promise<string | undefined>;
}

export interface LocalParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'sock_dir' | 'cachedir' | 'user'>;
  readonly log: Pick<Logger, 'info' | 'limited'>;
  readonly bus: Pick<EventBus, 'stream' | 'subscribe' | 'fire'>;
  readonly fleet: Pick<Fleet, 'connected'>;
  readonly targets: Pick<Targets, 'match'>;
  readonly authorization: Pick<
    Authorization,
    | 'authenticateCaller'
    | 'authorizeFunction'
    | 'authorizeOperator'
    | 'authorizePublish'
    | 'authorizeSsh'
    | 'hasFullRights'
    | 'viewOf'
  >;
  readonly functions: FunctionCallParts['functions'];
  readonly keyChanges: Pick<KeyChanges, 'noteAll' | 'rotateSoon'>;
  /** Only with other masters. */
  readonly sharedKeys?: Pick<SharedKeys, 'scan'>;
  readonly jobs: LocalJobs;
  readonly logins: LoginParts;
  readonly metrics: Pick<MetricsService, 'text' | 'health'>;
  readonly store: Pick<JobStore, 'saveAudit' | 'query'> & SshRecordParts['store'];
  readonly tracker: Pick<Tracker, 'job'>;
  readonly keys: Pick<KeyStore, 'has'>;
  /** The calls of our own API: loaded when the first of them comes. */
  views(context: ViewContext): Promise<Views>;
}

type Items = AsyncIterable<Value>;
type Verb = (args: PlainDict, caller: Caller, signal: AbortSignal) => Items | Promise<Items>;

/** What the calls of one socket have in common. */
interface Served extends LocalParts {
  readonly tail: EventTail;
  readonly started: StartedJobs;
  readonly audit: Audit;
  readonly once: Once;
  /** Settles when it is known who started the jobs before the last start. */
  restored(): Promise<void>;
}

export async function listenLocal(given: LocalParts): Promise<IpcServer> {
  const started = new StartedJobs();
  const audit = new Audit(given);
  const { store, tracker, keys } = given;
  const once = new Once({ audit, store, tracker, accepted: (id) => keys.has('accepted', id) });
  let restoring: Promise<void> | undefined;
  const restored = (): Promise<void> => {
    restoring ??= audit.restore(started);
    return restoring;
  };
  const parts: Served = { ...given, tail: new EventTail(given.bus), started, audit, once, restored };
  const hookKey = new ApiKey(parts.opts, hookKeyName);
  const byCertificate = blockOf(parts.opts.raw['external_auth'], 'pki') !== undefined;
  const certificateKey = byCertificate ? new ApiKey(parts.opts, certificateKeyName).bytes : undefined;
  const verbs = new Map<string, Verb>([
    // Authenticates the caller before anything large is sent.
    ['hello', async function* () {}],
    ['publish', (args, caller, signal) => publish(parts, args, caller, signal)],
    ['attach', (args, caller, signal) => attach(parts, args, caller, signal)],
    ['runner', (args, caller, signal) => callFunction(parts, 'runners', args, caller, signal)],
    ['wheel', (args, caller, signal) => callFunction(parts, 'wheel', args, caller, signal)],
    ['preview', (args, caller) => preview(parts, args, caller)],
    ['events', (args, caller, signal) => events(parts, args, caller, signal)],
    ['metrics', (_args, caller) => metricsText(parts, caller)],
    ['health', () => health(parts)],
    ['keys-changed', (args, caller) => keysChanged(parts, args, caller)],
    ['hook', (args, caller) => hook(parts, args, caller)],
    ['job-again', (args, caller) => again(parts, loadViews, args, caller)],
    ['ssh-record', (args, caller) => recordSsh(parts, args, caller)],
    ['ssh', (args, caller, signal) => sshCall(parts, args, caller, signal)],
  ]);
  let views: Promise<Views> | undefined;
  const loadViews = (): Promise<Views> => {
    views ??= given.views({ started, audit, restored: parts.restored() });
    return views;
  };
  const handler = async (call: IpcCall): Promise<void> => {
    // Whether it is ready is no secret: its own port for metrics tells it to everybody, too.
    if (call.verb === 'ready') return void (await stream(call, health(parts)));
    const login = loginCall({ logins: parts.logins, certificateKey }, call.verb, call.args);
    if (login) return void (await call.send(await audited(audit, call, login)));
    const verb = verbs.get(call.verb) ?? (await loadViews()).verbs.get(call.verb);
    if (!verb) throw new HaliteError('call.unknown', `the master has no call '${call.verb}'`);
    if (call.verb === 'hook' && hookKey.proves(textField(call.args, 'hook_key') ?? '')) {
      await call.admit('hook', limitedUser);
      return void (await call.send(fireHook(parts.bus, call.args)));
    }
    const caller = await parts.authorization
      .authenticateCaller(readCredentials(call.args), originOf(call.args))
      .catch((error: unknown) => refused(audit, call, error));
    await call.admit(ownerOf(caller), parts.authorization.hasFullRights(caller) ? trustedUser : limitedUser);
    try {
      await stream(call, await verb(call.args, caller, call.signal));
    } catch (error) {
      if (error instanceof HaliteError && error.code === 'auth.denied')
        void audit.note(caller, call.args, { what: 'refused', ...factsOf(call), result: error.code });
      throw error;
    }
  };
  const path = (name: string): string => join(parts.opts.sock_dir, name);
  if (!isShared(parts.opts.raw)) return listenIpc(path(socketName), { mode: 0o600 }, handler);
  // The master's own user has a socket that no other user can block.
  const servers = await Promise.all([
    listenIpc(path(socketName), { mode: 0o666, limits: sharedLimits }, handler),
    listenIpc(path(ownSocketName), { mode: 0o600 }, handler),
  ]);
  return {
    get connections() {
      return servers.reduce((sum, server) => sum + server.connections, 0);
    },
    async close() {
      parts.tail.close();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

function factsOf({ verb, args }: IpcCall): { fun: string; target: string } {
  const [tgt, fun] = [textsField(args, 'tgt') ?? textsField(args, 'id') ?? '', textsField(args, 'fun') ?? verb];
  return { fun: funName(fun), target: typeof tgt === 'string' ? tgt : tgt.join(',') };
}

function refused(audit: Audit, call: IpcCall, error: unknown): never {
  if (error instanceof HaliteError)
    audit.stranger(call.args, { what: 'refused', ...factsOf(call), result: error.code });
  throw error;
}

/** Whether a token lives is asked all the time, and is not worth a row. */
async function audited(audit: Audit, { verb, args }: IpcCall, login: Promise<Value>): Promise<Value> {
  if (verb !== 'login' && verb !== 'logout') return login;
  try {
    const value = await login;
    if (verb === 'login') audit.stranger(args, { what: verb, result: 'ok' });
    return value;
  } catch (error) {
    audit.stranger(args, { what: verb, result: error instanceof HaliteError ? error.code : 'failed' });
    throw error;
  }
}

/** Whether users without full rights may use this master. */
export function isShared({ publisher_acl: acl, external_auth: eauth }: PlainDict): boolean {
  return [acl, eauth].some((rules) => isDict(rules) && dictEntries(rules).length > 0);
}

/** Sends items at the speed at which the client reads them. */
async function stream(call: IpcCall, items: Items): Promise<void> {
  for await (const item of items) {
    if (call.signal.aborted) return;
    await call.send(item);
  }
}

/** The items of a job come from its own generator: another one around it would double the work for each of them. */
async function publish(parts: Served, args: PlainDict, caller: Caller, signal: AbortSignal): Promise<Items> {
  const { authorization, jobs, targets, log } = parts;
  const call = readLocalPublish(args);
  if (isProblem(call)) throw new HaliteError('call.arguments', `The job is refused: ${call.problem}.`);
  const { batch, require, announce = false } = call;
  const request = authorization.authorizePublish(caller, { ...call.job, user: caller.user });
  await jobs.refuseForeignJid(request);
  if (request.jid && caller.external && (await jobs.userOf(request.jid)) !== undefined) {
    // Its user has the same name, but need not be the same user.
    if (!(await startedBy(parts, caller, request.jid)))
      throw new HaliteError('call.arguments', `the job id ${request.jid} is in use`);
  }
  if (require) refuseBelow(log, jobs.preflight(request.tgt, request.tgt_type, request), require);
  const size = batch && (batch.size || safeSize(targets, request, batch));
  if (size) {
    const options = { size, waitSeconds: batch.wait ?? 0, failhard: batch.failhard === true, announce };
    // A caller waits for every batch, which needs its next slot.
    const items = jobs.batch({ ...request, unwatched: false }, options, signal);
    return noted(items, (jid) => noteJob(parts, args, caller, request, jid));
  }
  if (request.unwatched && textField(args, 'once')) return sentOnce(parts, args, caller, request);
  const job = jobs.prepare(request);
  noteJob(parts, args, caller, request, job.jid);
  const items = request.unwatched ? jobs.send(job, announce) : jobs.follow(job, signal, announce);
  return items as AsyncIterable<JobItem> as Items;
}

async function* noted(items: AsyncIterable<JobItem>, note: (jid: string) => void): Items {
  for await (const item of items) {
    if (item.type === 'job') note(item.jid);
    yield item as Value;
  }
}

async function* sentOnce(parts: Served, args: PlainDict, caller: Caller, request: AskedJob): Items {
  yield await sendOnce(parts, args, caller, request);
}

const itemOf = ({ jid, minions, missing }: PreparedJob): Value => ({
  type: 'job',
  jid,
  minions: [...minions],
  missing: [...missing],
});

const jobFacts = ({ fun, tgt }: AskedJob): { fun: string; target: string } => ({
  fun: funName(fun),
  target: typeof tgt === 'string' ? tgt : tgt.join(','),
});

function noteJob({ started, audit }: Served, args: PlainDict, caller: Caller, request: AskedJob, jid: string): void {
  started.note(jid, caller);
  void audit.note(caller, args, { what: 'job', ...jobFacts(request), jid });
}

/** The request may have been sent before: then it gets the same answer, and nothing is started. */
function sendOnce(parts: Served, args: PlainDict, caller: Caller, request: AskedJob): Promise<Value> {
  const { once, jobs, started } = parts;
  return once.run(caller, args, jobFacts(request), async (jid) => {
    started.note(jid, caller);
    const job = jobs.prepare({ ...request, jid });
    await job.send();
    return itemOf(job);
  });
}

/** The same job again, on some of its minions, with the rights that the caller has now. */
async function* again(parts: Served, views: () => Promise<Views>, args: PlainDict, caller: Caller): Items {
  const { authorization, jobs } = parts;
  const asked = await (await views()).again(args, caller);
  const request = authorization.authorizePublish(caller, { ...asked, user: caller.user, unwatched: true });
  if (textField(args, 'once')) {
    yield await sendOnce(parts, args, caller, request);
    return;
  }
  const job = jobs.prepare(request);
  noteJob(parts, args, caller, request, job.jid);
  await job.send();
  yield itemOf(job);
}

/** Names are not enough: users of external authentication may have those of users of this machine. */
async function startedBy({ started, restored }: Served, caller: Caller, jid: string): Promise<boolean> {
  await restored();
  return started.by(jid, ownerOf(caller));
}

/** For a command whose connection was lost, for example because the master was restarted. */
async function attach(parts: Served, args: PlainDict, caller: Caller, signal: AbortSignal): Promise<Items> {
  const { authorization, jobs } = parts;
  const jid = textField(args, 'jid');
  const user = isJid(jid) ? await jobs.userOf(jid) : undefined;
  const own = (id: string): boolean | Promise<boolean> =>
    caller.external ? startedBy(parts, caller, id) : user === caller.user || authorization.hasFullRights(caller);
  if (!isJid(jid) || user === undefined || !(await own(jid)))
    throw new HaliteError('call.arguments', 'The master knows no such job of this user.');
  return jobs.attach(jid, signal) as AsyncIterable<JobItem> as Items;
}

/** --batch-safe-limit: a job for that many minions becomes a batch automatically. */
function safeSize(targets: LocalParts['targets'], request: AskedJob, batch: BatchRequest): string | undefined {
  const { safe_limit: limit, safe_size: size = 8 } = batch;
  if (!limit) return undefined;
  const { matched, unknown } = targets.match(request.tgt, request.tgt_type, request);
  return matched.length + unknown.length >= limit ? String(size) : undefined;
}

/** It reveals whose grains and pillar match an expression, without a function that a rule could allow. */
async function* preview({ authorization, jobs, fleet }: LocalParts, args: PlainDict, caller: Caller): Items {
  authorization.authorizeOperator(caller, 'a preview of a target');
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

async function* events(parts: Served, args: PlainDict, caller: Caller, signal: AbortSignal): Items {
  const { authorization, bus } = parts;
  if (caller.external) {
    yield* externalEvents(parts, args, caller, signal);
    return;
  }
  authorization.authorizeOperator(caller, 'the event stream');
  for await (const { tag, data } of bus.stream(textField(args, 'tag') ?? '', { signal })) yield { tag, data };
}

async function* metricsText({ authorization, metrics }: LocalParts, caller: Caller): Items {
  if (!authorization.viewOf(caller).everything) authorization.authorizeOperator(caller, 'the metrics');
  yield await metrics.text();
}

/** It names no minion, no file and no member: every caller that proved who it is may know it. */
async function* health({ metrics }: LocalParts): Items {
  const { ready, why } = await metrics.health();
  yield newDict([
    ['ready', ready],
    ['why', newDict(Object.entries(why))],
  ]);
}

/** Any token may fire an event of a hook, but no user of this machine without full rights. */
async function* hook({ authorization, bus }: Served, args: PlainDict, caller: Caller): Items {
  if (!caller.external) authorization.authorizeOperator(caller, 'hooks');
  yield fireHook(bus, args);
}

/** salt-key changed the folders itself; this applies the change to a running master. */
async function* keysChanged(
  { authorization, keyChanges, sharedKeys }: LocalParts,
  args: PlainDict,
  caller: Caller,
): Items {
  authorization.authorizeOperator(caller, 'key changes');
  const overruled = (await sharedKeys?.scan('salt-key')) ?? [];
  await keyChanges.noteAll(args['changes']);
  if (args['rotate'] === true) keyChanges.rotateSoon();
  if (overruled.length > 0) throw new HaliteError('cluster.conflict', overruled.join('; '));
  yield true;
}
