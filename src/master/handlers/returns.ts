// Job path 8/9 · from minion/return.ts · to master/track.ts: takes results in, once each, and acknowledges what is safe.
import { isDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { generateJid, isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { Master, Sender } from '../core.ts';
import type { Handlers } from './table.ts';

export function returnHandlers(master: Master): Handlers {
  return {
    _return: { run: (load, sender) => takeReturn(master, load, sender) },
    _syndic_return: { run: (load, sender) => takeSyndicReturn(master, load, sender) },
  };
}

async function takeReturn(master: Master, load: PlainDict, sender: Sender): Promise<Value> {
  if (!('return' in load) || typeof load['jid'] !== 'string') {
    master.log.limited(`return:${sender.id}`, 'warn', 'return without jid or result refused', { minion: sender.id });
    return null;
  }
  if (load['jid'] === 'req') await adopt(master, load, sender);
  await record(master, sender.id, load);
  return null;
}

/** `salt-call` asks for a job id of its own: the run becomes a job like any other. */
async function adopt(master: Master, load: PlainDict, sender: Sender): Promise<void> {
  const jid = generateJid();
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
async function record(master: Master, id: string, load: PlainDict): Promise<void> {
  const jid = load['jid'] as string;
  if (jid === 'nocache') {
    master.bus.fire(`salt/job/${jid}/ret/${id}`, load);
    return;
  }
  if (!isJid(jid)) {
    master.log.limited(`return:${id}`, 'warn', 'return with a malformed jid refused', { minion: id });
    return;
  }
  if (master.tracker.alreadyReturned(jid, id)) return;
  const retcode = typeof load['retcode'] === 'number' ? load['retcode'] : 0;
  const success = load['success'] !== false;
  // The result is handed on at once; the acknowledgement waits until it is stored.
  master.tracker.returned(jid, id, load);
  master.durable.returned(jid, id);
  master.bus.fire(`salt/job/${jid}/ret/${id}`, load);
  await save(master, () =>
    master.store.saveReturn({ jid, id, fun: funName(load['fun']), retcode, success, load, received: Date.now() }),
  );
}

/** A store that fails must not lose the answer for the one who waits; it is said aloud, once a minute. */
async function save(master: Master, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    master.log.limited('store', 'error', 'a result could not be stored', { error: messageOf(error) });
  }
}

/** Lower masters bring bundles of results; each entry names its minion. */
async function takeSyndicReturn(master: Master, load: PlainDict, sender: Sender): Promise<Value> {
  const bundles = Array.isArray(load['load']) ? load['load'] : [load];
  for (const bundle of bundles) {
    if (!isDict(bundle) || bundle instanceof Map || !isDict(bundle['return'])) continue;
    const returns = bundle['return'];
    if (returns instanceof Map) continue;
    for (const [id, value] of Object.entries(returns)) {
      if (!isValidMinionId(id) || !isDict(value) || value instanceof Map) continue;
      const result: PlainDict = {
        ...(value as PlainDict),
        cmd: '_return',
        id,
        jid: bundle['jid'] ?? null,
        fun: bundle['fun'] ?? null,
      };
      if (typeof result['jid'] === 'string') await record(master, id, result);
    }
  }
  master.log.debug('syndic results taken', { syndic: sender.id, bundles: bundles.length });
  return null;
}
