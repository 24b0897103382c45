// Takes results in, once each, and acknowledges what is safe.
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
  /** Hands a result to the returners its minion asks for; resolves when it is safe there. */
  passOn(ret: JobReturn, load: PlainDict): Promise<void>;
}

/** What the handlers remember between results, by job and minion. */
class ReturnMemory {
  /** Results that are handed on but not stored yet. */
  readonly unsafe = new Map<string, Promise<void>>();
  readonly #assigned = new Map<string, string>();

  /** A jid of the master for a run whose own cannot be used: the same again when the result is sent again. */
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
  // The envelope proved who sends: what the load says about it does not count.
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
 * A run that no master asked for (`salt-call`, the schedule) becomes a job like any other, whose record says only what
 * a minion may say. Gives the result under the jid of that job.
 */
async function adopt(parts: ReturnParts, ret: JobReturn, jid: string): Promise<JobReturn> {
  const job = adoptedJob(ret, jid);
  const record = jobRecord(job, { expected: [ret.id], started: Date.now(), internal: false });
  await save(parts, () => parts.store.saveJob(record));
  return adoptedReturn(ret, job);
}

/**
 * The jid of a run that the master did not publish; undefined for the others. A scheduled run brings one along, which
 * counts while nobody else has it and this master can not come to make it.
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
 * Whether this minion was asked. A job that nobody knows is one whose record was lost: late is better than lost, but a
 * result must not wait for a job that comes later.
 */
async function belongs(parts: ReturnParts, jid: string, id: string): Promise<boolean> {
  const job = parts.tracker.job(jid);
  if (job?.verdict(id)) return true;
  // After a restart the tracker knows only the minions whose fate was open.
  const known = await parts.store.load(jid);
  return known ? (await parts.store.expected(jid)).includes(id) : !job && !isFutureJid(jid);
}

/** Stores one result and tells everybody who waits; a second delivery of the same result changes nothing. */
async function record(parts: ReturnParts, ret: JobReturn, { unsafe }: ReturnMemory): Promise<void> {
  const { jid, id } = ret;
  const key = `${jid} ${id}`;
  const again = parts.tracker.alreadyReturned(jid, id);
  const waiting = again ? unsafe.get(key) : undefined;
  // Sent again because the acknowledgement takes long: this one waits for the same.
  if (waiting) return waiting;
  // Written once: events, the store and returners carry the same.
  const load = returnFields(ret);
  const passed = again ? undefined : parts.passOn(ret, load);
  // The result is handed on at once, and once; the acknowledgement waits until it is stored.
  if (!again) {
    parts.tracker.returned(ret);
    parts.durable.returned(jid, id);
    parts.bus.fire(jobReturnTag(jid, id), load);
  }
  // Sent again after that failed, or because the acknowledgement was lost: only the store knows which.
  const safe = Promise.all([parts.store.saveReturn(returnRecord(ret, load, Date.now())), passed])
    .then(() => {})
    .finally(() => unsafe.delete(key));
  unsafe.set(key, safe);
  // What could not be stored is not acknowledged: the minion keeps it and brings it again.
  await safe;
}

/** A store that fails must not lose the answer for the one who waits; it is said aloud, once a minute. */
async function save(parts: ReturnParts, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    parts.log.limited('store', 'error', 'a result could not be stored', { error: messageOf(error) });
  }
}

/**
 * Lower masters bring bundles of results; each entry names its minion. Only where lower masters are expected, and
 * never for a minion that has a key here: it speaks for itself.
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
    refuse('order_masters is off: this master has no lower masters');
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
  parts.log.debug('syndic results taken', { syndic: sender.id, bundles: bundles.length });
  return null;
}
