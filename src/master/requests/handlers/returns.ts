// Processes results, once each, and acknowledges those that are stored.
import type { PlainDict } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { isJid, takeJid } from '../../../base/util/jid.ts';
import type { EventBus } from '../../../protocol/event/bus.ts';
import { jobReturnTag } from '../../../protocol/event/tags.ts';
import { stampOf } from '../../../protocol/job/adopted-job.ts';
import type { JobReturn } from '../../../protocol/job/job-return.ts';
import { isProblem } from '../../../protocol/wire/messages/fields.ts';
import { readJobReturn, returnFields } from '../../../protocol/wire/messages/job-return.ts';
import type { JobStore } from '../../../store/jobs.ts';
import type { KeyStore } from '../../../store/keys.ts';
import { returnRecord, storedJob } from '../../../store/records.ts';
import type { KnownJobs } from '../../shared/known-jobs.ts';
import type { DurableJobs } from '../../tracking/durable.ts';
import type { ResultKind } from '../../tracking/job-counts.ts';
import type { Tracker } from '../../tracking/tracker.ts';
import type { Sender } from '../sender.ts';
import { type Adopted, adoptKept, adoptRun, isOwnRun } from './adopt.ts';
import { ReturnMemory } from './return-memory.ts';
import { type SyndicReturnParts, takeSyndicReturn } from './syndic-returns.ts';
import type { Handlers } from './table.ts';

export interface ReturnParts {
  readonly log: Pick<Logger, 'limited' | 'debug'>;
  readonly keys: Pick<KeyStore, 'accepted'>;
  readonly lower: SyndicReturnParts['lower'];
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveJob' | 'saveReturn' | 'load' | 'expected' | 'hasReturn'>;
  readonly tracker: Pick<Tracker, 'job' | 'alreadyReturned' | 'returned'>;
  readonly durable: Pick<DurableJobs, 'returned'>;
  /** Jobs that any member of the cluster published lately. */
  readonly known: Pick<KnownJobs, 'isFor' | 'owner'>;
  /** Passes a result to the returners that its minion requests, if any; resolves when it is stored in their spools. */
  passOn(ret: JobReturn, load: PlainDict): Promise<void> | undefined;
  /** Called for each result. */
  counted?(kind: ResultKind): void;
}

export function returnHandlers(parts: ReturnParts): Handlers {
  const memory = new ReturnMemory();
  return {
    _return: { run: (load, sender) => takeReturn(parts, load, sender, memory) },
    _syndic_return: {
      run: (load, sender) =>
        takeSyndicReturn({ ...parts, memory, record: (ret, again) => record(parts, ret, memory, again) }, load, sender),
    },
  };
}

/** What a minion gets for a result, whether it was taken or refused for good. */
type Receipt = null;

function takeReturn(
  parts: ReturnParts,
  load: PlainDict,
  sender: Sender,
  memory: ReturnMemory,
): Receipt | Promise<Receipt> {
  // The envelope authenticated the sender: an id in the load is ignored.
  const { id } = sender;
  const ret = readJobReturn(load, { id });
  if (isProblem(ret)) {
    refuse(parts, id, 'return refused', ret.problem);
    return null;
  }
  // Nearly all results: nothing but the store has to be waited for.
  if (ret.keptFor === undefined && !isOwnRun(ret) && parts.tracker.job(ret.jid)?.verdict(id)) {
    return record(parts, ret, memory);
  }
  return takeOther(parts, ret, memory);
}

async function takeOther(parts: ReturnParts, ret: JobReturn, memory: ReturnMemory): Promise<Receipt> {
  const adopting = { ...parts, save: (write: () => Promise<unknown>) => save(parts, write) };
  if (isOwnRun(ret)) await recordUntracked(parts, await adoptRun(adopting, ret, memory), memory);
  else if (ret.jid === 'nocache') fireOnce(parts, ret, memory);
  else if (!isJid(ret.jid)) refuse(parts, ret.id, 'return refused', 'the jid is malformed');
  else if (ret.keptFor !== undefined && !(await isOwnJob(parts, ret.jid)))
    await keep(parts, await adoptKept(adopting, ret, memory), memory);
  else await takeAsked(parts, ret, memory);
  return null;
}

/** The result of a published job. */
async function takeAsked(parts: ReturnParts, given: JobReturn, memory: ReturnMemory): Promise<void> {
  const { jid, id } = given;
  const ret = given.keptFor === undefined ? given : { ...given, keptFor: undefined };
  const whose = await whoseJob(parts, jid, id);
  if (whose === 'its') await record(parts, ret, memory);
  else if (whose === 'published') {
    await recordUntracked(parts, { ret, again: memory.hasSeen(`${jid} ${id}`) }, memory);
  } else if (whose === 'unknown') {
    const again = memory.hasSeen(`${jid} ${id}`) || (await parts.store.hasReturn(jid, id));
    await recordUntracked(parts, { ret, again }, memory);
  } else refuse(parts, id, 'result of a minion that was not asked refused', `the job ${jid} is not for this minion`);
}

/** An event without a record. A minion that gets no answer in time sends it again. */
function fireOnce(parts: ReturnParts, ret: JobReturn, memory: ReturnMemory): void {
  const { jid, id, schedule = '' } = ret;
  const stamp = stampOf(ret);
  const key = stamp === undefined ? undefined : `${jid} ${id} ${schedule} ${stamp}`;
  if (key !== undefined && memory.hasSeen(key)) return;
  if (key !== undefined) memory.saw(key);
  parts.bus.fire(jobReturnTag(jid, id), returnFields(ret));
}

function refuse(parts: ReturnParts, minion: string, message: string, why: string): void {
  parts.counted?.('refused');
  parts.log.limited(`return:${minion}:${message}`, 'warn', message, { minion, why });
}

/** Whether this master published the job, as far as it knows. */
async function isOwnJob({ tracker, store }: ReturnParts, jid: string): Promise<boolean> {
  if (tracker.job(jid)) return true;
  const load = await store.load(jid);
  return load !== undefined && storedJob(load)?.startedBy === undefined;
}

/** Its listeners, reactions and returners are those of the master that asked: here it is only stored. */
async function keep(parts: ReturnParts, { ret, again }: Adopted, memory: ReturnMemory): Promise<void> {
  const { jid, id, keptFor } = ret;
  await parts.store.saveReturn(returnRecord(ret, returnFields(ret), Date.now()));
  if (again) return;
  memory.saw(`${jid} ${id}`);
  parts.log.limited(`kept:${keptFor}`, 'info', 'results are kept for another master', { asked: keptFor ?? '', jid });
}

/**
 * Whether the job was sent to this minion. An unknown job is one whose record was lost, or of another master to which
 * this minion belongs too (Salt 3005 to 3006.2 send every result to all): its result is still accepted, but a result
 * must not be stored for a job that is published later.
 */
async function whoseJob(
  parts: ReturnParts,
  jid: string,
  id: string,
): Promise<'its' | 'published' | 'unknown' | 'other'> {
  const job = parts.tracker.job(jid);
  if (job?.verdict(id)) return 'its';
  if (parts.known.isFor(jid, id)) return 'published';
  // After a restart the tracker only has the minions whose outcome was open.
  const known = await parts.store.load(jid);
  if (known) return (await parts.store.expected(jid)).includes(id) ? 'its' : 'other';
  // Published for others, as far as is known. Its record decides, which is on its way.
  if (!job && parts.known.owner(jid) !== undefined) {
    throw new HaliteError('store.unavailable', `whether ${id} was asked by the job ${jid} is not known yet`);
  }
  return !job && takeJid(jid) ? 'unknown' : 'other';
}

/** No tracked job remembers that it was passed on. */
async function recordUntracked(parts: ReturnParts, { ret, again }: Adopted, memory: ReturnMemory): Promise<void> {
  await record(parts, ret, memory, again);
  memory.saw(`${ret.jid} ${ret.id}`);
}

/** Stores one result and notifies all listeners; a second delivery of the same result changes nothing. */
function record(parts: ReturnParts, ret: JobReturn, memory: ReturnMemory, repeated = false): Promise<Receipt> {
  const { jid, id } = ret;
  const { unsafe } = memory;
  const key = `${jid} ${id}`;
  const again = repeated || parts.tracker.alreadyReturned(jid, id);
  const waiting = unsafe.get(key);
  // Sent again because the acknowledgement takes long: this one waits for the same write.
  parts.counted?.(again || waiting ? 'repeated' : 'new');
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
  const stored = parts.store.saveReturn(returnRecord(ret, load, Date.now()));
  // A result that could not be stored is not acknowledged: the minion keeps it and sends it again.
  const safe = (passed ? Promise.all([stored, passed]) : stored).then(
    () => {
      unsafe.delete(key);
      return null;
    },
    (error: unknown) => {
      unsafe.delete(key);
      parts.counted?.('unstored');
      throw error;
    },
  );
  unsafe.set(key, safe);
  return safe;
}

/** A failing store must not lose the result for the waiting caller; it is logged once a minute. */
async function save(parts: ReturnParts, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    parts.log.limited('store', 'error', 'a result could not be stored', { error: messageOf(error) });
  }
}
