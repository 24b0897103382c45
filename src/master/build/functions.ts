// Builds the parts that run on the master itself: runners and wheel functions, execution functions, reactions to
// events.
import type { MasterOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { FileServer } from '../../engine/files/server.ts';
import type { PillarService } from '../../engine/pillar/service.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type {
  ClusterMembership,
  ClusterServices,
  ClusterView,
  MasterServices,
  RetirementServices,
  RolloverServices,
} from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Logins } from '../authorization/logins.ts';
import type { Mine } from '../fleet/mine.ts';
import { MasterFunctions } from '../local/functions.ts';
import { OwnMinion } from '../local/own-minion.ts';
import { fleetView, jobHistory, masterServices } from '../local/services.ts';
import type { LowerMasters } from '../lower-masters/lower-masters.ts';
import { Reactor } from '../reactor/reactor.ts';
import type { KeyChanges } from '../sign-in/key-changes.ts';
import { Explain } from '../tracking/explain.ts';
import type { BuiltJobs } from './jobs.ts';
import type { Records } from './records.ts';

export interface FunctionBuildParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly bus: EventBus;
  readonly loader: Loader;
  readonly keys: KeyStore;
  readonly keyChanges: KeyChanges;
  readonly files: FileServer;
  readonly pillars: PillarService;
  readonly mine: Mine;
  readonly logins: Logins;
  readonly lower: LowerMasters;
  readonly cluster: ClusterView;
  readonly membership: ClusterMembership;
  readonly trust: ClusterServices;
  readonly rollover: RolloverServices;
  readonly retirement: RetirementServices;
}

export interface BuiltFunctions {
  readonly functions: MasterFunctions;
  readonly own: OwnMinion;
  readonly reactor: Reactor;
  /** What runners and wheel functions get. */
  readonly services: MasterServices;
}

export function buildFunctions(
  {
    opts,
    log,
    bus,
    loader,
    keys,
    keyChanges,
    files,
    pillars,
    mine,
    logins,
    lower,
    cluster,
    membership,
    trust,
    rollover,
    retirement,
  }: FunctionBuildParts,
  { store, sinks, history }: Records,
  { fleet, targets, reasons, durable, tracker, jobs }: BuiltJobs,
): BuiltFunctions {
  const functions = new MasterFunctions({ opts, log, bus, store, loader, services: () => services });
  const own = new OwnMinion({ opts, log, bus, functions, pillars, runJob: jobs.run });
  const reactor = new Reactor({ opts, log, bus, files, functions, own, publish: jobs.publish });
  const explain = new Explain({ opts, store, keys, fleet, tracker, durable, reasons });
  const services: MasterServices = masterServices({
    ...{ opts, bus, files, pillars, mine, functions, own, reactor, logins, cluster, membership, trust, rollover },
    retirement,
    keys: keyChanges.services(keys, opts.pki_dir),
    jobs: jobHistory({ history, store, sinks, tracker, durable, functions, explain, cluster }),
    fleet: fleetView({ fleet, keys, mine, targets, explain, lower }),
    runJob: jobs.run,
  });
  return { functions, own, reactor, services };
}
