// Processes results, once each, and acknowledges those that are stored.
import { dictEntries, isDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { generateJid, isJid } from '../../../base/util/jid.ts';
import { isValidMinionId } from '../../../base/util/valid-id.ts';
import type { EventBus } from '../../../protocol/event/bus.ts';
import { jobReturnTag } from '../../../protocol/event/tags.ts';
import { adoptedJob, adoptedReturn, isFutureJid } from '../../../protocol/job/adopted-job.ts';
import type { JobReturn } from '../../../protocol/job/job-return.ts';
import { isProblem } from '../../../protocol/wire/messages/fields.ts';
import { readJobReturn, readSyndicReturns, returnFields } from '../../../protocol/wire/messages/job-return.ts';
import type { JobStore } from '../../../store/jobs.ts';
import type { KeyStore } from '../../../store/keys.ts';
import { jobRecord, returnRecord, storedJob } from '../../../store/records.ts';
import type { DurableJobs } from '../../tracking/durable.ts';
import type { Tracker } from '../../tracking/tracker.ts';
import type { Sender } from '../sender.ts';
import type { Handlers } from './table.ts';

export interface ReturnParts {
  readonly opts: { readonly raw: PlainDict };
  readonly log: Pick<Logger, 'limited' | 'debug'>;
  readonly keys: Pick<KeyStore, 'accepted'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveJob' | 'saveReturn' | 'load' | 'expected'>;
  readonly tracker: Pick<Tracker, 'job' | 'alreadyReturned' | 'returned'>;
  readonly durable: Pick<DurableJobs, 'returned'>;
  /** Passes a result to the returners that its minion requests; resolves when it is stored in their spools. */
  passOn(ret: JobReturn, load: PlainDict): Promise<void>;
}

/** State of the handlers between results, by job and minion. */
class ReturnMemory {
  /** Results that are passed on but not stored yet. */
  readonly unsafe = new Map<string, Promise<void>>();
  readonly #assigned = new Map<string, string>();

  /** A jid assigned by the master to a run whose own is not usable: the same one when the result is sent again. */
  jidFor(jid: string, id: string): string {
    const key = `${jid} ${id}`;
    const known = this.#assigned.get(key);
    if (known) return known;
    const fresh = generateJid();
    this.#assigned.set(key, fresh);
    const [oldest] = this.#assigned.keys();
    if (this.#assigned.size > mostAssigned && oldest !== undefined) this.#assigned.delete(oldest);
    return fresh;
  }
}
const mostAssigned = 10_000;

export function returnHandlers(parts: ReturnParts): Handlers {
  const memory = new ReturnMemory();
  return {
    _return: { run: (load, sender) => takeReturn(parts, load, sender, memory) },
    _syndic_return: { run: (load, sender) => takeSyndicReturn(parts, load, sender, memory) },
  };
}

async function takeReturn(parts: ReturnParts, load: PlainDict, sender: Sender, memory: ReturnMemory): Promise<Value> {
  // The envelope authenticated the sender: an id in the load is ignored.
  const { id } = sender;
  const ret = readJobReturn(load, { id });
  if (isProblem(ret)) {
    refuse(parts, id, 'return refused', ret.problem);
    return null;
  }
  const jid = await adoptedJid(parts, ret, memory);
  if (jid !== undefined) await record(parts, await adopt(parts, ret, jid), memory);
  else if (ret.jid === 'nocache') parts.bus.fire(jobReturnTag(ret.jid, id), returnFields(ret));
  else if (!isJid(ret.jid)) refuse(parts, id, 'return refused', 'the jid is malformed');
  else if (await belongs(parts, ret.jid, id)) await record(parts, ret, memory);
  else refuse(parts, id, 'result of a minion that was not asked refused', `the job ${ret.jid} is not for this minion`);
  return null;
}

function refuse(parts: ReturnParts, minion: string, message: string, why: string): void {
  parts.log.limited(`return:${minion}:${message}`, 'warn', message, { minion, why });
}

/**
 * A run that was not published (`salt-call`, the schedule) becomes a job like any other, whose record contains only
 * what a minion may set. Returns the result with the jid of that job.
 */
async function adopt(parts: ReturnParts, ret: JobReturn, jid: string): Promise<JobReturn> {
  const job = adoptedJob(ret, jid);
  const record = jobRecord(job, { expected: [ret.id], started: Date.now(), internal: false });
  await save(parts, () => parts.store.saveJob(record));
  return adoptedReturn(ret, job);
}

/**
 * The jid of a run that the master did not publish; undefined for other runs. A scheduled run has its own jid, which
 * is used if it is not in use and this master cannot generate it later.
 */
async function adoptedJid(parts: ReturnParts, ret: JobReturn, memory: ReturnMemory): Promise<string | undefined> {
  const { id, jid, schedule } = ret;
  if (jid === 'req') return generateJid();
  if (schedule === undefined || !isJid(jid)) return undefined;
  if (parts.tracker.job(jid) || isFutureJid(jid)) return memory.jidFor(jid, id);
  const known = await parts.store.load(jid);
  return !known || storedJob(known)?.startedBy === id ? jid : memory.jidFor(jid, id);
}

/**
 * Whether the job was sent to this minion. An unknown job is one whose record was lost: its result is still accepted,
 * but a result must not be stored for a job that is published later.
 */
async function belongs(parts: ReturnParts, jid: string, id: string): Promise<boolean> {
  const job = parts.tracker.job(jid);
  if (job?.verdict(id)) return true;
  // After a restart the tracker only has the minions whose outcome was open.
  const known = await parts.store.load(jid);
  return known ? (await parts.store.expected(jid)).includes(id) : !job && !isFutureJid(jid);
}

/** Stores one result and notifies all listeners; a second delivery of the same result changes nothing. */
async function record(parts: ReturnParts, ret: JobReturn, { unsafe }: ReturnMemory): Promise<void> {
  const { jid, id } = ret;
  const key = `${jid} ${id}`;
  const again = parts.tracker.alreadyReturned(jid, id);
  const waiting = again ? unsafe.get(key) : undefined;
  // Sent again because the acknowledgement takes long: this one waits for the same write.
  if (waiting) return waiting;
  // Encoded once: events, the store and returners use the same value.
  const load = returnFields(ret);
  const passed = again ? undefined : parts.passOn(ret, load);
  // The result is passed on immediately, and once; the acknowledgement waits until it is stored.
  if (!again) {
    parts.tracker.returned(ret);
    parts.durable.returned(jid, id);
    parts.bus.fire(jobReturnTag(jid, id), load);
  }
  // Sent again after storing failed, or because the acknowledgement was lost: only the store can tell which.
  const safe = Promise.all([parts.store.saveReturn(returnRecord(ret, load, Date.now())), passed])
    .then(() => {})
    .finally(() => unsafe.delete(key));
  unsafe.set(key, safe);
  // A result that could not be stored is not acknowledged: the minion keeps it and sends it again.
  await safe;
}

/** A failing store must not lose the result for the waiting caller; it is logged once a minute. */
async function save(parts: ReturnParts, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    parts.log.limited('store', 'error', 'a result could not be stored', { error: messageOf(error) });
  }
}

/**
 * Syndics send bundles of results; each entry names its minion. Only where syndics are expected, and
 * never for a minion that has a key here, because it sends its own results.
 */
async function takeSyndicReturn(
  parts: ReturnParts,
  load: PlainDict,
  sender: Sender,
  memory: ReturnMemory,
): Promise<Value> {
  const refuse = (why: string): void =>
    parts.log.limited(`syndic:${sender.id}:${why}`, 'warn', 'results of others refused', { from: sender.id, why });
  if (parts.opts.raw['order_masters'] !== true) {
    refuse('order_masters is off: this master has no syndics');
    return null;
  }
  const bundles = readSyndicReturns(load);
  for (const bundle of bundles) {
    for (const [id, part] of dictEntries(bundle.return)) {
      if (!isValidMinionId(id) || !isDict(part) || part instanceof Map) continue;
      if (id !== sender.id && parts.keys.accepted(id)) {
        refuse(`${id} has a key on this master`);
        continue;
      }
      const { jid, fun } = bundle;
      const ret = readJobReturn(part, { id, jid, fun });
      if (!isProblem(ret) && isJid(ret.jid)) await record(parts, ret, memory);
    }
  }
  parts.log.debug('syndic results accepted', { syndic: sender.id, bundles: bundles.length });
  return null;
}
