// What runners and wheel functions may ask of the master.
import { type Dict, isDict, newDict, type Value } from '../../base/codec/value.ts';
import { fileServerView } from '../../engine/files/view.ts';
import type { KeyServices, MasterServices, RememberedPart } from '../../extend/sdk/index.ts';
import { keyServices } from '../../store/keys.ts';
import type { Master } from '../core.ts';
import { rotateKey } from '../periodic/maintenance.ts';
import { runJob } from '../publish/run-job.ts';
import { matchFleet } from '../publish/targets.ts';
import type { Reactor } from '../reactor/reactor.ts';
import { sinkHealth } from '../returners/health.ts';
import { explainMinion, fleetTroubles, jobTimeline } from '../tracking/explain.ts';
import type { MasterFunctions } from './functions.ts';
import type { OwnMinion } from './own-minion.ts';

export function masterServices(
  master: Master,
  functions: MasterFunctions,
  own: OwnMinion,
  reactor: Reactor,
): MasterServices {
  const { store, fleet, history } = master;
  return {
    opts: master.opts as unknown as Record<string, Value>,
    runJob: (request) => runJob(master, request),
    fire: async (tag, data) => master.bus.fire(tag, data),
    keys: announcedKeys(master),
    jobs: {
      load: (jid, source) => history.load(jid, source),
      returns: (jid, source) => history.returns(jid, source),
      expected: (jid, source) => history.expected(jid, source),
      list: (filter, source) => history.list(filter, source),
      listText: (filter, source) => history.listText(filter, source),
      returnsText: (jid, source) => history.returnsText(jid, source),
      running: async () => functions.running(),
      health: async () => sinkHealth(store, master.sinks),
      timeline: (jid) => jobTimeline(master, jid),
      pending: async () => master.durable.list().map(({ jid, id, until }) => ({ jid, id, until: new Date(until) })),
      cancel: async (jid, ids) => [...master.tracker.cancel(jid, ids), ...(await master.durable.cancel(jid, ids))],
      query: (sql, parameters) => store.query(sql, parameters),
    },
    fleet: {
      status: (id) => fleet.status(id),
      all: () => master.keys.ids('accepted').map((id) => fleet.status(id) ?? { id, connected: 'unknown' as const }),
      grains: async (id) => fleet.data(id)?.grains,
      pillar: async (id) => fleet.data(id)?.pillar,
      mine: async (id) => master.mine.of(id),
      match: (tgt, kind) => matchFleet(master, tgt, kind).matched,
      forget: (id, part, fun) => forgetPart(master, id, part, fun),
      explain: (id) => explainMinion(master, id),
      troubles: () => fleetTroubles(master),
    },
    files: fileServerView(master.files),
    pillars: master.pillars,
    mine: async (tgt, tgtType, names) => newDict(master.mine.get(tgt, tgtType, names)),
    callRunner: (fun, args, kwargs) => functions.call('runners', fun, args, kwargs),
    callWheel: (fun, args, kwargs) => functions.call('wheel', fun, args, kwargs),
    callModule: (fun, args, kwargs, options) => own.call(fun, args, kwargs, options),
    subscribe: (tag, signal) => subscribe(master, tag, signal),
    reactor,
  };
}

async function forgetPart(master: Master, id: string, part: RememberedPart, fun?: string): Promise<void> {
  if (part === 'mine') return fun === undefined ? master.mine.flush(id) : master.mine.drop(id, fun);
  const known = master.fleet.data(id);
  if (known) await master.fleet.setData(id, { ...known, [part]: newDict() });
}

/** Key changes are events, forget what was known of the minion, and renew the shared key when one loses its trust. */
function announcedKeys(master: Master): KeyServices {
  return keyServices(master.keys, master.opts.pki_dir, (act, id) => keyChanged(master, act, id));
}

export function keyChanged(master: Master, act: 'accept' | 'reject' | 'delete', id: string): void {
  noteKeyChange(master, act, id);
  if (act !== 'accept' && master.opts.rotate_aes_key) rotateKey(master);
}

/** What a change of a key means for a running master, but for the shared key. */
export function noteKeyChange(master: Master, act: 'accept' | 'reject' | 'delete', id: string): void {
  master.bus.fire('salt/key', { result: true, act, id });
  if (act === 'accept') return;
  if (act === 'delete' && master.opts.raw['preserve_minion_cache'] !== true) {
    master.fleet.forget(id);
    master.mine.flush(id);
  }
  // Whatever it still runs, its results are not taken any more: nobody waits for them.
  master.tracker.lost(id);
}

async function* subscribe(
  master: Master,
  tag: string,
  signal: AbortSignal,
): AsyncIterable<{ tag: string; data: Dict }> {
  for await (const event of master.bus.stream(tag, { signal })) {
    if (isDict(event.data)) yield { tag: event.tag, data: event.data };
  }
}
