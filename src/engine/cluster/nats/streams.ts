// The streams of a cluster: made by whoever starts first. One that is configured differently is named, never changed.
import { randomBytes } from 'node:crypto';
import { HaliteError } from '../../../base/errors/index.ts';
import type { ClusterOptions } from '../options.ts';
import { asJson, type JetStream, JetStreamError, type Json, jetStreamErrors, wholeNumber } from './jetstream.ts';

const nanosPerMs = 1_000_000;
const minuteMs = 60_000;

export interface StreamPlan {
  readonly stream: string;
  readonly subjects: string;
  readonly storage: 'file' | 'memory';
  readonly maxAgeMs: number;
  readonly maxMessages?: number;
  readonly maxBytes?: number;
  /** How many values of a key are kept; absent for streams that are no buckets. */
  readonly history?: number;
}

/** Values of a key that are kept where it matters which one was first. */
const decided = 5;
/** Long enough for every retry of a message, which is recognized by its id. */
const duplicateWindowMs = 2 * minuteMs;
export const memberTtlMs = 8000;

export const streamName = {
  publications: (cluster: string): string => `HALITE_${cluster}_PUB`,
  log: (cluster: string): string => `HALITE_${cluster}_LOG`,
  bucket: (cluster: string, name: string): string => `KV_halite_${cluster}_${name}`,
};

export const subjectOf = {
  publications: (cluster: string): string => `halite.${cluster}.pub`,
  log: (cluster: string, slot: number): string => `halite.${cluster}.log.${slot}`,
  bucket: (cluster: string, name: string): string => `$KV.halite_${cluster}_${name}.`,
};

export function bucketPlan(cluster: string, name: string, more: Partial<StreamPlan> = {}): StreamPlan {
  return {
    stream: streamName.bucket(cluster, name),
    subjects: `${subjectOf.bucket(cluster, name)}>`,
    ...{ storage: 'file', maxAgeMs: 0, history: 1 },
    ...more,
  };
}

export function streamPlans(options: ClusterOptions, keepSeconds: number): StreamPlan[] {
  const { name } = options;
  const dayMs = 24 * 60 * minuteMs;
  return [
    {
      stream: streamName.publications(name),
      subjects: subjectOf.publications(name),
      ...{ storage: 'file', maxAgeMs: 10 * minuteMs, maxMessages: 100_000 },
    },
    {
      stream: streamName.log(name),
      subjects: `halite.${name}.log.*`,
      ...{
        storage: 'file',
        maxAgeMs: keepSeconds > 0 ? keepSeconds * 1000 : dayMs,
        maxBytes: options.logMb * 1024 * 1024,
      },
    },
    bucketPlan(name, 'members', { storage: 'memory', maxAgeMs: memberTtlMs }),
    bucketPlan(name, 'claims', { storage: 'memory', maxAgeMs: 60 * minuteMs, history: decided }),
    bucketPlan(name, 'reg', { history: decided }),
    bucketPlan(name, 'tokens', { maxAgeMs: 30 * dayMs, history: decided }),
    ...['keys', 'pending'].map((bucket) => bucketPlan(name, bucket, { history: decided })),
    ...['data', 'mine'].map((bucket) => bucketPlan(name, bucket)),
  ];
}

function configOf(plan: StreamPlan, replicas: number): Json {
  const isBucket = plan.history !== undefined;
  const window = plan.maxAgeMs > 0 ? Math.min(duplicateWindowMs, plan.maxAgeMs) : duplicateWindowMs;
  return {
    ...{ name: plan.stream, subjects: [plan.subjects], retention: 'limits', storage: plan.storage },
    ...{ max_age: plan.maxAgeMs * nanosPerMs, max_msgs: plan.maxMessages ?? -1, max_bytes: plan.maxBytes ?? -1 },
    ...{ max_msgs_per_subject: plan.history ?? -1, max_consumers: -1, max_msg_size: -1, num_replicas: replicas },
    ...{ discard: isBucket ? 'new' : 'old', duplicate_window: window * nanosPerMs, allow_rollup_hdrs: isBucket },
    ...{ deny_delete: isBucket, allow_direct: false, description: `halite ${randomBytes(8).toString('hex')}` },
  };
}

export interface FoundStream {
  readonly plan: StreamPlan;
  /** Names it among all of the same name: given by whoever made it. (Its time differs between servers of 2.9.) */
  readonly birth: string;
  readonly lastSeq: number;
  /** How its configuration differs from what Halite makes: named to the operator. */
  readonly differs: readonly string[];
}

const infoOf = (js: JetStream, stream: string): Promise<Json | undefined> =>
  js.call(`STREAM.INFO.${stream}`).catch((error: unknown) => {
    if (error instanceof JetStreamError && error.number === jetStreamErrors.streamNotFound) return undefined;
    throw error;
  });

export const isThere = async (js: JetStream, stream: string): Promise<boolean> =>
  (await infoOf(js, stream)) !== undefined;

/** Finds it, or makes it; `settle` is awaited before. */
export async function ensureStream(
  js: JetStream,
  plan: StreamPlan,
  replicas: number,
  settle: (plan: StreamPlan) => Promise<void>,
): Promise<FoundStream> {
  const found = await infoOf(js, plan.stream);
  if (found) return examine(found, plan, replicas);
  await settle(plan);
  try {
    await js.call(`STREAM.CREATE.${plan.stream}`, configOf(plan, replicas), 10_000);
    return examine(await js.call(`STREAM.INFO.${plan.stream}`), plan, replicas);
  } catch (error) {
    if (!(error instanceof JetStreamError)) throw error;
    // One server alone: nothing to replicate to.
    if (error.number === jetStreamErrors.replicasNeedCluster && replicas > 1) return ensureStream(js, plan, 1, settle);
    // Another member was faster, and knows other options.
    if (error.number === jetStreamErrors.nameInUse) return ensureStream(js, plan, replicas, settle);
    throw error;
  }
}

const compared = ['storage', 'max_age', 'max_msgs', 'max_bytes', 'max_msgs_per_subject', 'num_replicas', 'discard'];

function examine(info: Json, plan: StreamPlan, replicas: number): FoundStream {
  const config = asJson(info['config']) ?? {};
  const subjects = config['subjects'];
  const isOurs = Array.isArray(subjects) && subjects.length === 1 && subjects[0] === plan.subjects;
  if (
    !isOurs ||
    config['retention'] !== 'limits' ||
    config['no_ack'] === true ||
    asJson(config['mirror']) !== undefined
  ) {
    throw new HaliteError('cluster.refused', `The stream ${plan.stream} on the nats-servers is not one of Halite`, {
      hint: `Give the cluster another name, or remove the stream: nats stream rm ${plan.stream}`,
    });
  }
  const wanted = configOf(plan, replicas);
  const differs = compared
    .filter((key) => config[key] !== wanted[key])
    .map((key) => `${plan.stream}: ${key} is ${String(config[key])}, not ${String(wanted[key])}`);
  const [, birth] = /^halite ([0-9a-f]{16})$/.exec(String(config['description'])) ?? [];
  if (birth === undefined) differs.push(`${plan.stream}: its description is not one of Halite`);
  return { plan, birth: birth ?? 'foreign', lastSeq: wholeNumber(asJson(info['state'])?.['last_seq']) ?? 0, differs };
}
