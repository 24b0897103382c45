// Builds the parts that manage minions and track their jobs: fleet, targets, tracking, publishing.
import type { Logger } from '../../base/log/index.ts';
import type { JobItem } from '../../engine/client/api.ts';
import type { JobOutcome, JobRequest } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import type { KeyStore } from '../../store/keys.ts';
import { Fleet, type FleetStore } from '../fleet/fleet.ts';
import { type BatchOptions, type BatchParts, runBatch } from '../publish/batch.ts';
import { jobItems } from '../publish/job-stream.ts';
import { type Preflight, preflight } from '../publish/preflight.ts';
import {
  askFindJob,
  killJob,
  type PreparedJob,
  type PublishParts,
  prepareJob,
  publishJob,
  refuseForeignJid,
  type TrackedJob,
} from '../publish/publish.ts';
import type { Publisher } from '../publish/publisher.ts';
import { runJob } from '../publish/run-job.ts';
import { type MatchOptions, type TargetSources, Targets } from '../publish/targets.ts';
import { DurableJobs, type DurableParts } from '../tracking/durable.ts';
import { duplicateText, type ReasonSources, Reasons } from '../tracking/reasons.ts';
import { Tracker, type TrackerParts } from '../tracking/tracker.ts';

export interface JobBuildParts {
  readonly opts: PublishParts['opts'] & ReasonSources['opts'] & TargetSources['opts'];
  readonly log: Pick<Logger, 'debug' | 'info' | 'error' | 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly keys: Pick<KeyStore, 'ids' | 'has' | 'readText'>;
  readonly store: FleetStore & DurableParts['store'] & TrackerParts['store'] & PublishParts['store'];
  readonly publisher: Pick<Publisher, 'send'>;
  /** The key that verifies a minion's subscription; undefined for one without an accepted key. */
  sessionKey(id: string): string | undefined;
}

/** Starting jobs, for the other parts of the master. */
export interface Jobs {
  prepare(request: AskedJob): PreparedJob;
  publish(request: AskedJob): Promise<TrackedJob>;
  refuseForeignJid(request: AskedJob): Promise<void>;
  follow(job: PreparedJob, signal: AbortSignal): AsyncIterable<JobItem>;
  batch(request: AskedJob, options: BatchOptions, signal: AbortSignal): AsyncIterable<JobItem>;
  preflight(tgt: string | readonly string[], kind: string, options: MatchOptions): Preflight;
  run(request: JobRequest, signal?: AbortSignal): Promise<JobOutcome>;
}

export interface BuiltJobs {
  readonly fleet: Fleet;
  readonly targets: Targets;
  readonly reasons: Reasons;
  readonly durable: DurableJobs;
  readonly tracker: Tracker;
  readonly jobs: Jobs;
}

export async function buildJobs(parts: JobBuildParts): Promise<BuiltJobs> {
  const { opts, log, bus, keys, store, publisher } = parts;
  const fleet: Fleet = new Fleet(store, parts.sessionKey, (id, kind, restarted) => {
    log.debug(kind === 'joined' ? 'minion connected' : 'minion disconnected', { minion: id });
    if (kind === 'left') return tracker.disconnected(id);
    durable.arrived(id, 'joined');
    if (restarted) tracker.restarted(id);
    const duplicates = duplicateText(fleet.known(id));
    if (duplicates)
      log.limited(`duplicates:${id}`, 'warn', 'several minions use one id', { minion: id, who: duplicates });
  });
  await fleet.restore();
  const targets = new Targets({ opts, keys, fleet, log });
  const reasons = new Reasons({ opts, keys, fleet });
  // Durable jobs end in the tracker, the tracker creates durable jobs, and both ask minions with jobs: these three
  // refer to each other.
  const activeJob = (jid: string) => tracker.job(jid);
  const durable = await DurableJobs.open({ log, bus, store, fleet, publisher, reasons, activeJob });
  const tracker: Tracker = new Tracker({
    ...{ opts, log, keys, store, fleet, reasons, durable },
    ask: (jid, ids, waiting) => askFindJob(publishing, jid, ids, waiting),
    kill: (jid, ids) => killJob(publishing, jid, ids),
  });
  const publishing: BatchParts = { opts, log, bus, store, fleet, targets, reasons, publisher, tracker };
  const jobs: Jobs = {
    prepare: (request) => prepareJob(publishing, request),
    publish: (request) => publishJob(publishing, request),
    refuseForeignJid: (request) => refuseForeignJid(publishing, request),
    follow: (job, signal) => jobItems(publishing, job, signal),
    batch: (request, options, signal) => runBatch(publishing, request, options, signal),
    preflight: (tgt, kind, options) => preflight({ targets, fleet, reasons }, tgt, kind, options),
    run: (request, signal) => runJob(publishing, request, signal),
  };
  return { fleet, targets, reasons, durable, tracker, jobs };
}
