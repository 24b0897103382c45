// Builds who may become a member of the cluster, and how one leaves.
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { ClusterOptions } from '../../engine/cluster/options.ts';
import type { ClusterMembership, ClusterReport, JobOutcome, JobRequest } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { LedgerStore } from '../../store/jobs.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { Drill } from '../shared/drill.ts';
import { Invitations } from '../shared/joining/invitations.ts';
import type { Drain } from '../shared/leaving/drain.ts';
import { Leaving } from '../shared/leaving/leaving.ts';
import { Rekey } from '../shared/rekey.ts';
import type { KeyRing } from '../sign-in/master-keys.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { Ports } from './ports.ts';

export interface MembershipBuildParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly bus: Pick<EventBus, 'fire' | 'watch'>;
  readonly cluster: Cluster;
  readonly options: ClusterOptions | undefined;
  readonly ring: Pick<KeyRing, 'current'>;
  readonly drain: Drain;
  readonly fleet: Pick<Fleet, 'ownConnections'>;
  readonly tracker: Pick<Tracker, 'active'>;
  readonly receivers: LedgerStore['receivers'];
  readonly run: (request: JobRequest) => Promise<JobOutcome>;
}

export interface Membership {
  readonly services: ClusterMembership;
  /** A change of the key of the cluster that is under way. */
  rekey(): ClusterReport['rekey'];
  /** When the ports are open. */
  start(ports: Pick<Ports, 'cut'>): void;
  stop(): void;
}

export function buildMembership(parts: MembershipBuildParts): Membership {
  const { options, opts, cluster, log } = parts;
  const { keyring } = cluster;
  if (!options || !keyring) {
    const nobody = { invite: alone, drain: alone, forget: alone, rekey: alone, drill: alone };
    const nothing = (): void => undefined;
    const services = { ...nobody, lastDrill: async () => undefined };
    return { services, rekey: () => undefined, start: nothing, stop: nothing };
  }
  const drill = new Drill(parts);
  const rekey = new Rekey({ cluster, keyring, log });
  const invitations = new Invitations({ ...parts, options });
  const leaving = new Leaving({ ...parts, sessionSeconds: opts.publish_session });
  const services: ClusterMembership = {
    invite: (minutes) => invitations.invite(minutes),
    drain: (id, how) => leaving.drain(id, how),
    forget: (id, how) => leaving.forget(id, how),
    rekey: (how) => rekey.rekey(how),
    drill: (how) => drill.run(how),
    lastDrill: () => drill.last(),
  };
  return {
    services,
    rekey: () => rekey.underWay,
    start: (ports) => drill.start((ms) => ports.cut(ms)),
    stop: () => rekey.close(),
  };
}

const alone = (): Promise<never> =>
  Promise.reject(
    new HaliteError('call.failed', 'This master works alone.', {
      hint: 'To make a cluster of it: halite cluster init <name> <address of a nats-server>…',
    }),
  );
