// Keeps returners open between results and closes those that were not used for a while.

import { isDeepStrictEqual } from 'node:util';
import type { PlainDict } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { withTimeout } from '../../../base/util/with-timeout.ts';
import type { Loader } from '../../../extend/loader/index.ts';
import type { ReturnerSession } from '../../../extend/sdk/index.ts';
import type { Job } from '../../../protocol/job/job.ts';
import { type OpenReturner, openReturner } from './open.ts';
import { jobOptions } from './options.ts';

/** The request of a job. */
export interface ReturnerChoice {
  readonly names: readonly string[];
  readonly config?: string;
  readonly kwargs?: PlainDict;
}

/** The outcome of it. */
export interface ReturnerProblem {
  readonly returner: string;
  readonly error: string;
}

interface Open {
  readonly name: string;
  readonly config: string | undefined;
  readonly kwargs: PlainDict | undefined;
  readonly session: Promise<ReturnerSession>;
  busy: number;
  /** Has worked before: its failure may be a stale connection. */
  used: boolean;
  timer: NodeJS.Timeout | undefined;
  over: boolean;
}

export interface SessionOptions {
  readonly idleMs?: number;
  /** A save that takes longer has failed. */
  readonly saveMs?: number;
}

export class ReturnerSessions {
  readonly #loader: () => Loader;
  readonly #request: () => OpenReturner;
  readonly #idleMs: number;
  readonly #saveMs: number;
  readonly #open: Open[] = [];

  constructor(loader: () => Loader, request: () => OpenReturner, options: SessionOptions = {}) {
    this.#loader = loader;
    this.#request = request;
    this.#idleMs = options.idleMs ?? 15_000;
    this.#saveMs = options.saveMs ?? 60_000;
  }

  /** Passes a result to every returner of a choice, in parallel; never rejects. */
  async save(choice: ReturnerChoice, load: PlainDict): Promise<ReturnerProblem[]> {
    const outcomes = await Promise.all(choice.names.map((name) => this.#saveOne(name, choice, load)));
    return outcomes.filter((item) => item !== undefined);
  }

  /**
   * Closes idle sessions now and busy ones when they finish: sessions belong to the options with which they were
   * opened.
   */
  async close(): Promise<void> {
    const idle = this.#open.splice(0).filter((item) => item.busy === 0);
    await Promise.all(idle.map((item) => this.#end(item)));
  }

  async #saveOne(name: string, choice: ReturnerChoice, load: PlainDict): Promise<ReturnerProblem | undefined> {
    // An idle connection may be dead: one more attempt with a new one.
    for (let attempt = 1; ; attempt++) {
      const item = this.#take(name, choice);
      const stale = item.used;
      try {
        await this.#inTime(name, async () => (await item.session).save(load));
        item.used = true;
        this.#giveBack(item);
        return undefined;
      } catch (error) {
        this.#drop(item);
        if (!stale || attempt > 1) return { returner: name, error: messageOf(error) };
      }
    }
  }

  #inTime(name: string, work: () => Promise<void>): Promise<void> {
    return withTimeout(work(), this.#saveMs, () => {
      const seconds = this.#saveMs / 1000;
      throw new HaliteError('wire.timeout', `The returner ${name} did not finish within ${seconds} seconds`);
    });
  }

  #take(name: string, { config, kwargs }: ReturnerChoice): Open {
    const found = this.#open.find(
      (item) => item.name === name && item.config === config && isDeepStrictEqual(item.kwargs, kwargs),
    );
    if (found) {
      clearTimeout(found.timer);
      found.busy++;
      return found;
    }
    const request = { ...this.#request(), ...(config ? { config } : {}), ...(kwargs ? { kwargs } : {}) };
    const session = openReturner(this.#loader(), name, request);
    session.catch(() => undefined);
    const item: Open = { name, config, kwargs, session, busy: 1, used: false, timer: undefined, over: false };
    this.#open.push(item);
    return item;
  }

  #giveBack(item: Open): void {
    if (--item.busy > 0) return;
    if (this.#open.includes(item)) item.timer = setTimeout(() => this.#drop(item), this.#idleMs).unref();
    else void this.#end(item);
  }

  #drop(item: Open): void {
    const at = this.#open.indexOf(item);
    if (at >= 0) this.#open.splice(at, 1);
    void this.#end(item);
  }

  async #end(item: Open): Promise<void> {
    if (item.over) return;
    item.over = true;
    clearTimeout(item.timer);
    const session = await item.session.catch(() => undefined);
    await session?.close?.().catch(() => undefined);
  }
}

/** The returners requested by a job and the option `return`; undefined when there are none. */
export function returnerChoice(job: Pick<Job, 'ret' | 'options'>, always: unknown): ReturnerChoice | undefined {
  const names = returnerNames(job.ret, always);
  if (names.length === 0) return undefined;
  return { names, ...jobOptions(job.options?.ret_config, job.options?.ret_kwargs) };
}

/** The names in `--return a,b`, the job's field `ret` and the option `return`, each once. */
export function returnerNames(...given: readonly unknown[]): string[] {
  const names = given.flat();
  const words = names.flatMap((value) => (typeof value === 'string' ? value.split(',') : []));
  return [...new Set(words.map((word) => word.trim()).filter((word) => word !== ''))];
}
