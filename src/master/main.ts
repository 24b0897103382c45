// The master daemon: builds its parts in order, each with its dependencies, opens the ports, and closes everything
// again on stop.
import { newDict } from '../base/codec/value.ts';
import { type MasterOpts, prepareDirs } from '../base/config/index.ts';
import { isSigAlgo } from '../base/crypto/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { type FileServerOpts, openFileServer } from '../engine/files/open.ts';
import { PillarService } from '../engine/pillar/service.ts';
import { Loader, sdkUrl } from '../extend/loader/index.ts';
import { EventBus } from '../protocol/event/bus.ts';
import { getTransport } from '../protocol/wire/transports.ts';
import { KeyStore } from '../store/keys.ts';
import { Authorization } from './authorization/authorization.ts';
import { UserKeys } from './authorization/user-keys.ts';
import { buildFunctions } from './build/functions.ts';
import { buildJobs } from './build/jobs.ts';
import { openPorts } from './build/ports.ts';
import { openRecords } from './build/records.ts';
import { Mine } from './fleet/mine.ts';
import { listenLocal } from './local/server.ts';
import { Maintenance } from './periodic/maintenance.ts';
import { MasterScheduler } from './periodic/scheduler.ts';
import { Publisher } from './publish/publisher.ts';
import { clearCommands } from './requests/clear.ts';
import { eventHandlers } from './requests/handlers/events.ts';
import { fileHandlers } from './requests/handlers/files.ts';
import { mineHandlers } from './requests/handlers/mine.ts';
import { optionHandlers } from './requests/handlers/options.ts';
import { peerHandlers } from './requests/handlers/peer.ts';
import { pillarHandlers } from './requests/handlers/pillar.ts';
import { returnHandlers } from './requests/handlers/returns.ts';
import { handlerTable } from './requests/handlers/table.ts';
import { RequestPort } from './requests/port.ts';
import { passOn } from './returners/pass-on.ts';
import { signIn } from './sign-in/auth.ts';
import { KeyChanges } from './sign-in/key-changes.ts';
import { loadKeySignature } from './sign-in/key-signature.ts';
import { NewKeys } from './sign-in/new-keys.ts';
import { loadMasterKeys, Secrets } from './sign-in/secrets.ts';
import { resumeJobs } from './tracking/resume.ts';

export interface RunningMaster {
  readonly publishPort: number;
  readonly requestPort: number;
  stop(): Promise<void>;
}

export async function runMaster(opts: MasterOpts, log: Logger): Promise<RunningMaster> {
  refuseUnsupported(opts);
  prepareDirs(opts);
  const keys = new KeyStore(opts.pki_dir, { permissive: opts.permissive_pki_access });
  keys.prepare();
  const bus = new EventBus({ maxEventSize: opts.max_event_size });
  const loader = extensionLoader(opts, log);
  const records = await openRecords(opts, log, bus, () => loader.names('returners'));
  const { store, sinks, returnerSettings } = records;
  const pair = await loadMasterKeys(opts as unknown as Parameters<typeof loadMasterKeys>[0]);
  const keySignature = await loadKeySignature(opts as unknown as Parameters<typeof loadKeySignature>[0], pair, log);
  const secrets = new Secrets(pair, {
    cachedir: opts.cachedir,
    publishSession: opts.publish_session,
    failed: (error) =>
      log.limited('sessions', 'error', 'a session key could not be stored', { error: messageOf(error) }),
  });
  const algorithm = String(opts.publish_signing_algorithm);
  const publisher = new Publisher(secrets, isSigAlgo(algorithm) ? algorithm : 'PKCS1v15-SHA1');
  const sessionKey = (id: string): string | undefined =>
    keys.accepted(id) ? secrets.session(id).keyString : undefined;
  const built = await buildJobs({ opts, log, bus, keys, store, publisher, sessionKey });
  const { fleet, targets, durable, tracker, jobs } = built;
  const mine = await Mine.open({ store, keys, fleet, targets, log });
  const keyChanges = new KeyChanges({ opts, secrets, bus, fleet, mine, tracker });
  const authorization = new Authorization({ opts, userKeys: new UserKeys(opts), targets });
  const pillars = new PillarService({ opts: opts.raw, log });
  const files = openFileServer(opts as unknown as FileServerOpts, { log, fire: (tag, data) => bus.fire(tag, data) });
  await records.start();
  const { functions, own, reactor } = buildFunctions(
    { opts, log, bus, loader, keys, keyChanges, files, pillars, mine },
    records,
    built,
  );
  const local = await listenLocal({ opts, log, bus, fleet, targets, authorization, functions, keyChanges, jobs });
  const passing = { store, sinks, returnerSettings, log };
  const handlers = handlerTable(
    returnHandlers({
      ...{ opts, log, keys, bus, store, tracker, durable },
      passOn: (ret, load) => passOn(passing, ret, load),
    }),
    eventHandlers({ opts, log, bus, keys, fleet, tracker, durable }),
    pillarHandlers({ opts, log, bus, fleet, pillars }),
    fileHandlers({ opts, log, files }),
    mineHandlers({ opts, log, mine }),
    optionHandlers({ opts, log, keys, keyChanges }),
    peerHandlers({ opts, log, store, functions, prepareJob: jobs.prepare }),
  );
  const transport = await getTransport(String(opts.transport));
  const requestPort = new RequestPort({
    ...{ opts, log, keys, secrets, fleet, durable, handlers },
    signIn: signIn({ opts, log, keys, newKeys: new NewKeys(keys, opts), secrets, keySignature, fleet, bus }),
    clear: clearCommands({ authorization, functions, jobs }),
    transport: transport.name,
  });
  const ports = await openPorts(transport, { opts, log, keys, secrets, fleet, publisher, requestPort }).catch(
    async (error: unknown) => {
      await local.close();
      await records.close();
      throw error;
    },
  );
  const maintenance = new Maintenance({
    ...{ opts, log, secrets, keyChanges, durable, fleet, bus, store },
    ...{ returnerSettings, sinks },
  });
  maintenance.start();
  const stopResuming = resumeJobs({ opts, log, store, returnerSettings, fleet, tracker });
  const scheduler = new MasterScheduler({ opts, log, functions });
  scheduler.start();
  reactor.start();
  files.start();
  const [publishPort, port] = [ports.publish.port, ports.requests.port];
  log.info('master is ready', { publish: publishPort, requests: port, store: store.description });
  return {
    publishPort,
    requestPort: port,
    stop: async () => {
      maintenance.stop();
      stopResuming();
      scheduler.stop();
      reactor.stop();
      await own.stop();
      await files.close();
      await pillars.close();
      await ports.close();
      await local.close();
      await records.close();
      log.info('master has stopped');
    },
  };
}

function refuseUnsupported(opts: MasterOpts): void {
  if (opts.raw['cluster_id']) {
    throw new HaliteError('config.value', 'cluster_id is set: Salt’s own master cluster is not supported', {
      hint: 'Remove cluster_id from the master configuration; Halite masters have another mechanism for that.',
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
    ...(sdk ? { sdkUrl: sdk } : {}),
  });
}
