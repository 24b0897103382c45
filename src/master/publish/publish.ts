// From a request to a published, recorded job.
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { generateJid, isJid } from '../../base/util/jid.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { jobNewTag } from '../../protocol/event/tags.ts';
import { type AskedJob, funName, type PublishedJob, wireTexts } from '../../protocol/job/job.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { publishForm, type Target } from '../../protocol/target/index.ts';
import type { JobStore } from '../../store/jobs.ts';
import { jobRecord, storedJob } from '../../store/records.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type Gathering, namesOf } from '../lower-masters/gathering.ts';
import type { ActiveJob, Waiting } from '../tracking/active-job.ts';
import type { Reasons } from '../tracking/reasons.ts';
import type { BeginOptions, Tracker } from '../tracking/tracker.ts';
import { type BelowParts, goesBelow, masterName, orderFields } from './below.ts';
import type { Publications, Sent } from './publications.ts';
import type { Targets } from './targets.ts';

/** The dependencies of publishing and tracking a job. */
export interface PublishParts {
  readonly opts: Pick<
    MasterOpts,
    'timeout' | 'gather_job_timeout' | 'ext_job_cache' | 'unique_jid' | 'master_id' | 'syndic_wait'
  >;
  readonly log: Pick<Logger, 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveJob' | 'load'>;
  readonly fleet: Pick<Fleet, 'connected'>;
  readonly targets: Pick<Targets, 'match'>;
  readonly reasons: Pick<Reasons, 'isSuspect'>;
  readonly publications: Pick<Publications, 'send'>;
  readonly tracker: Pick<Tracker, 'job' | 'open' | 'begin' | 'addBelow'>;
  /** The masters below this one. */
  readonly lower?: BelowParts['lower'];
  /** Throws when this master starts no new jobs, because it is about to leave its cluster or its minions. */
  refuseNew?(asked: AskedJob): void;
  /** Called for each job, except those of the master itself. */
  counted?(fun: string): void;
}

/** A tracked job, and its minions. */
export interface TrackedJob {
  readonly jid: string;
  readonly minions: readonly string[];
  /** Named in a list target but without an accepted key. */
  readonly missing: readonly string[];
  readonly active: ActiveJob;
}

/** Between the request and the published job. */
interface Publication {
  readonly asked: AskedJob;
  /** As sent to minions. */
  readonly job: PublishedJob;
  readonly matched: readonly string[];
  readonly unknown: readonly string[];
  readonly missing: readonly string[];
  /** Set when lower masters may have further minions: of a target of names, these. */
  readonly below?: { readonly target: Target; readonly wanted: readonly string[] };
}

export const noMatchText = 'No minions matched the target. No command was sent, no jid was assigned.';

type Step = (parts: PublishParts, publication: Publication) => Publication;
/** In this order, tested by name. Authentication and authorization happen before (authorization.ts). */
export const publishSteps: Readonly<Record<'expandTarget' | 'chooseSubset' | 'assignJid', Step>> = {
  expandTarget,
  chooseSubset,
  assignJid,
};

/** A job that is ready to be sent: listeners for its results subscribe to `active` before `send`. */
export interface PreparedJob extends TrackedJob {
  send(): Promise<void>;
}

/** A job that is sent to some of its minions at a time, with one jid. */
export interface PreparedBatch extends TrackedJob {
  /** Creates the record and settles minions that are known to be disconnected; returns the remaining ids. */
  begin(): Promise<string[]>;
  sendTo(ids: readonly string[]): Promise<void>;
}

/** Resolves the target and creates the record. Throws target.syntax or target.empty; nothing is sent yet. */
export function prepareJob(parts: PublishParts, request: AskedJob): PreparedJob {
  const publication = publicationOf(parts, request);
  const { missing } = publication;
  const { jid } = publication.job;
  const minions = minionsOf(publication);
  const active = follow(parts, publication);
  return { jid, minions, missing, active, send: () => send(parts, publication, minions, active) };
}

export function prepareBatch(parts: PublishParts, request: AskedJob): PreparedBatch {
  const publication = publicationOf(parts, request);
  const { job, missing } = publication;
  const { jid } = job;
  const minions = minionsOf(publication);
  const active = follow(parts, publication);
  return {
    ...{ jid, minions, missing, active },
    async begin() {
      const saved = saveJob(parts, publication);
      announce(parts, publication, minions);
      await saved;
      const away = new Set(minions.filter((id) => parts.fleet.connected(id) === 'no'));
      parts.tracker.begin(active, { ...beginOptions(publication), poll: false }, [...away, ...missing]);
      const there = minions.filter((id) => active.isOpen(id) && !away.has(id));
      active.hold(there);
      return there;
    },
    async sendTo(ids) {
      active.release(ids);
      let sent: Sent = {};
      try {
        sent = await parts.publications.send({ ...job, tgt: ids, tgt_type: 'list' }, ids);
      } finally {
        // Also when it could not be sent: the tracker finds minions that did not get it, and the batch continues.
        parts.tracker.begin(active, { ...beginOptions(publication), ...sent }, ids);
      }
    },
  };
}

/** With `ext_job_cache` minions store their results there themselves. */
function withJobCache(parts: PublishParts, request: AskedJob): AskedJob {
  const cache = parts.opts.ext_job_cache;
  const names = (request.ret ?? '').split(',').filter((name) => name !== '');
  if (!cache || request.internal || names.includes(cache)) return request;
  return { ...request, ret: [...names, cache].join(',') };
}

function publicationOf(parts: PublishParts, request: AskedJob): Publication {
  if (!request.internal) parts.refuseNew?.(request);
  const asked = withJobCache(parts, request);
  const job = unnumbered(parts, asked);
  let publication: Publication = { asked, job, matched: [], unknown: [], missing: [] };
  for (const step of Object.values(publishSteps)) publication = step(parts, publication);
  return publication;
}

/** Only what minions need: how long a caller waits, and how many minions get it, is not sent. */
function unnumbered(parts: PublishParts, asked: AskedJob): PublishedJob {
  const { fun, arg, tgt, tgt_type, ret = '', user, deadlineSeconds } = asked;
  const options = masterName(parts.opts, asked.options);
  const extra = orderFields(parts, asked);
  return {
    ...{ jid: '', fun, arg, tgt, tgt_type, ret, user },
    ...(options ? { options } : {}),
    ...(extra ? { extra } : {}),
    ...(deadlineSeconds ? { deadlineSeconds } : {}),
  };
}

const minionsOf = ({ matched, unknown }: Publication): string[] => [...matched, ...unknown];

function beginOptions({ asked, job }: Publication): BeginOptions {
  return {
    poll: !asked.unwatched,
    ...(job.deadlineSeconds ? { deadlineMs: job.deadlineSeconds * 1000 } : {}),
    ...(job.durableUntil ? { durableUntil: job.durableUntil * 1000 } : {}),
  };
}

/** Publishes a job that nobody needs to follow from the start. */
export async function publishJob(parts: PublishParts, request: AskedJob): Promise<TrackedJob> {
  const job = prepareJob(parts, request);
  await job.send();
  return job;
}

/** Publishes a job and waits until every expected minion has a verdict; results are passed on as they arrive. */
export async function runToEnd(job: PreparedJob, onReturn: (ret: JobReturn) => void): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const stop = job.active.listen((update) => {
      if (update.type === 'return') onReturn(update.ret);
      if (update.type !== 'end') return;
      stop();
      resolve();
    });
  });
  await job.send();
  await ended;
}

async function send(
  parts: PublishParts,
  publication: Publication,
  minions: readonly string[],
  active: ActiveJob,
): Promise<void> {
  const gathering = waitForLists(parts, publication, active);
  const saved = saveJob(parts, publication);
  announce(parts, publication, minions);
  const missing = gathering ? [] : publication.missing;
  let sent: Sent = {};
  try {
    sent = await parts.publications.send(publication.job, minions);
  } finally {
    // Also when it could not be sent: the record of each minion ends with its verdict.
    await saved;
    parts.tracker.begin(active, { ...beginOptions(publication), ...sent }, [...minions, ...missing]);
    gathering?.start();
  }
}

function waitForLists(parts: PublishParts, publication: Publication, active: ActiveJob): Gathering | undefined {
  const { asked, below, job } = publication;
  if (!below || asked.internal) return undefined;
  return parts.lower?.gather(job.jid, {
    ...{ tracker: parts.tracker, active, ...below, options: beginOptions(publication) },
    // The record names the minions that are expected.
    ended: (added) => void (added.length > 0 && saveJob(parts, publication)),
  });
}

function expandTarget(parts: PublishParts, publication: Publication): Publication {
  const { asked, job } = publication;
  const found = parts.targets.match(asked.tgt, asked.tgt_type, asked);
  const { target } = found;
  const { only } = asked;
  const below = goesBelow(parts, asked);
  const isMeant = (id: string): boolean => (only?.has(id) ?? true) && !(below && parts.lower?.isNoMinion(id));
  // Minions that a lower master has named before are found again.
  const listed = below && target.type === 'list' ? target.ids.filter((id) => parts.lower?.via(id) !== undefined) : [];
  const matched = [...new Set([...found.matched.filter(isMeant), ...listed])];
  const unknown = found.unknown.filter(isMeant);
  // Names without an accepted key were requested, so they get a verdict; below, others know who they are.
  const missing = below && target.type !== 'list' ? [] : found.absent.filter((id) => !listed.includes(id));
  const nobody = matched.length + unknown.length + missing.length === 0;
  if (nobody && !below) throw new HaliteError('target.empty', noMatchText);
  // Grains may have changed since they were evaluated here: a minion must not decide itself whether it is allowed.
  const byName = only && (dependsOnData(target) || matched.length < found.matched.length);
  const form = byName ? { tgt: matched, tgt_type: 'list' } : publishForm(target);
  const wanted = below ? namesOf(target)?.filter((id) => !matched.includes(id)) : undefined;
  const others = below && wanted?.length !== 0 ? { below: { target, wanted: wanted ?? [] } } : {};
  return { ...publication, matched, unknown, missing, ...others, job: { ...job, ...form } };
}

/** Whether a minion may evaluate a target differently than the master does. */
const dependsOnData = ({ type }: Target): boolean => type !== 'glob' && type !== 'list' && type !== 'pcre';

function chooseSubset(parts: PublishParts, publication: Publication): Publication {
  const { subset } = publication.asked;
  if (!subset || subset >= publication.matched.length) return publication;
  const shuffled = publication.matched.map((id) => ({
    id,
    away: rankOf(parts, id),
    at: Math.random(),
  }));
  shuffled.sort((a, b) => a.away - b.away || a.at - b.at);
  const matched = shuffled.slice(0, subset).map((entry) => entry.id);
  const job = { ...publication.job, tgt: matched, tgt_type: 'list' };
  return { ...publication, matched, unknown: [], missing: [], job };
}

/** Connected minions first, those known to be disconnected last. */
function rankOf(parts: PublishParts, id: string): number {
  const connected = parts.fleet.connected(id);
  if (connected === 'yes') return 0;
  return connected === 'no' || parts.reasons.isSuspect(id) ? 2 : 1;
}

function assignJid(parts: PublishParts, publication: Publication): Publication {
  const { jid: given, durableSeconds } = publication.asked;
  if (given !== undefined && given !== '' && !isJid(given)) {
    throw new HaliteError('call.arguments', `'${given}' is not a job id`, {
      hint: 'A job id has 20 digits, like 20260131235959000001.',
    });
  }
  const jid = given || generateJid({ unique: Boolean(parts.opts.unique_jid) });
  // Only Halite minions support this, like the deadline: the job then runs once there.
  const durableUntil = durableSeconds ? Math.ceil(Date.now() / 1000 + durableSeconds) : undefined;
  const job = { ...publication.job, jid, ...(durableUntil ? { durableUntil } : {}) };
  return { ...publication, job };
}

const jidInUse = (jid: string): HaliteError => new HaliteError('call.arguments', `the job id ${jid} is in use`);

/**
 * A jid given by a caller must be new, or of a job of the same user: records of other users must not change. A job of
 * this master that comes from above went in a circle: masters above each other would publish it for ever.
 */
export async function refuseForeignJid(parts: PublishParts, { jid, user, fromAbove }: AskedJob): Promise<void> {
  const tracked = jid === undefined ? undefined : parts.tracker.job(jid);
  if (jid !== undefined && fromAbove && tracked?.fromAbove === false) throw jidInUse(jid);
  if (jid === undefined || tracked) return;
  const load = await parts.store.load(jid);
  const known = load && storedJob(load);
  if (load && (!known || known.startedBy !== undefined || known.user !== user)) throw jidInUse(jid);
}

function follow({ opts, tracker }: PublishParts, publication: Publication): ActiveJob {
  const { asked, job, matched, missing, unknown } = publication;
  const waiting: Waiting = {
    timeoutMs: (asked.timeoutSeconds ?? opts.timeout) * 1000,
    gatherMs: (asked.gatherSeconds ?? opts.gather_job_timeout) * 1000,
  };
  const expected = [...matched, ...missing];
  const fun = funName(job.fun);
  const existing = tracker.job(job.jid);
  // A batch of Salt's own command publishes one job in several steps: the record is one.
  if (existing) {
    if (existing.user !== asked.user || existing.fun !== fun) throw jidInUse(job.jid);
    existing.expect(expected, unknown);
    return existing;
  }
  const opened = tracker.open(job.jid, fun, expected, unknown, waiting, asked.user);
  opened.fromAbove = asked.fromAbove === true;
  return opened;
}

/** The record contains the target as it was requested. */
function saveJob(parts: PublishParts, { asked, job }: Publication): Promise<void> {
  const { jid } = job;
  const { tgt, tgt_type, internal = false } = asked;
  const expected = [...(parts.tracker.job(jid)?.verdicts().keys() ?? [])];
  const record = jobRecord({ ...job, tgt, tgt_type }, { expected, started: Date.now(), internal });
  return parts.store.saveJob(record).catch((error: unknown) => {
    parts.log.limited('store', 'error', 'a job could not be stored', { jid, error: messageOf(error) });
  });
}

function announce(parts: PublishParts, { asked, job, missing }: Publication, minions: readonly string[]): void {
  const { jid } = job;
  const { tgt_type, tgt, user, fun, arg } = asked;
  if (!asked.internal) parts.counted?.(funName(fun));
  parts.bus.fire(jid, { minions: [...minions] });
  parts.bus.fire(jobNewTag(jid), {
    jid,
    tgt_type,
    tgt: wireTexts(tgt),
    user,
    fun: wireTexts(fun),
    arg: [...arg],
    minions: [...minions],
    missing: [...missing],
  });
}

/** Asks minions whether they still run a job; published like any job, stored separately in the history. */
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

/** Asks a Salt minion for a result that it may have kept. */
export function askCachedJob(parts: PublishParts, jid: string, id: string): PreparedJob {
  return prepareJob(parts, {
    tgt: [id],
    tgt_type: 'list',
    fun: 'saltutil.find_cached_job',
    arg: [jid],
    user: 'root',
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
