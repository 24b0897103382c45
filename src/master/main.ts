// The master daemon: builds its parts in order, opens the ports, and closes everything again on stop.
import { join } from 'node:path';
import { newDict, type Value } from '../base/codec/value.ts';
import { type MasterOpts, prepareDirs } from '../base/config/index.ts';
import { isSigAlgo } from '../base/crypto/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { type FileServerOpts, openFileServer } from '../engine/files/open.ts';
import { PillarService } from '../engine/pillar/service.ts';
import { Loader, sdkUrl } from '../extend/loader/index.ts';
import { EventBus } from '../protocol/event/bus.ts';
import type { PublishServer, RequestServer, TlsOptions, WireProblem } from '../protocol/wire/transport.ts';
import { getTransport } from '../protocol/wire/transports.ts';
import type { JobStore } from '../store/jobs.ts';
import { KeyStore } from '../store/keys.ts';
import { SqliteJobStore } from '../store/sqlite/store.ts';
import { UserKeys } from './authorization/user-keys.ts';
import type { Master } from './core.ts';
import { Fleet } from './fleet/fleet.ts';
import { Mine } from './fleet/mine.ts';
import { MasterFunctions } from './local/functions.ts';
import { OwnMinion } from './local/own-minion.ts';
import { listenLocal } from './local/server.ts';
import { masterServices } from './local/services.ts';
import { Maintenance } from './periodic/maintenance.ts';
import { MasterScheduler } from './periodic/scheduler.ts';
import { askFindJob, killJob } from './publish/publish.ts';
import { Publisher } from './publish/publisher.ts';
import { Reactor } from './reactor/reactor.ts';
import { clearCommands } from './requests/clear.ts';
import { buildHandlers } from './requests/handlers/table.ts';
import { RequestPort } from './requests/port.ts';
import { recordEvents } from './returners/events.ts';
import { ForwardingJobStore } from './returners/forwarding-store.ts';
import { History } from './returners/history.ts';
import { readReturnerSettings } from './returners/settings.ts';
import { ReturnerSinks } from './returners/sinks.ts';
import { loadKeySignature } from './sign-in/key-signature.ts';
import { NewKeys } from './sign-in/new-keys.ts';
import { loadMasterKeys, Secrets } from './sign-in/secrets.ts';
import { tcpIdentity } from './sign-in/tcp-identity.ts';
import { DurableJobs } from './tracking/durable.ts';
import { duplicateText } from './tracking/reasons.ts';
import { resumeJobs } from './tracking/resume.ts';
import { Tracker } from './tracking/tracker.ts';

export interface RunningMaster {
  readonly publishPort: number;
  readonly requestPort: number;
  stop(): Promise<void>;
}

/** Largest request taken from anybody; results above it must go through the file functions. */
const maxRequestBytes = 64 * 1024 * 1024;

export async function runMaster(opts: MasterOpts, log: Logger): Promise<RunningMaster> {
  refuseUnsupported(opts);
  prepareDirs(opts);
  const keys = new KeyStore(opts.pki_dir, { permissive: opts.permissive_pki_access });
  keys.prepare();
  const store = await openStore(opts, log);
  const master = await build(opts, log, keys, store);
  await master.sinks.start();
  const stopEvents = recordEvents(master.returnerSettings, master.bus, store, master.sinks, log);
  const sdk = sdkUrl();
  const loader = new Loader({
    opts: () => opts as unknown as Record<string, Value>,
    grains: () => newDict(),
    log,
    userCode: 'import',
    ...(sdk ? { sdkUrl: sdk } : {}),
  });
  master.sinks.connect(() => loader.names('returners'));
  const functions = new MasterFunctions(master, loader);
  const own = new OwnMinion(master, functions);
  const reactor = new Reactor(master, functions, own);
  functions.connect(masterServices(master, functions, own, reactor));
  const local = await listenLocal(master, functions);
  const ports = await openPorts(master, functions).catch(async (error: unknown) => {
    await local.close();
    await master.sinks.stop();
    await store.close();
    throw error;
  });
  const maintenance = new Maintenance(master);
  maintenance.start();
  const stopResuming = resumeJobs(master);
  const scheduler = new MasterScheduler(master, functions);
  scheduler.start();
  reactor.start();
  master.files.start();
  log.info('master is ready', {
    publish: ports.publish.port,
    requests: ports.requests.port,
    store: master.store.description,
  });
  return {
    publishPort: ports.publish.port,
    requestPort: ports.requests.port,
    stop: async () => {
      maintenance.stop();
      stopResuming();
      scheduler.stop();
      reactor.stop();
      await own.stop();
      await master.files.close();
      await master.pillars.close();
      await ports.requests.close();
      await ports.publish.close();
      await local.close();
      await stopEvents();
      await master.sinks.stop();
      await store.close();
      log.info('master has stopped');
    },
  };
}

function refuseUnsupported(opts: MasterOpts): void {
  if ((opts as unknown as Record<string, unknown>)['cluster_id']) {
    throw new HaliteError('config.value', 'cluster_id is set: Salt’s own master cluster is not supported', {
      hint: 'Remove cluster_id from the master configuration; Halite masters share their work in another way.',
    });
  }
}

function openStore(opts: MasterOpts, log: Logger): Promise<JobStore> {
  return SqliteJobStore.open(join(opts.cachedir, 'halite.db'), {
    masterId: readReturnerSettings(opts).masterId,
    keepEvents: readReturnerSettings(opts).keepEvents,
    news: (level, text, fields) => log[level](text, fields),
  });
}

async function build(opts: MasterOpts, log: Logger, keys: KeyStore, own: JobStore): Promise<Master> {
  const pair = await loadMasterKeys(opts as unknown as Parameters<typeof loadMasterKeys>[0]);
  const secrets = new Secrets(pair, {
    cachedir: opts.cachedir,
    publishSession: opts.publish_session,
    failed: (error) =>
      log.limited('sessions', 'error', 'a session key could not be stored', { error: messageOf(error) }),
  });
  const bus = new EventBus({ maxEventSize: opts.max_event_size });
  const returnerSettings = readReturnerSettings(opts);
  const sinks = new ReturnerSinks(returnerSettings, log, bus);
  const store = new ForwardingJobStore(own, sinks, returnerSettings);
  const tracker = new Tracker();
  const durable = new DurableJobs();
  const fleet = new Fleet(
    store,
    (id) => (keys.accepted(id) ? secrets.session(id).keyString : undefined),
    (id, kind, restarted) => {
      log.debug(kind === 'joined' ? 'minion connected' : 'minion disconnected', { minion: id });
      if (kind === 'left') return tracker.disconnected(id);
      durable.arrived(id, 'joined');
      if (restarted) tracker.restarted(id);
      const duplicates = duplicateText(fleet.known(id));
      if (duplicates)
        log.limited(`duplicates:${id}`, 'warn', 'several minions use one id', { minion: id, who: duplicates });
    },
  );
  await fleet.restore();
  const algorithm = String(opts.publish_signing_algorithm);
  const master: Master = {
    opts,
    log,
    keys,
    secrets,
    bus,
    store,
    returnerSettings,
    sinks,
    history: new History(own, sinks, returnerSettings, log),
    fleet,
    tracker,
    durable,
    mine: new Mine(),
    publisher: new Publisher(secrets, isSigAlgo(algorithm) ? algorithm : 'PKCS1v15-SHA1'),
    userKeys: new UserKeys(opts),
    newKeys: new NewKeys(keys, opts),
    pillars: new PillarService({ opts: opts.raw, log }),
    files: openFileServer(opts as unknown as FileServerOpts, { log, fire: (tag, data) => bus.fire(tag, data) }),
    keySignature: await loadKeySignature(opts as unknown as Parameters<typeof loadKeySignature>[0], pair, log),
  };
  tracker.connect(
    master,
    (jid, ids, waiting) => askFindJob(master, jid, ids, waiting),
    (jid, ids) => killJob(master, jid, ids),
  );
  await durable.restore(master);
  await master.mine.restore(master);
  return master;
}

async function openPorts(
  master: Master,
  functions: MasterFunctions,
): Promise<{ publish: PublishServer; requests: RequestServer }> {
  const { opts } = master;
  const transport = await getTransport(String(opts.transport));
  const tls = opts.ssl as unknown as TlsOptions | true | null;
  const common = {
    interface: opts.interface,
    ipv6: Boolean(opts.ipv6),
    backlog: opts.zmq_backlog,
    ...(tls ? { tls } : {}),
    maxMessageBytes: maxRequestBytes,
    onProblem: ({ kind, peer, detail }: WireProblem) =>
      master.log.limited(`wire:${kind}`, 'warn', 'a peer broke a rule of the wire', { kind, peer, why: detail }),
  };
  const publish = await transport
    .listenPublish({
      ...common,
      port: opts.publish_port,
      hwm: opts.pub_hwm,
      filtering: opts.zmq_filtering,
      identify: tcpIdentity(master),
      provesPresence: (topic) => master.fleet.proves(topic),
      onSubscriber: (event) => master.fleet.subscriber(event),
    })
    .catch((error: unknown) => portError('publish_port', opts.publish_port, error));
  master.publisher.attach(publish);
  const port = new RequestPort(
    master,
    buildHandlers(master, functions),
    clearCommands(master, functions),
    transport.name,
  );
  const requests = await transport
    .listenRequests({ ...common, port: opts.ret_port }, (request) => port.accept(request))
    .catch(async (error: unknown) => {
      await publish.close();
      return portError('ret_port', opts.ret_port, error);
    });
  return { publish, requests };
}

function portError(option: string, port: number, error: unknown): never {
  throw new HaliteError('daemon.running', `cannot listen on ${option} ${port}: ${messageOf(error)}`, {
    hint: 'Another master may be running here; stop it, or choose other ports in the master configuration.',
    cause: error,
  });
}
