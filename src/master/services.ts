// What runners and wheel functions may ask of the master.
import { type Dict, isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { fileServerView } from '../engine/files/view.ts';
import type { JobOutcome, JobRequest, KeyServices, MasterServices } from '../extend/sdk/index.ts';
import { keyServices } from '../store/keys.ts';
import type { Master } from './core.ts';
import { explainMinion, jobTimeline } from './explain.ts';
import type { MasterFunctions } from './functions.ts';
import { rotateKey } from './maintenance.ts';
import { prepareJob, runToEnd } from './publish.ts';

export function masterServices(master: Master, functions: MasterFunctions): MasterServices {
  const { store, fleet } = master;
  return {
    opts: master.opts as unknown as Record<string, Value>,
    runJob: (request) => runJob(master, request),
    fire: async (tag, data) => master.bus.fire(tag, data),
    keys: announcedKeys(master),
    jobs: {
      load: (jid) => store.load(jid),
      returns: async (jid) => Object.fromEntries(await store.returns(jid)),
      expected: (jid) => store.expected(jid),
      list: (filter) => store.list(filter),
      timeline: (jid) => jobTimeline(master, jid),
      pending: async () => master.durable.list().map(({ jid, id, until }) => ({ jid, id, until: new Date(until) })),
      cancel: (jid, ids) => master.durable.cancel(jid, ids),
      query: (sql) => store.query(sql),
    },
    fleet: {
      status: (id) => fleet.status(id),
      all: () => master.keys.ids('accepted').map((id) => fleet.status(id) ?? { id, connected: 'unknown' as const }),
      grains: async (id) => fleet.data(id)?.grains,
      pillar: async (id) => fleet.data(id)?.pillar,
      explain: async (id) => explainMinion(master, id),
    },
    files: fileServerView(master.files),
    pillars: master.pillars,
    mine: async (tgt, tgtType, names) => newDict(master.mine.get(tgt, tgtType, names)),
    callRunner: (fun, args, kwargs) => functions.call('runners', fun, args, kwargs),
    callWheel: (fun, args, kwargs) => functions.call('wheel', fun, args, kwargs),
    subscribe: (tag, signal) => subscribe(master, tag, signal),
  };
}

/** Key changes are events, forget what was known of the minion, and renew the shared key when one loses its trust. */
export function announcedKeys(master: Master): KeyServices {
  return keyServices(master.keys, master.opts.pki_dir, (act, id) => keyChanged(master, act, id));
}

export function keyChanged(master: Master, act: 'accept' | 'reject' | 'delete', id: string): void {
  master.bus.fire('salt/key', { result: true, act, id });
  if (act === 'accept') return;
  if (act === 'delete') master.fleet.forget(id);
  if (master.opts.rotate_aes_key) rotateKey(master);
}

async function runJob(master: Master, request: JobRequest): Promise<JobOutcome> {
  const kwargs = request.kwargs ?? newDict();
  const arg = Object.keys(kwargs).length > 0 ? [...request.arg, { ...kwargs, __kwarg__: true }] : [...request.arg];
  const job = prepareJob(master, {
    tgt: request.tgt,
    tgt_type: request.tgt_type,
    fun: request.fun,
    arg,
    user: request.user ?? 'root',
    ...(request.timeoutSeconds ? { timeoutSeconds: request.timeoutSeconds } : {}),
  });
  const returns: Record<string, JobOutcome['returns'][string]> = Object.create(null);
  const take = (id: string, load: PlainDict): void => {
    returns[id] = {
      ret: load['return'] ?? null,
      retcode: typeof load['retcode'] === 'number' ? load['retcode'] : 0,
      success: load['success'] !== false,
      ...(typeof load['out'] === 'string' ? { out: load['out'] } : {}),
    };
  };
  await runToEnd(job, take);
  const missing: Record<string, string> = Object.create(null);
  for (const [id, verdict] of job.active.verdicts()) if (verdict.kind === 'missing') missing[id] = verdict.reason.text;
  return { jid: job.jid, minions: [...job.minions, ...job.missing], returns, missing };
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
