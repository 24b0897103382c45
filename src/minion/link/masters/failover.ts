// `failover`, `distributed` and `func`: one master at a time; the next one when it is lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { MasterAddress } from '../../../base/config/index.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { MasterLink } from '../master-link.ts';
import { type Choice, type ChoiceParts, currentMasters } from './choice.ts';
import { lostLast, nameOf } from './order.ts';

/** Salt has no default and then never fails over. */
const aliveMs = 15_000;
/** A master that is restarted is back sooner: its minions stay. */
const graceMs = 3000;
/** Between two rounds through the list. */
const shortestPauseMs = 1000;
const longestPauseMs = 10_000;

export class Failover implements Choice {
  readonly #parts: ChoiceParts;
  readonly #aliveMs: number;
  #listed: ReadonlySet<string> = new Set();
  #current: MasterLink | undefined;
  /** The one that is tried while the current one still works. */
  #trial: MasterLink | undefined;

  constructor(parts: ChoiceParts) {
    this.#parts = parts;
    this.#aliveMs = parts.opts.master_alive_interval > 0 ? parts.opts.master_alive_interval * 1000 : aliveMs;
  }

  get links(): readonly MasterLink[] {
    return [this.#current, this.#trial].filter((link) => link !== undefined);
  }

  get listed(): ReadonlySet<string> {
    return this.#listed;
  }

  names(): readonly string[] {
    return [];
  }

  async start(fatal: (error: Error) => void): Promise<void> {
    void this.#run().catch((error: unknown) => {
      if (!this.#parts.signal.aborted) fatal(error instanceof Error ? error : new Error(messageOf(error)));
    });
  }

  stop(): void {
    for (const link of this.links) link.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#parts;
    let lost: string | undefined;
    while (!signal.aborted) {
      const link = await this.#first(lost);
      if (!link) return;
      lost = await this.#stay(link);
    }
  }

  /** The first master that accepts this minion; tries until there is one. */
  async #first(lost: string | undefined): Promise<MasterLink | undefined> {
    const { opts, log, signal } = this.#parts;
    let acceptanceMs = opts.acceptance_wait_time * 1000;
    for (let round = 1; !signal.aborted; round++) {
      const refusals: unknown[] = [];
      for (const address of lostLast(await this.#list(), lost)) {
        const link = this.#parts.newLink(address, { tries: 1, heartbeatMs: this.#aliveMs / 3 });
        this.#current = link;
        const problem = await this.#begin(link);
        if (signal.aborted) return undefined;
        if (problem === undefined) return link;
        refusals.push(problem);
        log.warn('this master cannot be used now, the next one is tried', {
          ...{ master: nameOf(address), error: messageOf(problem) },
        });
      }
      if (refusals.length > 0 && refusals.every(isFinal)) throw refusals[0];
      const rounds = Math.max(1, opts.master_tries);
      if (opts.master_tries < 0 || round % rounds !== 0) {
        await this.#pause(Math.min(longestPauseMs, shortestPauseMs * round));
        continue;
      }
      log.error('No master could be reached, or all refuse this minion. It keeps trying.', {
        masters: [...this.#listed].join(', '),
        why: refusals.map(messageOf).join('; '),
      });
      await this.#pause(Math.min(longestPauseMs, acceptanceMs));
      const most = opts.acceptance_wait_time_max * 1000;
      if (most > 0) acceptanceMs = Math.min(acceptanceMs * 2, most);
    }
    return undefined;
  }

  /** A function that names the masters is asked anew each time. */
  async #list(): Promise<MasterAddress[]> {
    const { opts, log } = this.#parts;
    try {
      const list = await currentMasters(this.#parts);
      this.#listed = new Set(list.map(nameOf));
      return list;
    } catch (error) {
      if (opts.master_type !== 'func') throw error;
      log.error('The function that names the master failed. It is asked again.', {
        ...{ function: String(opts.master), error: messageOf(error) },
      });
      return [];
    }
  }

  /** Undefined when the link is ready. */
  async #begin(link: MasterLink): Promise<unknown> {
    const { signal } = this.#parts;
    const watch = new AbortController();
    const started = link.start().then(
      () => undefined,
      (error: unknown) => error ?? new Error('not connected'),
    );
    const dead = this.#death(link, AbortSignal.any([signal, watch.signal])).then(
      (why) => new HaliteError('wire.closed', why),
    );
    try {
      const problem = await Promise.race([started, dead]);
      if (problem !== undefined) link.stop();
      return problem;
    } finally {
      watch.abort();
    }
  }

  /** Until it is lost; the name of the lost one. Another one takes its place when that is better. */
  async #stay(first: MasterLink): Promise<string | undefined> {
    const { log, signal } = this.#parts;
    let link = first;
    for (;;) {
      const leave = new AbortController();
      const both = AbortSignal.any([signal, leave.signal]);
      const end = await Promise.race([
        this.#death(link, both).then((why) => ({ why })),
        this.#failback(link, both).then((next) => ({ next, what: 'back at the first master' })),
        this.#departure(link, both).then((next) => ({
          next,
          what: 'another master is used: that one is to be stopped',
        })),
      ]);
      leave.abort();
      if (signal.aborted) return undefined;
      if ('why' in end) {
        log.warn('the master is lost, the next one is tried', { master: link.name, why: end.why });
        link.stop();
        // Another one may be being tried: it has no use for two at the same time.
        this.#trial?.stop();
        this.#trial = undefined;
        return link.name;
      }
      const { next, what } = end;
      if (!next) continue;
      log.info(what, { master: next.name, left: link.name });
      this.#current = next;
      this.#trial = undefined;
      link.stop();
      link = next;
    }
  }

  /** Resolves with the reason when the master is lost; never before it has been ready, unless it falls silent. */
  async #death(link: MasterLink, signal: AbortSignal): Promise<string> {
    const every = Math.min(500, this.#aliveMs / 4);
    let away: number | undefined;
    let wasReady = false;
    let last = performance.now();
    while (!signal.aborted) {
      await sleep(every, undefined, { signal, ref: false }).catch(() => undefined);
      const now = performance.now();
      // This process itself was stopped, or the machine slept: the silence is not the master's.
      if (now - last > every + this.#aliveMs / 2) link.heardNow();
      last = now;
      if (link.ready) wasReady = true;
      away = link.ready || !wasReady ? undefined : (away ?? now);
      if (away !== undefined && now - away >= Math.min(graceMs, this.#aliveMs)) return 'the connection is lost';
      if (link.credentials && link.silentMs > this.#aliveMs)
        return `no answer for ${Math.round(link.silentMs / 1000)} seconds`;
    }
    return 'stopped';
  }

  /** Resolves with a link to the first master when it is usable again, and it is wanted. */
  async #failback(link: MasterLink, signal: AbortSignal): Promise<MasterLink | undefined> {
    const { opts } = this.#parts;
    const never = new Promise<undefined>((done) =>
      signal.addEventListener('abort', () => done(undefined), { once: true }),
    );
    if (!opts.master_failback || opts.master_type === 'func') return never;
    const [first] = await currentMasters(this.#parts);
    if (!first || nameOf(first) === link.name) return never;
    const interval = opts.master_failback_interval > 0 ? opts.master_failback_interval * 1000 : this.#aliveMs;
    for (;;) {
      await sleep(interval, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return undefined;
      // Twice: one that is just starting, or keeps falling, is left alone.
      if (!(await this.#parts.ping(first))) continue;
      await sleep(Math.min(1000, interval), undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || !(await this.#parts.ping(first)) || signal.aborted) continue;
      const back = await this.#try(first, signal);
      if (back) return back;
    }
  }

  /** Resolves with a link to another master when this one says that it is to be stopped. */
  async #departure(link: MasterLink, signal: AbortSignal): Promise<MasterLink | undefined> {
    for (;;) {
      await sleep(Math.min(1000, this.#aliveMs / 4), undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return undefined;
      if (!link.words.drained) continue;
      for (const address of await this.#list()) {
        if (nameOf(address) === link.name || signal.aborted || !(await this.#parts.ping(address))) continue;
        const other = await this.#try(address, signal);
        if (other) return other;
      }
      // There is no other one now.
      await sleep(this.#aliveMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Connects while the current one still works. Undefined when it cannot be used, or is to be stopped itself. */
  async #try(address: MasterAddress, signal: AbortSignal): Promise<MasterLink | undefined> {
    if (signal.aborted || this.#trial) return undefined;
    const trial = this.#parts.newLink(address, { tries: 1, heartbeatMs: this.#aliveMs / 3 });
    this.#trial = trial;
    const problem = await this.#begin(trial);
    if (problem === undefined) await trial.words.hearNow();
    if (problem === undefined && !trial.words.drained && !signal.aborted) return trial;
    trial.stop();
    if (this.#trial === trial) this.#trial = undefined;
    if (problem !== undefined)
      this.#parts.log.warn('another master answers, but cannot be used', {
        ...{ master: trial.name, error: messageOf(problem) },
      });
    return undefined;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms * (0.9 + Math.random() * 0.2), undefined, { signal: this.#parts.signal }).catch(() => undefined);
  }
}

/** Proven: the master itself says that it rejected this minion. */
const isFinal = (problem: unknown): boolean => problem instanceof HaliteError && problem.code === 'auth.denied';
