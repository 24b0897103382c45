// Results that the syndic of a lower master brings: each names its minion, which has no key here.
import { dictEntries, isDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { Logger } from '../../../base/log/index.ts';
import { isJid } from '../../../base/util/jid.ts';
import { isValidMinionId } from '../../../base/util/valid-id.ts';
import { funName } from '../../../protocol/job/job.ts';
import type { JobReturn } from '../../../protocol/job/job-return.ts';
import { matches, parseTarget } from '../../../protocol/target/index.ts';
import { isProblem } from '../../../protocol/wire/messages/fields.ts';
import { readJobReturn, readSyndicReturns, type SyndicReturn } from '../../../protocol/wire/messages/job-return.ts';
import type { JobStore } from '../../../store/jobs.ts';
import type { KeyStore } from '../../../store/keys.ts';
import { jobRecord, storedJob } from '../../../store/records.ts';
import type { LowerMasters } from '../../lower-masters/lower-masters.ts';
import type { Tracker } from '../../tracking/tracker.ts';
import type { Sender } from '../sender.ts';
import type { ReturnMemory } from './return-memory.ts';

export interface SyndicReturnParts {
  readonly log: Pick<Logger, 'limited' | 'debug'>;
  readonly keys: Pick<KeyStore, 'accepted'>;
  readonly lower: Pick<LowerMasters, 'on' | 'has' | 'mayBe' | 'isNoMinion' | 'returned'>;
  readonly tracker: Pick<Tracker, 'job'>;
  readonly store: Pick<JobStore, 'saveJob' | 'load' | 'hasReturn'>;
  readonly memory: Pick<ReturnMemory, 'countKept' | 'hasSeen' | 'saw'>;
  record(ret: JobReturn, again: boolean): Promise<unknown>;
}

/** One tick of a syndic: more minions answer in the next one. */
const mostBundles = 10_000;
/** State functions are shown by the outputter of high states; a syndic does not say which one it is. */
const stateFunction =
  /^state\.(?:apply|highstate|high|low|sls|sls_id|single|template|template_str|top|show_highstate)$/;

const ofIds = new Set(['glob', 'list', 'pcre']);

export async function takeSyndicReturn(parts: SyndicReturnParts, load: PlainDict, sender: Sender): Promise<Value> {
  const { lower, log } = parts;
  const refuse = (why: string): void =>
    log.limited(`syndic:${sender.id}:${why}`, 'warn', 'results of others refused', { from: sender.id, why });
  if (!lower.on) {
    refuse('order_masters is off: this master has no syndics');
    return null;
  }
  if (!lower.has(sender.id)) {
    refuse('it has not said that it is the syndic of a lower master');
    return null;
  }
  const bundles = readSyndicReturns(load);
  if (bundles.length > mostBundles) refuse(`more than ${mostBundles} jobs in one message`);
  // All are stored, or the syndic keeps them all and sends them again: a repeated result changes nothing.
  for (const bundle of bundles.slice(0, mostBundles)) await takeBundle(parts, bundle, sender, refuse);
  log.debug('syndic results accepted', { syndic: sender.id, bundles: bundles.length });
  return null;
}

async function takeBundle(
  parts: SyndicReturnParts,
  bundle: SyndicReturn,
  sender: Sender,
  refuse: (why: string) => void,
): Promise<void> {
  const { jid, fun, load } = bundle;
  if (!isJid(jid)) return refuse('the jid is malformed');
  const job = await jobOf(parts, bundle, sender);
  if (!job) return refuse('they are of jobs that this master has not published');
  for (const [id, part] of dictEntries(bundle.return)) {
    if (!isValidMinionId(id) || !isDict(part) || part instanceof Map) continue;
    if (id === sender.id ? !parts.lower.isNoMinion(id) : parts.keys.accepted(id)) {
      refuse(`${id} has a key on this master`);
      continue;
    }
    if (!job.isFor(id)) {
      refuse(`the job is not for ${id}`);
      continue;
    }
    const ret = readJobReturn(part, { id, jid, fun: fun || (load ? funName(load.fun) : '') });
    if (isProblem(ret)) continue;
    parts.lower.returned(sender.id, id);
    await takeOne(parts, ret);
  }
}

async function takeOne({ memory, record, store, tracker }: SyndicReturnParts, ret: JobReturn): Promise<void> {
  const { jid, id, out, fun } = ret;
  const shown = out === undefined && stateFunction.test(funName(fun)) ? { ...ret, out: 'highstate' } : ret;
  const key = `${jid} ${id}`;
  const known = tracker.job(jid) !== undefined;
  const again = memory.hasSeen(key) || (!known && (await store.hasReturn(jid, id)));
  await record(shown, again);
  memory.saw(key);
}

interface BelowJob {
  isFor(id: string): boolean;
}

/** A job that was published here, or one that began at the lower master and came with its load. */
async function jobOf(
  { tracker, store, lower, memory }: SyndicReturnParts,
  { jid, load }: SyndicReturn,
  sender: Sender,
): Promise<BelowJob | undefined> {
  const active = tracker.job(jid);
  const stored = async (): Promise<((id: string) => boolean) | undefined> => {
    const found = await store.load(jid);
    const job = found && storedJob(found);
    return job && isTargetOf(job);
  };
  if (active && lower.mayBe(jid, sender.id) !== undefined)
    return { isFor: (id) => active.verdict(id) !== undefined || lower.mayBe(jid, id) === true };
  const isTarget = await stored();
  if (active || isTarget) return { isFor: (id) => active?.verdict(id) !== undefined || (isTarget?.(id) ?? false) };
  if (!load) return undefined;
  memory.countKept(sender.id);
  const about = { expected: [], started: Date.now(), internal: false };
  await store.saveJob({ ...jobRecord(load, about), adopted: true });
  return { isFor: isTargetOf(load) };
}

/** Whether the target may cover a minion, as far as its id tells. */
function isTargetOf({
  tgt,
  tgt_type,
  delimiter = ':',
}: Pick<NonNullable<SyndicReturn['load']>, 'tgt' | 'tgt_type' | 'delimiter'>): (id: string) => boolean {
  // Only ids can be compared here: groups, grains and pillar are those of the lower master.
  if (!ofIds.has(tgt_type)) return () => true;
  const target = parseTarget(typeof tgt === 'string' ? tgt : [...tgt], tgt_type, { delimiter, lenient: true });
  return (id) => matches(target, { id }) !== 'no-match';
}
