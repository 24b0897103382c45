// The master daemon: builds its parts in order, each with its dependencies, opens the ports, and closes everything
// again on stop.
import { newDict } from '../base/codec/value.ts';
import { type MasterOpts, prepareDirs } from '../base/config/index.ts';
import { isSigAlgo } from '../base/crypto/index.ts';
import { HaliteError } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { useSlot } from '../base/util/jid.ts';
import { type FileServerOpts, openFileServer } from '../engine/files/open.ts';
import { PillarService } from '../engine/pillar/service.ts';
import { providePython } from '../engine/python/index.ts';
import { Loader, sdkUrl } from '../extend/loader/index.ts';
import { EventBus } from '../protocol/event/bus.ts';
import { getTransport } from '../protocol/wire/transports.ts';
import { buildAccess } from './build/access.ts';
import { buildCluster } from './build/cluster.ts';
import { buildClusterView } from './build/cluster-view.ts';
import { applyReactorEngine, buildEngines } from './build/engines.ts';
import { buildFunctions } from './build/functions.ts';
import { buildJobs } from './build/jobs.ts';
import { buildMembership } from './build/membership.ts';
import { openPorts } from './build/ports.ts';
import { openRecords } from './build/records.ts';
import { buildRollover } from './build/rollover.ts';
import { buildTrust } from './build/trust.ts';
import { loadViews } from './build/views.ts';
import { Mine } from './fleet/mine.ts';
import { isShared, listenLocal } from './local/server.ts';
import { LowerMasters } from './lower-masters/lower-masters.ts';
import { MetricsService } from './metrics/service.ts';
import { Maintenance } from './periodic/maintenance.ts';
import { MasterScheduler } from './periodic/scheduler.ts';
import { Publications } from './publish/publications.ts';
import { Publisher } from './publish/publisher.ts';
import { clearCommands } from './requests/clear.ts';
import { eventHandlers } from './requests/handlers/events.ts';
import { fileHandlers } from './requests/handlers/files.ts';
import { masterKeyHandlers } from './requests/handlers/master-key.ts';
import { mineHandlers } from './requests/handlers/mine.ts';
import { optionHandlers } from './requests/handlers/options.ts';
import { peerHandlers } from './requests/handlers/peer.ts';
import { pillarHandlers } from './requests/handlers/pillar.ts';
import { returnHandlers } from './requests/handlers/returns.ts';
import { handlerTable } from './requests/handlers/table.ts';
import { RequestPort } from './requests/port.ts';
import { Retirement } from './retirement/retirement.ts';
import { passOn } from './returners/pass-on.ts';
import { openSaltLibrary } from './salt-library/library.ts';
import { Adoption } from './shared/adoption.ts';
import { SharedEvents } from './shared/events.ts';
import { SharedHistory } from './shared/history.ts';
import { KnownJobs } from './shared/known-jobs.ts';
import { Drain } from './shared/leaving/drain.ts';
import { shareMinionData } from './shared/minion-data.ts';
import { ScheduleClaims } from './shared/schedule.ts';
import { signIn } from './sign-in/auth.ts';
import { signInCounts } from './sign-in/counts.ts';
import { KeyChanges } from './sign-in/key-changes.ts';
import { NewKeys } from './sign-in/new-keys.ts';
import { resultCounts } from './tracking/job-counts.ts';

export interface RunningMaster {
  readonly publishPort: number;
  readonly requestPort: number;
  stop(): Promise<void>;
  /** Settles when it has no more to do. */
  readonly ended: Promise<undefined>;
  status(): string;
}

export async function runMaster(opts: MasterOpts, log: Logger): Promise<RunningMaster> {
  refuseUnsupported(opts);
  prepareDirs(opts);
  applyReactorEngine(opts);
  const metrics = await MetricsService.start({ opts, log });
  const bus = new EventBus({ maxEventSize: opts.max_event_size });
  const loader = extensionLoader(opts, log);
  const opened = await buildCluster(opts, log);
  const { cluster, close: closeCluster } = opened;
  const records = await openRecords(opts, opened, log, bus, () => loader.names('returners'));
  const { store, sinks, returnerSettings } = records;
  // Unique without asking the other members.
  useSlot(cluster.name === undefined ? undefined : cluster.self.slot);
  const { identity } = opened;
  const trust = await buildTrust({ opts, log, bus, cluster, identity }).catch(async (error: unknown) => {
    await closeCluster();
    await records.close();
    throw error;
  });
  const { keys, secrets, sessionKeys, aesChange } = trust;
  const algorithm = String(opts.publish_signing_algorithm);
  const publisher = new Publisher(secrets, isSigAlgo(algorithm) ? algorithm : 'PKCS1v15-SHA1');
  const publications = new Publications({ cluster, publisher, log, isDrained: () => drain.isDrained });
  const { rotation } = trust;
  if (rotation) publications.handle({ rotate: ({ generation }) => rotation.changeAt(generation) });
  const { sharedRollover } = trust;
  if (sharedRollover) publications.handle({ mark: ({ what, data }) => sharedRollover.at(what, data) });
  const known = new KnownJobs();
  publications.onJob((publication) => known.note(publication));
  const drain = new Drain({ cluster, log });
  const retirement = new Retirement({
    ...{ opts, log, cluster: cluster.name },
    changed: (active) => {
      reactor.leader = !active;
    },
  });
  const lower = new LowerMasters({ opts, log, keys });
  const built = await buildJobs({
    ...{ opts, log, bus, cluster, keys, store, publications, returnerSettings, sessionKeys, lower },
    refuseNew: (asked) => {
      drain.refuseNew();
      retirement.refuseNew(asked);
    },
  });
  const { presence, fleet, targets, durable, tracker, jobs } = built;
  const events = new SharedEvents({ cluster, bus, log, holders: (id) => presence.holders(id) });
  const adoption = new Adoption({ cluster, opts, log, bus, store, tracker });
  const history = new SharedHistory({ cluster, log, bus, tracker, durable, known });
  await records.shared?.follow(history);
  const mine = await Mine.open({ store, keys, fleet, targets, log });
  const stopSharing = shareMinionData({ cluster, opts, log, keys, fleet, mine });
  const keyChanges = new KeyChanges({ opts, secrets, aesChange, bus, fleet, mine, tracker, lower });
  trust.sharedKeys?.onForeign((act, id) => keyChanges.foreign(act, id));
  const { authorization, logins, tokens } = buildAccess({ opts, log, loader, targets });
  const pillars = new PillarService({ opts: opts.raw, log });
  const files = openFileServer(opts as unknown as FileServerOpts, { log, fire: (tag, data) => bus.fire(tag, data) });
  await records.start();
  const { sharedKeys } = trust;
  const clusterView = buildClusterView({
    ...{ opts, log, cluster, bus, fleet, presence, records, history, keys: sharedKeys, drain },
    rekey: () => membership.rekey(),
  });
  drain.start(tracker);
  const { ring } = secrets;
  const membership = buildMembership({
    ...{ opts, log, bus, cluster, options: opened.options, ring, drain, fleet, tracker },
    ...{ receivers: records.receivers, run: jobs.run },
  });
  const changing = buildRollover({ trust, fleet, publisher, log, leads: () => cluster.leads() });
  const { functions, own, reactor, services } = buildFunctions(
    {
      ...{ opts, log, bus, loader, keys, keyChanges, files, pillars, mine, logins, lower },
      ...{ cluster: clusterView.view, membership: membership.services, trust: trust.services },
      ...{ rollover: changing.services, retirement },
    },
    records,
    built,
  );
  const local = await listenLocal({
    opts,
    log,
    bus,
    fleet,
    targets,
    authorization,
    functions,
    keyChanges,
    ...(trust.sharedKeys ? { sharedKeys: trust.sharedKeys } : {}),
    jobs,
    logins,
    metrics,
    ...{ store, tracker, keys },
    views: (context) =>
      loadViews({ opts, bus, keys, store, logins, authorization, built, functions, services, context }),
  });
  const library = await openSaltLibrary({
    ...{ opts, log, bus, keyChanges, keepSeconds: returnerSettings.keepSeconds },
    shared: isShared(opts.raw),
  });
  const [results, signIns] = [resultCounts(), signInCounts()];
  const passing = { store, sinks, returnerSettings, log };
  const handlers = handlerTable(
    returnHandlers({
      ...{ log, keys, bus, store, tracker, durable, known, lower },
      passOn: async (ret, load) => {
        await Promise.all([passOn(passing, ret, load), library?.files.saveReturn(ret.jid, ret.id, load)]);
      },
      counted: (kind) => results.add(kind),
    }),
    eventHandlers({
      ...{ log, bus, events, keys, fleet, durable, lower },
      tracker: {
        phase: (...said) => history.phase(...said),
        missingBelow: (...said) => tracker.missingBelow(...said),
      },
    }),
    pillarHandlers({ opts, log, bus, fleet, pillars }),
    fileHandlers({ opts, log, files }),
    mineHandlers({ opts, log, mine }),
    optionHandlers({ opts, log, keys, keyChanges }),
    masterKeyHandlers(trust.rollover, () => drain.isDrained),
    peerHandlers({ opts, log, store, functions, prepareJob: jobs.prepare }),
  );
  const transport = await getTransport(String(opts.transport));
  const requestPort = new RequestPort({
    ...{ opts, log, keys, secrets, fleet, durable, handlers },
    keyFor: (id, peer) => trust.rollover.keyFor(id, peer),
    signIn: signIn({
      ...{ opts, log, newKeys: new NewKeys(keys, opts), fleet, bus, ...trust, cluster },
      counted: (act) => signIns.add(act),
    }),
    clear: clearCommands({ authorization, logins, functions, jobs, ...(library ? { files: library.files } : {}) }),
    transport: transport.name,
  });
  const ports = await openPorts(transport, { opts, log, keys, secrets, fleet, publisher, requestPort }).catch(
    async (error: unknown) => {
      await local.close();
      tokens.close();
      await library?.close();
      trust.close();
      await closeCluster();
      await records.close();
      throw error;
    },
  );
  membership.start(ports);
  const maintenance = new Maintenance({
    ...{ opts, log, secrets, keyChanges, durable, fleet, bus, store, tokens },
    ...{ returnerSettings, sinks, leads: () => cluster.leads() },
  });
  maintenance.start();
  const stopResuming = built.resumed.start();
  const claims = cluster.name === undefined ? undefined : new ScheduleClaims({ cluster, log });
  const scheduler = new MasterScheduler({ opts, log, functions, claims, paused: () => retirement.active });
  scheduler.start();
  reactor.start();
  retirement.start({
    ...{ fleet, tracker, acceptedIds: () => keys.ids('accepted') },
    askAll: async () => {
      await jobs.run({ tgt: '*', tgt_type: 'glob', fun: 'test.ping', arg: [], timeoutSeconds: 15, moves: true });
    },
  });
  files.start();
  const engines = buildEngines({ opts, log, bus, own });
  engines.start();
  metrics.attach({
    ...{
      tracker,
      results,
      signIns,
      requestPort,
      ports,
      local,
      bus,
      logins,
      keys,
      fleet,
      store,
      sinks,
      cluster,
      presence,
    },
    writeLoad: records.writeLoad,
    ledgerPlace: () => records.shared?.place ?? 0,
  });
  const [publishPort, port] = [ports.publish.port, ports.requests.port];
  log.info('master is ready', { publish: publishPort, requests: port, store: store.description });
  return {
    publishPort,
    requestPort: port,
    ended: retirement.ended,
    status: () =>
      `${ports.publish.connections} minions connected, ${tracker.active().length} open jobs, ${keys.count('pending')} keys to accept`,
    stop: async () => {
      retirement.stop();
      await engines.stop();
      metrics.attach(undefined);
      maintenance.stop();
      stopResuming();
      scheduler.stop();
      claims?.stop();
      reactor.stop();
      await own.stop();
      await files.close();
      await pillars.close();
      await ports.close();
      await local.close();
      tokens.close();
      await library?.close();
      events.stop();
      await clusterView.stop();
      changing.stop();
      membership.stop();
      stopSharing();
      built.stop();
      adoption.stop();
      drain.stop();
      history.stop();
      trust.close();
      await closeCluster();
      await records.close();
      await metrics.close();
      log.info('master has stopped');
    },
  };
}

function refuseUnsupported(opts: MasterOpts): void {
  if (opts.raw['cluster_id']) {
    throw new HaliteError('config.value', 'cluster_id is set: Salt’s own master cluster is not supported', {
      hint: 'Remove cluster_id from the master configuration; the option `cluster` makes several Halite masters work as one.',
    });
  }
}

function extensionLoader(opts: MasterOpts, log: Logger): Loader {
  const sdk = sdkUrl();
  return new Loader({
    opts: () => opts.raw,
    grains: () => newDict(),
    log,
    userCode: 'import',
    // Runners of several callers run at the same time: each has a worker of its own.
    python: providePython({ opts: () => opts.raw, log, workers: 'alone' }).source,
    ...(sdk ? { sdkUrl: sdk } : {}),
  });
}
