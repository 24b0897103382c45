// The options about where jobs, results and events are stored, read once.
import { join } from 'node:path';
import { asText, type PlainDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { keepSeconds } from '../../base/util/keep-jobs.ts';

export interface ReturnerSettings {
  readonly folder: string;
  readonly opts: PlainDict;
  /** `master_job_cache`, when it is not the own store. */
  readonly jobCache: string;
  readonly extJobCache: string;
  readonly events: readonly { readonly returner: string }[];
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
  readonly gather: { readonly count: number; readonly ms: number };
  /** Limit of each spool. */
  readonly maxBytes: number;
  /** `job_cache`: results are stored here. */
  readonly keepReturns: boolean;
  readonly keepRunners: boolean;
  readonly keepEvents: number;
  /** Jobs older than this are removed; 0 keeps them. */
  readonly keepSeconds: number;
  /** Old jobs are also removed from the database of master_job_cache: only if the retention is configured. */
  readonly cleanOutside: boolean;
  readonly masterId: string;
  readonly via: boolean | readonly string[];
}

/** Salt's default and its names: the master's own store, not a folder per job. */
const ownStore = new Set(['', 'local_cache', 'sqlite']);
/** With event_return_queue and no maximum time an event still does not wait without limit. */
const longestGatherMs = 60_000;

export function readReturnerSettings(opts: MasterOpts): ReturnerSettings {
  const raw = opts as unknown as PlainDict;
  const text = (name: string): string => asText(raw[name]) ?? '';
  const texts = (name: string): string[] => {
    const value = raw[name];
    if (Array.isArray(value)) return value.map(String);
    return typeof value === 'string' && value !== '' ? value.split(',').map((word) => word.trim()) : [];
  };
  const number = (name: string, otherwise: number): number => (typeof raw[name] === 'number' ? raw[name] : otherwise);
  const jobCache = text('master_job_cache');
  const seconds = number('event_return_queue_max_seconds', 0);
  const via = raw['return_via_master'];
  return {
    folder: join(opts.cachedir, 'spool'),
    opts: Object.fromEntries(Object.entries(opts.raw)) as PlainDict,
    jobCache: ownStore.has(jobCache) ? '' : jobCache,
    extJobCache: text('ext_job_cache'),
    events: texts('event_return').map((returner) => ({ returner })),
    whitelist: texts('event_return_whitelist'),
    blacklist: texts('event_return_blacklist'),
    gather: { count: number('event_return_queue', 0), ms: seconds > 0 ? seconds * 1000 : longestGatherMs },
    maxBytes: Math.max(1, number('spool_mb', 1024)) * 1024 * 1024,
    keepReturns: raw['job_cache'] !== false,
    keepRunners: raw['runner_returns'] !== false,
    keepEvents: number('keep_events', 10_000),
    keepSeconds: keepSeconds(raw),
    cleanOutside: opts.isGiven('keep_jobs_seconds') || opts.isGiven('keep_jobs'),
    masterId: asText(raw['id']) ?? 'master',
    via: via === false ? false : Array.isArray(via) ? via.map(String) : true,
  };
}
