// From a request to a published, recorded job.
import { dictGet, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { generateJid, isJid } from '../../base/util/jid.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { jobNewTag } from '../../protocol/event/tags.ts';
import { isAdopted } from '../../protocol/job/adopted-job.ts';
import { type AskedJob, passedFields } from '../../protocol/job/asked-job.ts';
import { deadlineField, durableField } from '../../protocol/job/verdict.ts';
import { publishForm, type Target } from '../../protocol/target/index.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ActiveJob, Waiting } from '../tracking/active-job.ts';
import type { Reasons } from '../tracking/reasons.ts';
import type { BeginOptions, Tracker } from '../tracking/tracker.ts';
import type { Publisher } from './publisher.ts';
import type { Targets } from './targets.ts';

/** What it takes to publish a job and to follow it. */
export interface PublishParts {
  readonly opts: Pick<MasterOpts, 'timeout' | 'gather_job_timeout' | 'ext_job_cache' | 'unique_jid'>;
  readonly log: Pick<Logger, 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveJob' | 'load'>;
  readonly fleet: Pick<Fleet, 'connected'>;
  readonly targets: Pick<Targets, 'match'>;
  readonly reasons: Pick<Reasons, 'isSuspect'>;
  readonly publisher: Pick<Publisher, 'send'>;
  readonly tracker: Pick<Tracker, 'job' | 'open' | 'begin'>;
}

export interface PublishRequest extends AskedJob {
  readonly user: string;
  /** The only minions it may reach, when the caller may not reach all: the job then names its minions. */
  readonly only?: ReadonlySet<string>;
  /** Asked by a minion or a limited user: finding its target may cost less than for an operator. */
  readonly foreign?: boolean;
  readonly timeoutSeconds?: number;
  readonly gatherSeconds?: number;
  /** Only this many of the matched, chosen at random, connected ones first. */
  readonly subset?: number;
  /** Nobody waits: follow the job but do not ask minions about it. */
  readonly unwatched?: boolean;
  /** Hard end: minions kill the job, the wait ends. */
  readonly deadlineSeconds?: number;
  /** Kept this long for minions that are away. */
  readonly durableSeconds?: number;
  /** Sent by Halite itself. */
  readonly internal?: boolean;
}

export interface PublishedJob {
  readonly jid: string;
  readonly minions: readonly string[];
  /** Named in a list target but without an accepted key. */
  readonly missing: readonly string[];
  readonly active: ActiveJob;
}

interface Draft {
  readonly request: PublishRequest;
  readonly jid: string;
  readonly matched: readonly string[];
  readonly unknown: readonly string[];
  readonly missing: readonly string[];
  /** Milliseconds, with `durableSeconds`. */
  readonly durableUntil?: number;
  readonly form: { readonly tgt: string | string[]; readonly tgt_type: string; readonly delimiter?: string };
}

export const noMatchText = 'No minions matched the target. No command was sent, no jid was assigned.';

type Step = (parts: PublishParts, draft: Draft) => Draft;
/** In this order, tested by name. Authentication and authorisation happen before (authorization.ts). */
export const publishSteps: Readonly<Record<'expandTarget' | 'chooseSubset' | 'assignJid', Step>> = {
  expandTarget,
  chooseSubset,
  assignJid,
};

/** A job that is ready to go: whoever wants its results listens to `active` before `send`. */
export interface PreparedJob extends PublishedJob {
  send(): Promise<void>;
}

/** A job that is sent to some of its minions at a time, under one jid. */
export interface PreparedBatch extends PublishedJob {
  /** Opens the record and settles minions that are known to be away; the ids that are left. */
  begin(): Promise<string[]>;
  sendTo(ids: readonly string[]): Promise<void>;
}

/** Resolves the target and opens the record. Throws target.syntax or target.empty; nothing is sent yet. */
export function prepareJob(parts: PublishParts, request: PublishRequest): PreparedJob {
  const draft = draftOf(parts, request);
  const { jid, missing } = draft;
  const minions = [...draft.matched, ...draft.unknown];
  const active = follow(parts, draft);
  return { jid, minions, missing, active, send: () => send(parts, draft, minions, active) };
}

export function prepareBatch(parts: PublishParts, request: PublishRequest): PreparedBatch {
  const draft = draftOf(parts, request);
  const { jid, missing } = draft;
  const minions = [...draft.matched, ...draft.unknown];
  const active = follow(parts, draft);
  return {
    ...{ jid, minions, missing, active },
    async begin() {
      const saved = saveLoad(parts, draft);
      announce(parts, draft, minions);
      await saved;
      const away = new Set(minions.filter((id) => parts.fleet.connected(id) === 'no'));
      parts.tracker.begin(active, { ...beginOptions(draft), poll: false }, [...away, ...missing]);
      const there = minions.filter((id) => active.isOpen(id) && !away.has(id));
      active.hold(there);
      return there;
    },
    async sendTo(ids) {
      active.release(ids);
      try {
        await parts.publisher.send({ ...jobLoad(draft), tgt: [...ids], tgt_type: 'list' }, ids);
      } finally {
        // Also when it could not be sent: whoever did not get it is found out, and the batch goes on.
        parts.tracker.begin(active, beginOptions(draft), ids);
      }
    },
  };
}

/** With `ext_job_cache` minions store their results there themselves. */
function withJobCache(parts: PublishParts, request: PublishRequest): PublishRequest {
  const cache = parts.opts.ext_job_cache;
  const names = (request.ret ?? '').split(',').filter((name) => name !== '');
  if (!cache || request.internal || names.includes(cache)) return request;
  return { ...request, ret: [...names, cache].join(',') };
}

function draftOf(parts: PublishParts, asked: PublishRequest): Draft {
  const request = withJobCache(parts, asked);
  let draft: Draft = { request, jid: '', matched: [], unknown: [], missing: [], form: { tgt: '', tgt_type: 'glob' } };
  for (const step of Object.values(publishSteps)) draft = step(parts, draft);
  return draft;
}

function beginOptions({ request, durableUntil }: Draft): BeginOptions {
  return {
    poll: !request.unwatched,
    ...(request.deadlineSeconds ? { deadlineMs: request.deadlineSeconds * 1000 } : {}),
    ...(durableUntil ? { durableUntil } : {}),
  };
}

/** Publishes a job that nobody needs to follow from its first moment. */
export async function publishJob(parts: PublishParts, request: PublishRequest): Promise<PublishedJob> {
  const job = prepareJob(parts, request);
  await job.send();
  return job;
}

/** Publishes a job and waits until every expected minion has its verdict; results are handed out as they come. */
export async function runToEnd(job: PreparedJob, onReturn: (id: string, load: PlainDict) => void): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const stop = job.active.listen((update) => {
      if (update.type === 'return') onReturn(update.id, update.load);
      if (update.type !== 'end') return;
      stop();
      resolve();
    });
  });
  await job.send();
  await ended;
}

async function send(parts: PublishParts, draft: Draft, minions: readonly string[], active: ActiveJob): Promise<void> {
  const saved = saveLoad(parts, draft);
  announce(parts, draft, minions);
  try {
    await parts.publisher.send(jobLoad(draft), minions);
  } finally {
    // Also when it could not be sent: the record of each minion ends with what became of it.
    await saved;
    parts.tracker.begin(active, beginOptions(draft), [...minions, ...draft.missing]);
  }
}

function expandTarget(parts: PublishParts, draft: Draft): Draft {
  const { request } = draft;
  const found = parts.targets.match(request.tgt, request.tgt_type, request);
  const { target } = found;
  const missing = unlisted(target, new Set(found.matched));
  const { only } = request;
  const matched = only ? found.matched.filter((id) => only.has(id)) : found.matched;
  const unknown = only ? found.unknown.filter((id) => only.has(id)) : found.unknown;
  if (matched.length + unknown.length + missing.length === 0) throw new HaliteError('target.empty', noMatchText);
  // Grains may have changed since they were looked at here: a minion must not decide itself that it is allowed.
  const byName = only && (dependsOnData(target) || matched.length < found.matched.length);
  const form = byName ? { tgt: matched, tgt_type: 'list' } : publishForm(target);
  return { ...draft, matched, unknown, missing, form };
}

/** Whether a minion may see its own part in a target otherwise than the master does. */
const dependsOnData = ({ type }: Target): boolean => type !== 'glob' && type !== 'list' && type !== 'pcre';

/** Names in a list without an accepted key: they were asked for, so they are answered for. */
function unlisted(target: Target, matched: ReadonlySet<string>): string[] {
  return target.type === 'list' ? target.ids.filter((id) => !matched.has(id)) : [];
}

function chooseSubset(parts: PublishParts, draft: Draft): Draft {
  const { subset } = draft.request;
  if (!subset || subset >= draft.matched.length) return draft;
  const shuffled = draft.matched.map((id) => ({
    id,
    away: rankOf(parts, id),
    at: Math.random(),
  }));
  shuffled.sort((a, b) => a.away - b.away || a.at - b.at);
  const matched = shuffled.slice(0, subset).map((entry) => entry.id);
  return { ...draft, matched, unknown: [], missing: [], form: { tgt: matched, tgt_type: 'list' } };
}

/** Those that are there first, those that are known to be away last. */
function rankOf(parts: PublishParts, id: string): number {
  const connected = parts.fleet.connected(id);
  if (connected === 'yes') return 0;
  return connected === 'no' || parts.reasons.isSuspect(id) ? 2 : 1;
}

function assignJid(parts: PublishParts, draft: Draft): Draft {
  const given = draft.request.jid;
  if (given !== undefined && given !== '' && !isJid(given)) {
    throw new HaliteError('call.arguments', `'${given}' is not a job id`, {
      hint: 'A job id has 20 digits, like 20260131235959000001.',
    });
  }
  const { durableSeconds } = draft.request;
  return {
    ...draft,
    jid: given || generateJid({ unique: Boolean(parts.opts.unique_jid) }),
    ...(durableSeconds ? { durableUntil: Date.now() + durableSeconds * 1000 } : {}),
  };
}

const jidInUse = (jid: string): HaliteError => new HaliteError('call.arguments', `the job id ${jid} is in use`);

/** A jid that a caller brings along must be new, or of a job of the same user: records of others do not change. */
export async function refuseForeignJid(parts: PublishParts, { jid, user }: PublishRequest): Promise<void> {
  if (jid === undefined || parts.tracker.job(jid)) return;
  const known = await parts.store.load(jid);
  if (known && (isAdopted(known) || dictGet(known, 'user') !== user)) throw jidInUse(jid);
}

function follow(parts: PublishParts, draft: Draft): ActiveJob {
  const { opts } = parts;
  const waiting: Waiting = {
    timeoutMs: (draft.request.timeoutSeconds ?? opts.timeout) * 1000,
    gatherMs: (draft.request.gatherSeconds ?? opts.gather_job_timeout) * 1000,
  };
  const expected = [...draft.matched, ...draft.missing];
  const existing = parts.tracker.job(draft.jid);
  // A batch of Salt's own command publishes one job in several waves: the record is one.
  if (existing) {
    if (existing.user !== draft.request.user || existing.fun !== funName(draft.request.fun)) throw jidInUse(draft.jid);
    existing.expect(expected, draft.unknown);
    return existing;
  }
  return parts.tracker.open(
    draft.jid,
    funName(draft.request.fun),
    expected,
    draft.unknown,
    waiting,
    draft.request.user,
  );
}

const funName = (fun: string | readonly string[]): string => (typeof fun === 'string' ? fun : fun.join(','));

/** The job as it goes to minions: only fields that every generation understands. */
function jobLoad(draft: Draft): PlainDict {
  const { request, jid, form } = draft;
  const load = newDict([
    ['fun', typeof request.fun === 'string' ? request.fun : [...request.fun]],
    ['arg', [...request.arg]],
    ['tgt', form.tgt],
    ['jid', jid],
    ['ret', request.ret ?? ''],
    ['tgt_type', form.tgt_type],
    ['user', request.user],
  ]);
  if (form.delimiter && form.delimiter !== ':') load['delimiter'] = form.delimiter;
  // Only Halite minions know these: the first ends the job's process tree there, the second makes it run once.
  if (request.deadlineSeconds) load[deadlineField] = request.deadlineSeconds;
  if (draft.durableUntil) load[durableField] = Math.ceil(draft.durableUntil / 1000);
  for (const name of passedFields) {
    const value = dictGet(request.extra ?? {}, name);
    if (value !== undefined && value !== null) load[name] = value;
  }
  return load;
}

function saveLoad(parts: PublishParts, draft: Draft): Promise<void> {
  const { request, jid } = draft;
  const load = jobLoad(draft);
  load['tgt'] = typeof request.tgt === 'string' ? request.tgt : [...request.tgt];
  load['tgt_type'] = request.tgt_type;
  const record = {
    jid,
    fun: funName(request.fun),
    tgt: typeof request.tgt === 'string' ? request.tgt : request.tgt.join(','),
    tgt_type: request.tgt_type,
    user: request.user,
    load,
    expected: [...(parts.tracker.job(jid)?.verdicts().keys() ?? [])],
    started: Date.now(),
    internal: request.internal ?? false,
  };
  return parts.store.saveJob(record).catch((error: unknown) => {
    parts.log.limited('store', 'error', 'a job could not be stored', { jid, error: messageOf(error) });
  });
}

function announce(parts: PublishParts, draft: Draft, minions: readonly string[]): void {
  const { request, jid } = draft;
  parts.bus.fire(jid, { minions: [...minions] });
  parts.bus.fire(jobNewTag(jid), {
    jid,
    tgt_type: request.tgt_type,
    tgt: typeof request.tgt === 'string' ? request.tgt : [...request.tgt],
    user: request.user,
    fun: typeof request.fun === 'string' ? request.fun : [...request.fun],
    arg: [...request.arg],
    minions: [...minions],
    missing: [...draft.missing],
  });
}

/** Asks minions whether they still run a job; published like any job, kept apart in history. */
export function askFindJob(parts: PublishParts, jid: string, ids: readonly string[], waiting: Waiting): PreparedJob {
  return prepareJob(parts, {
    tgt: ids,
    tgt_type: 'list',
    fun: 'saltutil.find_job',
    arg: [jid],
    user: 'root',
    timeoutSeconds: waiting.gatherMs / 1000,
    unwatched: true,
    internal: true,
  });
}

/** Ends a job on minions that did not end it themselves. */
export async function killJob(parts: PublishParts, jid: string, ids: readonly string[]): Promise<void> {
  await publishJob(parts, {
    tgt: ids,
    tgt_type: 'list',
    fun: 'saltutil.kill_job',
    arg: [jid],
    user: 'root',
    unwatched: true,
    internal: true,
  });
}
