// Builds the parts that manage minions and track their jobs: fleet, targets, tracking, publishing.
import type { Crypticle } from '../../base/crypto/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { JobItem } from '../../engine/client/api.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { JobOutcome, JobRequest } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import type { KeyStore } from '../../store/keys.ts';
import { Fleet, type FleetChange, type FleetStore } from '../fleet/fleet.ts';
import type { LowerMasters } from '../lower-masters/lower-masters.ts';
import { type AttachParts, attachItems, userOfJob } from '../publish/attach.ts';
import type { BatchOptions, BatchParts } from '../publish/batch.ts';
import { runBatchBelow } from '../publish/batch-below.ts';
import { jobItems, sentItems } from '../publish/job-stream.ts';
import { type Preflight, preflight } from '../publish/preflight.ts';
import type { Publications } from '../publish/publications.ts';
import {
  askCachedJob,
  askFindJob,
  killJob,
  type PreparedJob,
  type PublishParts,
  prepareJob,
  publishJob,
  refuseForeignJid,
  type TrackedJob,
} from '../publish/publish.ts';
import { runJob } from '../publish/run-job.ts';
import { type MatchOptions, type TargetSources, Targets } from '../publish/targets.ts';
import { CutOff } from '../shared/cut-off.ts';
import { SharedPending } from '../shared/durable.ts';
import { SharedPresence } from '../shared/presence.ts';
import { DurableJobs, type DurableParts } from '../tracking/durable.ts';
import { duplicateText, type ReasonSources, Reasons } from '../tracking/reasons.ts';
import { type RecoverParts, Recovery } from '../tracking/recover.ts';
import { ResumedJobs, type ResumeParts } from '../tracking/resume.ts';
import { Tracker, type TrackerParts } from '../tracking/tracker.ts';

export interface JobBuildParts {
  readonly opts: PublishParts['opts'] & ReasonSources['opts'] & TargetSources['opts'];
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly cluster: Omit<Cluster, 'relay' | 'ledger' | 'close'>;
  readonly keys: Pick<KeyStore, 'ids' | 'has' | 'readText'>;
  readonly store: RecoverParts['store'] &
    FleetStore &
    DurableParts['store'] &
    TrackerParts['store'] &
    PublishParts['store'] &
    ResumeParts['store'] &
    RecoverParts['store'];
  readonly publications: Pick<Publications, 'send'>;
  readonly returnerSettings: ResumeParts['returnerSettings'];
  readonly lower: LowerMasters;
  /** Throws while this master starts no new jobs. */
  refuseNew?(asked: AskedJob): void;
  /** The keys that verify a minion's subscription; none for one without an accepted key. */
  sessionKeys(id: string): Iterable<Crypticle>;
}

/** Starting jobs, for the other parts of the master. */
export interface Jobs {
  prepare(request: AskedJob): PreparedJob;
  publish(request: AskedJob): Promise<TrackedJob>;
  refuseForeignJid(request: AskedJob): Promise<void>;
  send(job: PreparedJob, announce: boolean): AsyncIterable<JobItem>;
  follow(job: PreparedJob, signal: AbortSignal, announce: boolean): AsyncIterable<JobItem>;
  batch(request: AskedJob, options: BatchOptions, signal: AbortSignal): AsyncIterable<JobItem>;
  preflight(tgt: string | readonly string[], kind: string, options: MatchOptions): Preflight;
  /** A job that was published before, also by the master before its last start. */
  attach(jid: string, signal: AbortSignal): AsyncIterable<JobItem>;
  userOf(jid: string): Promise<string | undefined>;
  run(request: JobRequest, signal?: AbortSignal): Promise<JobOutcome>;
}

export interface BuiltJobs {
  readonly presence: SharedPresence;
  /** Ends what is shared with other members. */
  stop(): void;
  readonly fleet: Fleet;
  readonly targets: Targets;
  readonly reasons: Reasons;
  readonly durable: DurableJobs;
  readonly tracker: Tracker;
  readonly resumed: ResumedJobs;
  readonly jobs: Jobs;
}

export async function buildJobs(parts: JobBuildParts): Promise<BuiltJobs> {
  const { opts, log, bus, keys, store, publications, lower } = parts;
  const presence = new SharedPresence({
    ...{ cluster: parts.cluster, log },
    own: () => fleet.ownConnections(),
    changed: (id, kind, restarted) => changed(id, kind, restarted),
  });
  /** Of a connection to any member. */
  const changed = (id: string, kind: 'joined' | 'left', restarted: boolean): void => {
    fleet.noteChange(id);
    if (kind === 'left') {
      tracker.disconnected(id);
      return;
    }
    if (restarted) tracker.restarted(id);
    const duplicates = duplicateText(fleet.connections(id));
    if (duplicates)
      log.limited(`duplicates:${id}`, 'warn', 'several minions use one id', { minion: id, who: duplicates });
  };
  const ownChanged: FleetChange = (id, kind, restarted, { boot, peer, since }) => {
    log.debug(kind === 'joined' ? 'minion connected' : 'minion disconnected', { minion: id });
    if (kind === 'left') presence.left(id, boot);
    else {
      presence.joined([id, boot, peer, since]);
      durable.arrived(id, 'joined');
    }
    changed(id, kind, restarted);
  };
  const fleet: Fleet = new Fleet(store, parts.sessionKeys, ownChanged, presence);
  await fleet.restore();
  const targets = new Targets({ opts, keys, fleet, log });
  const reasons = new Reasons({ opts, keys, fleet, lower });
  // Durable jobs end in the tracker, the tracker creates durable jobs, and both ask minions with jobs: these three
  // refer to each other.
  const share = SharedPending.open({ cluster: parts.cluster, log });
  const activeJob = (jid: string) => tracker.job(jid);
  const durable = await DurableJobs.open({ log, bus, store, fleet, publications, reasons, activeJob, share });
  const tracker: Tracker = new Tracker({
    ...{ opts, log, keys, store, fleet, reasons, durable },
    ask: (jid, ids, waiting) => askFindJob(publishing, jid, ids, waiting),
    kill: (jid, ids) => killJob(publishing, jid, ids),
    recover: (jid, id) => recovery.result(jid, id),
    elsewhere: (id) => cutOff.lastMember(id),
  });
  const cutOff = new CutOff({ cluster: parts.cluster, presence, fleet });
  const recovery = new Recovery({ bus, store, tracker, ask: (jid, id) => askCachedJob(publishing, jid, id) });
  const publishing: BatchParts = {
    ...{ opts, log, bus, store, fleet, targets, reasons, publications, tracker, lower },
    refuseNew: parts.refuseNew,
    counted: (fun) => tracker.counts.publishedJob(fun),
    others: () => cluster.members().flatMap(({ id }) => (id === cluster.self.id ? [] : [id])),
  };
  const { cluster, returnerSettings } = parts;
  const resumed = new ResumedJobs({
    ...{ opts, log, store, returnerSettings, fleet, tracker },
    ...(cluster.name === undefined ? {} : { owner: cluster.self.slot }),
  });
  const attaching: AttachParts = { store, fleet, tracker, resumed };
  const jobs: Jobs = {
    prepare: (request) => prepareJob(publishing, request),
    publish: (request) => publishJob(publishing, request),
    refuseForeignJid: (request) => refuseForeignJid(publishing, request),
    send: (job, announce) => sentItems(publishing, job, announce),
    follow: (job, signal, announce) => jobItems(publishing, job, signal, announce),
    batch: (request, options, signal) => runBatchBelow(publishing, request, options, signal),
    preflight: (tgt, kind, options) => preflight({ targets, fleet, reasons }, tgt, kind, options),
    attach: (jid, signal) => attachItems(attaching, jid, signal),
    userOf: (jid) => userOfJob(attaching, jid),
    run: (request, signal) => runJob(publishing, request, signal),
  };
  const stop = (): void => {
    presence.close();
    share?.close();
  };
  return { presence, fleet, targets, reasons, durable, tracker, resumed, jobs, stop };
}
