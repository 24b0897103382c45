// Services of the master for runners and wheel functions.
import { type Dict, isDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { FileServer } from '../../engine/files/server.ts';
import { fileServerView } from '../../engine/files/view.ts';
import type {
  ClusterMembership,
  ClusterServices,
  ClusterView,
  FleetView,
  JobHistory,
  JobOutcome,
  JobRequest,
  KeyServices,
  LoginServices,
  MasterServices,
  PillarView,
  ReactorView,
  RememberedPart,
  RetirementServices,
  RolloverServices,
} from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { KeyStore } from '../../store/keys.ts';
import { tokenValue } from '../../store/tokens/tokens.ts';
import type { Logins } from '../authorization/logins.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Mine } from '../fleet/mine.ts';
import type { LowerMasters } from '../lower-masters/lower-masters.ts';
import type { Targets } from '../publish/targets.ts';
import { sinkHealth } from '../returners/health.ts';
import type { History } from '../returners/history.ts';
import type { ReturnerSinks } from '../returners/sinks.ts';
import type { DurableJobs } from '../tracking/durable.ts';
import type { Explain } from '../tracking/explain.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { MasterFunctions } from './functions.ts';
import type { OwnMinion } from './own-minion.ts';

export interface ServiceParts {
  readonly opts: { readonly raw: PlainDict };
  readonly bus: Pick<EventBus, 'fire' | 'stream'>;
  readonly keys: KeyServices;
  readonly jobs: JobHistory;
  readonly fleet: FleetView;
  readonly files: FileServer;
  readonly pillars: PillarView;
  readonly mine: Pick<Mine, 'get'>;
  readonly functions: Pick<MasterFunctions, 'call'>;
  readonly own: Pick<OwnMinion, 'call'>;
  readonly reactor: ReactorView;
  readonly cluster: ClusterView;
  readonly membership: ClusterMembership;
  readonly trust: ClusterServices;
  readonly rollover: RolloverServices;
  readonly retirement: RetirementServices;
  readonly logins: Pick<Logins, 'login' | 'makeToken' | 'listTokens' | 'dropToken'>;
  runJob(request: JobRequest): Promise<JobOutcome>;
}

export function masterServices(parts: ServiceParts): MasterServices {
  const { opts, bus, keys, jobs, fleet, files, pillars, mine, functions, own, reactor, cluster } = parts;
  return {
    ...{ opts: opts.raw, keys, jobs, fleet, pillars, reactor, cluster, trust: parts.trust, rollover: parts.rollover },
    membership: parts.membership,
    retirement: parts.retirement,
    logins: loginServices(parts.logins),
    runJob: (request) => parts.runJob(request),
    fire: async (tag, data) => bus.fire(tag, data),
    files: fileServerView(files),
    mine: async (tgt, tgtType, names) => newDict(mine.get(tgt, tgtType, names)),
    callRunner: (fun, args, kwargs) => functions.call('runners', fun, args, kwargs),
    callWheel: (fun, args, kwargs) => functions.call('wheel', fun, args, kwargs),
    callModule: (fun, args, kwargs, options) => own.call(fun, args, kwargs, options),
    subscribe: (tag, signal) => subscribe(bus, tag, signal),
  };
}

const loginServices = (logins: ServiceParts['logins']): LoginServices => ({
  make: async (login, seconds) => tokenValue(await logins.makeToken(await logins.login(login, undefined), seconds)),
  list: () => logins.listTokens(),
  drop: (token) => logins.dropToken(token),
});

export interface JobHistoryParts {
  readonly history: History;
  readonly store: JobStore;
  readonly sinks: ReturnerSinks;
  readonly tracker: Pick<Tracker, 'cancel'>;
  readonly durable: Pick<DurableJobs, 'list' | 'cancel'>;
  readonly functions: Pick<MasterFunctions, 'running'>;
  readonly explain: Pick<Explain, 'timeline'>;
  readonly cluster: Pick<ClusterView, 'compared'>;
}

export function jobHistory(parts: JobHistoryParts): JobHistory {
  const { history, store, sinks, tracker, durable, functions, explain } = parts;
  return {
    load: (jid, source) => history.load(jid, source),
    returns: (jid, source) => history.returns(jid, source),
    expected: (jid, source) => history.expected(jid, source),
    list: (filter, source) => history.list(filter, source),
    listText: (filter, source) => history.listText(filter, source),
    returnsText: (jid, source) => history.returnsText(jid, source),
    running: async () => functions.running(),
    health: async () => sinkHealth(store, sinks, parts.cluster.compared),
    timeline: (jid) => explain.timeline(jid),
    pending: async () => durable.list().map(({ jid, id, until }) => ({ jid, id, until: new Date(until) })),
    cancel: async (jid, ids) => [...tracker.cancel(jid, ids), ...(await durable.cancel(jid, ids))],
    query: (sql, parameters) => store.query(sql, parameters),
  };
}

export interface FleetViewParts {
  readonly fleet: Pick<Fleet, 'status' | 'data' | 'setData'>;
  readonly keys: Pick<KeyStore, 'ids'>;
  readonly mine: Pick<Mine, 'of' | 'drop' | 'flush'>;
  readonly targets: Pick<Targets, 'match'>;
  readonly explain: Pick<Explain, 'minion' | 'troubles'>;
  readonly lower: Pick<LowerMasters, 'isNoMinion'>;
}

export function fleetView(parts: FleetViewParts): FleetView {
  const { fleet, keys, mine, targets, explain, lower } = parts;
  // A lower master has a key, and is no minion.
  const minions = (): string[] => keys.ids('accepted').filter((id) => !lower.isNoMinion(id));
  return {
    status: (id) => fleet.status(id),
    all: () => minions().map((id) => fleet.status(id) ?? { id, connected: 'unknown' as const }),
    grains: async (id) => fleet.data(id)?.grains,
    pillar: async (id) => fleet.data(id)?.pillar,
    mine: async (id) => mine.of(id),
    match: (tgt, kind) => targets.match(tgt, kind).matched,
    forget: (id, part, fun) => forgetPart(parts, id, part, fun),
    explain: (id) => explain.minion(id),
    troubles: () => explain.troubles(),
  };
}

async function forgetPart(
  { fleet, mine }: FleetViewParts,
  id: string,
  part: RememberedPart,
  fun?: string,
): Promise<void> {
  if (part === 'mine') return fun === undefined ? mine.flush(id) : mine.drop(id, fun);
  const known = fleet.data(id);
  if (known) await fleet.setData(id, { ...known, [part]: newDict() });
}

async function* subscribe(
  bus: ServiceParts['bus'],
  tag: string,
  signal: AbortSignal,
): AsyncIterable<{ tag: string; data: Dict }> {
  for await (const event of bus.stream(tag, { signal })) {
    if (isDict(event.data)) yield { tag: event.tag, data: event.data };
  }
}
