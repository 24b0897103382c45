// The master's own job store; everything that is saved there is also forwarded to the configured job cache.
import { asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { DelegatingJobStore } from '../../store/delegating.ts';
import type { JobRecord, JobStore, ReturnRecord } from '../../store/jobs.ts';
import type { ReturnerSettings } from './settings.ts';
import type { ReturnerSinks } from './sinks.ts';

/** Jobs that Halite publishes itself are not relevant for an audit. */
const own = new Set(['saltutil.find_job']);
const isMasterFunction = (fun: string): boolean => fun.startsWith('runner.') || fun.startsWith('wheel.');

export class ForwardingJobStore extends DelegatingJobStore {
  readonly #sinks: Pick<ReturnerSinks, 'add'>;
  readonly #settings: ReturnerSettings;

  constructor(store: JobStore, sinks: Pick<ReturnerSinks, 'add'>, settings: ReturnerSettings) {
    super(store);
    this.#sinks = sinks;
    this.#settings = settings;
  }

  override get description(): string {
    const { jobCache, extJobCache } = this.#settings;
    const others = [jobCache, extJobCache].filter((name) => name !== '');
    return others.length > 0 ? `${this.inner.description} and ${others.join(', ')}` : this.inner.description;
  }

  override async saveJob(job: JobRecord): Promise<void> {
    const { jobCache, extJobCache } = this.#settings;
    if (this.#goesOut(job.fun, job.internal)) {
      const record = {
        k: 'load',
        jid: job.jid,
        load: asPlainDict(job.load) ?? newDict(),
        minions: [...job.expected],
      } as const;
      // No caller waits for these: a job runs even if it cannot be stored.
      if (jobCache) void this.#sinks.add('jobs', jobCache, record);
      if (extJobCache && extJobCache !== jobCache) void this.#sinks.add('jobs', extJobCache, record);
    }
    await this.inner.saveJob(job);
  }

  override saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'> {
    const { jobCache, extJobCache, keepReturns } = this.#settings;
    if (!keepReturns) return Promise.resolve('stored');
    const outside = isMasterFunction(ret.fun) ? jobCache || extJobCache : extJobCache ? '' : jobCache;
    if (!outside || !this.#goesOut(ret.fun, false)) return this.inner.saveReturn(ret);
    const spooled = this.#sinks.add('jobs', outside, { k: 'ret', load: stamped(ret) });
    return Promise.all([this.inner.saveReturn(ret), spooled]).then(([result]) => result);
  }

  #goesOut(fun: string, internal: boolean): boolean {
    if (isMasterFunction(fun)) return this.#settings.keepRunners;
    return !internal && !own.has(fun);
  }
}

/** Salt's stored results contain the time of their arrival. */
function stamped({ load, received }: ReturnRecord): PlainDict {
  const stamp: Value = new Date(received).toISOString().replace('Z', '000');
  return { ...asPlainDict(load), _stamp: stamp };
}
