// Results of runs that this master did not publish: those a minion started by itself, and those of another master.
import { generateJid, isJid, takeJid } from '../../../base/util/jid.ts';
import { adoptedJob, adoptedReturn, isSameRun, stampedJid } from '../../../protocol/job/adopted-job.ts';
import type { PublishedJob } from '../../../protocol/job/job.ts';
import type { JobReturn } from '../../../protocol/job/job-return.ts';
import type { JobStore } from '../../../store/jobs.ts';
import { jobRecord, storedJob } from '../../../store/records.ts';
import type { Tracker } from '../../tracking/tracker.ts';
import type { ReturnMemory } from './return-memory.ts';

export interface AdoptParts {
  readonly store: Pick<JobStore, 'saveJob' | 'load' | 'hasReturn'>;
  readonly tracker: Pick<Tracker, 'job'>;
  /** A failing store must not lose a result for those who wait for it. */
  save(write: () => Promise<unknown>): Promise<void>;
}

export interface Adopted {
  /** With the jid of its job here. */
  readonly ret: JobReturn;
  /** It was taken before. */
  readonly again: boolean;
}

/** Whether a result is of a run that its minion started (`salt-call`, the schedule). */
export const isOwnRun = ({ jid, schedule }: JobReturn): boolean =>
  jid === 'req' || (schedule !== undefined && isJid(jid));

/**
 * A run that was not published becomes a job like any other, whose record contains only
 * what a minion may set.
 */
export async function adoptRun(parts: AdoptParts, given: JobReturn, memory: ReturnMemory): Promise<Adopted> {
  if (given.jid !== 'req') return adoptScheduled(parts, given, given.jid, memory);
  const stamped = stampedJid(given);
  if (stamped === undefined) return { ret: await adopt(parts, given, generateJid()), again: false };
  return adoptScheduled(parts, given, stamped, memory);
}

/** The jid of a scheduled run is used when it is free, or of the same run, and when this master cannot generate it. */
async function adoptScheduled(
  parts: AdoptParts,
  given: JobReturn,
  wanted: string,
  memory: ReturnMemory,
): Promise<Adopted> {
  const { id } = given;
  const jid = (await isUsable(parts, given, wanted)) ? wanted : memory.jidFor(wanted, id);
  const again = memory.hasSeen(`${jid} ${id}`) || (await parts.store.hasReturn(jid, id));
  return { ret: await adopt(parts, given, jid), again };
}

async function isUsable({ store, tracker }: AdoptParts, given: JobReturn, jid: string): Promise<boolean> {
  if (tracker.job(jid) || !takeJid(jid)) return false;
  const known = await store.load(jid);
  const job = known && storedJob(known);
  return !known || (job !== undefined && isSameRun(job, given));
}

async function adopt(parts: AdoptParts, given: JobReturn, jid: string): Promise<JobReturn> {
  const job = adoptedJob(given, jid);
  await saveRecord(parts, job, given.id);
  return adoptedReturn(given, job);
}

/** Inserted only: it never replaces a record. */
function saveRecord(parts: AdoptParts, job: PublishedJob, id: string): Promise<void> {
  const record = jobRecord(job, { expected: [id], started: Date.now(), internal: false });
  return parts.save(() => parts.store.saveJob(record));
}

/**
 * A result of a job that another master published and that is away: stored here too, until the minion can give it to
 * that one. A jid that is in use here is replaced, so that no minion can write into a job of somebody else.
 */
export async function adoptKept(parts: AdoptParts, given: JobReturn, memory: ReturnMemory): Promise<Adopted> {
  const { id } = given;
  const known = await parts.store.load(given.jid);
  const free = known ? storedJob(known)?.keptFor !== undefined : takeJid(given.jid);
  const jid = free ? given.jid : memory.jidFor(given.jid, id);
  const ret = { ...given, jid };
  const again = memory.hasSeen(`${jid} ${id}`) || (await parts.store.hasReturn(jid, id));
  if (!again) memory.countKept(id);
  if (!known || !free) await saveRecord(parts, adoptedJob(ret, jid), id);
  return { ret, again };
}
