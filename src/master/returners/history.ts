// Job history: from the master's own store, from the configured job cache, and from both combined.
import type { JsonText } from '../../base/codec/json/index.ts';
import { type Dict, dictGet, isDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { JobFilter, JobSummary } from '../../extend/sdk/context.ts';
import { jidRange, jobTest, traitsOf } from '../../extend/sdk/job-filter.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { ReturnerSettings } from './settings.ts';
import type { ReturnerSinks } from './sinks.ts';

export interface HistoryParts {
  /** The master's own. */
  readonly store: Pick<JobStore, 'load' | 'expected' | 'returns' | 'list' | 'listText' | 'returnsText'>;
  readonly sinks: Pick<ReturnerSinks, 'ask'>;
  readonly settings: Pick<ReturnerSettings, 'jobCache' | 'extJobCache'>;
  readonly log: Pick<Logger, 'limited'>;
}

export class History {
  readonly #parts: HistoryParts;
  readonly #outside: string;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
    this.#outside = parts.settings.extJobCache || parts.settings.jobCache;
  }

  /** `source` names a returner to query instead of the configured one. */
  async load(jid: string, source?: string): Promise<Dict | undefined> {
    const here = source ? undefined : await this.#parts.store.load(jid);
    if (here) return here;
    const there = await this.#ask(source, 'load', jid);
    return isDict(there) && Object.keys(there).length > 0 ? there : undefined;
  }

  async expected(jid: string, source?: string): Promise<string[]> {
    const here = source ? [] : await this.#parts.store.expected(jid);
    if (here.length > 0) return here;
    const load = await this.load(jid, source);
    const minions = load ? (dictGet(load, 'Minions') ?? dictGet(load, 'minions')) : undefined;
    return Array.isArray(minions) ? minions.map(String) : Object.keys(await this.returns(jid, source));
  }

  /** The own store has the newest jobs; older ones are in the other one. */
  async returns(jid: string, source?: string): Promise<Record<string, Dict>> {
    const here = source ? new Map<string, Dict>() : await this.#parts.store.returns(jid);
    if (!source && !this.#outside) return Object.fromEntries(here);
    const expected = source ? [] : await this.#parts.store.expected(jid);
    const complete = expected.length > 0 && expected.every((id) => here.has(id));
    const there = complete ? undefined : await this.#ask(source, 'returns', jid);
    return { ...(isDict(there) ? (there as Record<string, Dict>) : {}), ...Object.fromEntries(here) };
  }

  async list(filter: JobFilter, source?: string): Promise<JobSummary[]> {
    const here = source ? [] : await this.#parts.store.list(filter);
    const there = await this.#ask(source, 'jids', '');
    if (!isDict(there)) return here;
    const known = new Map(here.map((job) => [job.jid, job]));
    const wanted = wantedTest(filter);
    for (const [jid, load] of Object.entries(there as PlainDict)) {
      if (!known.has(jid) && isDict(load) && wanted(jid, load)) known.set(jid, { jid, load });
    }
    const jobs = [...known.values()].sort((a, b) => (a.jid < b.jid ? 1 : -1));
    return filter.limit ? jobs.slice(0, filter.limit) : jobs;
  }

  /** JSON text, when only the own store is queried and values need not be parsed. */
  async listText(filter: JobFilter, source?: string): Promise<JsonText | undefined> {
    return source || this.#outside ? undefined : this.#parts.store.listText(filter);
  }

  async returnsText(jid: string, source?: string): Promise<JsonText | undefined> {
    return source || this.#outside ? undefined : this.#parts.store.returnsText(jid);
  }

  /** An unavailable database does not prevent the rest of the answer, unless it was named explicitly. */
  async #ask(source: string | undefined, what: 'load' | 'returns' | 'jids', arg: string): Promise<Value> {
    const returner = source || this.#outside;
    if (!returner || source === 'local_cache') return null;
    try {
      return await this.#parts.sinks.ask(returner, what, arg);
    } catch (error) {
      if (source) throw error;
      this.#parts.log.limited(
        `history:${returner}`,
        'warn',
        'the job cache does not answer: only the own store was queried',
        {
          ...{ returner, error: messageOf(error) },
        },
      );
      return null;
    }
  }
}

const hidden = /^(saltutil\.find_job$|runner\.|wheel\.)/;

/** The test for jobs that are not in the own store. */
function wantedTest(filter: JobFilter): (jid: string, load: Dict) => boolean {
  const [from, to] = jidRange(filter);
  const fits = jobTest(filter);
  return (jid, load) => {
    const traits = traitsOf(load);
    return (filter.internal || !hidden.test(traits.fun)) && jid >= from && jid <= to && fits(traits);
  };
}
