// Job path 8/9 · from minion/return.ts · to master/track.ts: takes results in, once each, and acknowledges what is safe.
import { dictEntries, dictGet, isDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { generateJid, isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { jobReturnTag } from '../../protocol/event/tags.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { type MinionReturn, readMinionReturn, readSyndicReturns } from '../../protocol/wire/messages/minion-loads.ts';
import type { Master, Sender } from '../core.ts';
import { dropWish, passOn } from '../keep/pass-on.ts';
import type { Handlers } from './table.ts';

export function returnHandlers(master: Master): Handlers {
  return {
    _return: { run: (load, sender) => takeReturn(master, load, sender) },
    _syndic_return: { run: (load, sender) => takeSyndicReturn(master, load, sender) },
  };
}

async function takeReturn(master: Master, load: PlainDict, sender: Sender): Promise<Value> {
  // The envelope proved who sends: what the load says about it does not count.
  load['id'] = sender.id;
  if (load['jid'] === 'req') await adopt(master, load, sender, generateJid());
  else if (typeof load['schedule'] === 'string') await adoptScheduled(master, load, sender);
  const ret = readMinionReturn(load);
  if (isProblem(ret)) {
    master.log.limited(`return:${sender.id}`, 'warn', 'return refused', { minion: sender.id, why: ret.problem });
    return null;
  }
  await record(master, ret, load);
  return null;
}

/** A scheduled run brings its id along. Another minion may have made the same one in the same microsecond. */
async function adoptScheduled(master: Master, load: PlainDict, sender: Sender): Promise<void> {
  const jid = load['jid'];
  if (!isJid(jid)) return;
  const known = await master.store.load(jid);
  if (!known) await adopt(master, load, sender, jid);
  else if (dictGet(known, 'tgt') !== sender.id) await adopt(master, load, sender, generateJid());
}

/** A run that no master asked for (`salt-call`, the schedule) becomes a job like any other. */
async function adopt(master: Master, load: PlainDict, sender: Sender, jid: string): Promise<void> {
  load['jid'] = jid;
  load['arg'] = load['arg'] ?? load['fun_args'] ?? [];
  load['tgt'] = sender.id;
  load['tgt_type'] = 'glob';
  const { return: _result, ...job } = load;
  await save(master, () =>
    master.store.saveJob({
      jid,
      fun: funName(load['fun']),
      tgt: sender.id,
      tgt_type: 'glob',
      user: typeof load['user'] === 'string' ? load['user'] : 'root',
      load: job,
      expected: [sender.id],
      started: Date.now(),
      internal: false,
    }),
  );
}

const funName = (fun: Value | undefined): string => (Array.isArray(fun) ? fun.join(',') : String(fun ?? ''));

/** Stores one result and tells everybody who waits; a second delivery of the same result changes nothing. */
async function record(master: Master, ret: MinionReturn, load: PlainDict): Promise<void> {
  const { jid, id, retcode, success } = ret;
  if (jid === 'nocache') {
    master.bus.fire(jobReturnTag(jid, id), load);
    return;
  }
  if (!isJid(jid)) {
    master.log.limited(`return:${id}`, 'warn', 'return with a malformed jid refused', { minion: id });
    return;
  }
  const key = `${jid} ${id}`;
  const again = master.tracker.alreadyReturned(jid, id);
  const waiting = again ? unsafe.get(key) : undefined;
  // Sent again because the acknowledgement takes long: this one waits for the same.
  if (waiting) return waiting;
  const passed = again ? dropWish(load) : passOn(master, load);
  // The result is handed on at once, and once; the acknowledgement waits until it is stored.
  if (!again) {
    master.tracker.returned(jid, id, load);
    master.durable.returned(jid, id);
    master.bus.fire(jobReturnTag(jid, id), load);
  }
  // Sent again after that failed, or because the acknowledgement was lost: only the store knows which.
  const record = { jid, id, fun: funName(load['fun']), retcode, success, load, received: Date.now() };
  const safe = Promise.all([master.store.saveReturn(record), passed])
    .then(() => {})
    .finally(() => unsafe.delete(key));
  unsafe.set(key, safe);
  // What could not be stored is not acknowledged: the minion keeps it and brings it again.
  await safe;
}

/** Results that are handed on but not stored yet, by job and minion. */
const unsafe = new Map<string, Promise<void>>();

/** A store that fails must not lose the answer for the one who waits; it is said aloud, once a minute. */
async function save(master: Master, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    master.log.limited('store', 'error', 'a result could not be stored', { error: messageOf(error) });
  }
}

/**
 * Lower masters bring bundles of results; each entry names its minion. Only where lower masters are expected, and
 * never for a minion that has a key here: it speaks for itself.
 */
async function takeSyndicReturn(master: Master, load: PlainDict, sender: Sender): Promise<Value> {
  const refuse = (why: string): void =>
    master.log.limited(`syndic:${sender.id}:${why}`, 'warn', 'results of others refused', { from: sender.id, why });
  if (master.opts.raw['order_masters'] !== true) {
    refuse('order_masters is off: this master has no lower masters');
    return null;
  }
  const bundles = readSyndicReturns(load);
  for (const bundle of bundles) {
    for (const [id, part] of dictEntries(bundle.return)) {
      if (!isValidMinionId(id) || !isDict(part) || part instanceof Map) continue;
      if (id !== sender.id && master.keys.accepted(id)) {
        refuse(`${id} has a key on this master`);
        continue;
      }
      const result: PlainDict = { ...part, cmd: '_return', id, jid: bundle.jid, fun: bundle.fun };
      const ret = readMinionReturn(result);
      if (!isProblem(ret)) await record(master, ret, result);
    }
  }
  master.log.debug('syndic results taken', { syndic: sender.id, bundles: bundles.length });
  return null;
}
