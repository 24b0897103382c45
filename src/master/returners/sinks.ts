// Stores jobs, results and events in other databases too: everything goes through a spool on disk and a separate
// thread.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import {
  type FromReturnerWorker,
  type Purpose,
  purposes,
  type Question,
  type SinkRecord,
  type ToReturnerWorker,
} from './records.ts';
import { ReturnerSpool, type SpoolStatus } from './returner-spool.ts';
import type { ReturnerSettings } from './settings.ts';

interface Waiting {
  resolve(value: Value): void;
  reject(error: unknown): void;
  readonly timer: NodeJS.Timeout;
}

const questionMs = 15_000;
const stopMs = 8_000;
/** More than there are returners: names chosen by minions never displace a needed one. */
const mostSpools = 128;
const returnerName = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

export interface SinkParts {
  readonly settings: ReturnerSettings;
  readonly log: Logger;
  readonly bus: EventBus;
  /** The existing returners: minions must not make the master open spools for invented names. */
  names(): Promise<readonly string[]>;
}

export class ReturnerSinks {
  readonly #settings: ReturnerSettings;
  readonly #log: Logger;
  readonly #bus: EventBus;
  readonly #channels = new Map<string, Promise<ReturnerSpool>>();
  readonly #open = new Map<string, ReturnerSpool>();
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #stopped: (() => void) | undefined;
  #seq = 0;
  readonly #names: () => Promise<readonly string[]>;

  constructor({ settings, log, bus, names }: SinkParts) {
    this.#settings = settings;
    this.#log = log;
    this.#bus = bus;
    this.#names = names;
  }

  /** Spools with pending records are continued, independent of the current configuration. */
  async start(): Promise<void> {
    const { folder, jobCache, extJobCache, events } = this.#settings;
    if (jobCache) await this.#tryChannel('jobs', jobCache);
    if (extJobCache) await this.#tryChannel('jobs', extJobCache);
    for (const { returner } of events) await this.#tryChannel('events', returner);
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const [purpose, returner] = [name.slice(0, name.indexOf('-')), name.slice(name.indexOf('-') + 1)];
      if (!purposes.includes(purpose as Purpose) || !returnerName.test(returner) || this.#channels.has(name)) continue;
      await this.#tryChannel(purpose as Purpose, returner);
    }
  }

  /** Resolves when the record is in the spool; never rejects. */
  async add(purpose: Purpose, returner: string, record: SinkRecord): Promise<void> {
    const channel = await this.#tryChannel(purpose, returner);
    await channel?.add(record);
  }

  /** A spool that cannot be opened now is retried with its next record. */
  async #tryChannel(purpose: Purpose, returner: string): Promise<ReturnerSpool | undefined> {
    try {
      return await this.#channel(purpose, returner);
    } catch (error) {
      const fields = { returner, error: messageOf(error) };
      this.#log.limited(`spool:${returner}`, 'error', 'a spool cannot be opened', fields);
      return undefined;
    }
  }

  /** A result that a minion asks the master to pass on. */
  async pass(returner: string, load: PlainDict, options: { config?: string; kwargs?: PlainDict }): Promise<void> {
    if (!this.#channels.has(`via-${returner}`) && !(await this.#names()).includes(returner)) {
      this.#log.limited('via', 'warn', 'a minion asks for a returner that does not exist here', {
        returner: returner.slice(0, 80),
      });
      return;
    }
    await this.add('via', returner, { k: 'ret', load, ...options });
  }

  /** Queries a job cache; rejects when it does not answer in time. */
  ask(returner: string, what: Question, arg: string | number = ''): Promise<Value> {
    const n = this.#seq++;
    return new Promise((resolve, reject) => {
      const late = new HaliteError(
        'wire.timeout',
        `the returner ${returner} did not answer within ${questionMs / 1000} s`,
      );
      const timer = setTimeout(() => this.#settle(n, (waiting) => waiting.reject(late)), questionMs);
      timer.unref();
      this.#waiting.set(n, { resolve, reject, timer });
      this.#send({ t: 'ask', n, returner, what, arg });
    });
  }

  status(): Record<string, SpoolStatus> {
    return Object.fromEntries([...this.#open].map(([name, channel]) => [name, channel.status()]));
  }

  async stop(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map((channel) => channel.close()));
    const worker = this.#worker;
    if (!worker) return;
    const stopped = new Promise<void>((resolve) => {
      this.#stopped = resolve;
    });
    this.#send({ t: 'stop' });
    const hard = setTimeout(() => this.#stopped?.(), stopMs);
    await stopped;
    clearTimeout(hard);
    await worker.terminate();
  }

  #channel(purpose: Purpose, returner: string): Promise<ReturnerSpool> {
    const name = `${purpose}-${returner}`;
    let channel = this.#channels.get(name);
    if (!channel) {
      channel = this.#openChannel(name, purpose, returner);
      channel.catch(() => this.#channels.delete(name));
      this.#channels.set(name, channel);
    }
    return channel;
  }

  async #openChannel(name: string, purpose: Purpose, returner: string): Promise<ReturnerSpool> {
    if (!returnerName.test(returner) || this.#channels.size >= mostSpools) {
      throw new HaliteError('config.value', `no spool for a returner named ${JSON.stringify(returner.slice(0, 80))}`);
    }
    const { folder, maxBytes } = this.#settings;
    const place = join(folder, name);
    const channel = await ReturnerSpool.open(place, purpose, returner, maxBytes, {
      log: this.#log,
      appended: (upTo) => this.#send({ t: 'appended', name, upTo }),
      changed: (status) => this.#changed(name, status),
    });
    this.#open.set(name, channel);
    this.#announce(name, channel);
    if (channel.waiting > 0) this.#log.info('a spool is delivered', { spool: name, records: channel.waiting });
    return channel;
  }

  #changed(name: string, { state, waiting, dropped, error, returner, purpose }: SpoolStatus): void {
    const fields = { spool: name, state, waiting, dropped, ...(error ? { error } : {}) };
    if (state === 'delivering') this.#log.info('the returner accepts records again', fields);
    else this.#log.warn(explain[state], fields);
    const word = state === 'delivering' ? 'back' : state;
    const data = newDict(Object.entries({ returner, purpose, waiting, dropped, ...(error ? { error } : {}) }));
    this.#bus.fire(`halite/spool/${name}/${word}`, data);
  }

  #send(message: ToReturnerWorker): void {
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage(message);
  }

  #startWorker(): Worker {
    const worker = new Worker(bundleFile('returner-worker'), { workerData: { opts: pack(this.#settings.opts) } });
    worker.on('message', (message: FromReturnerWorker) => this.#receive(message));
    worker.on('error', (error) => this.#gone(worker, messageOf(error)));
    // A user's returner may end the thread without any error.
    worker.on('exit', (code) => this.#gone(worker, `it ended with code ${code}`));
    return worker;
  }

  #gone(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error = new HaliteError('store.unavailable', `the thread for returners failed: ${why}`);
    for (const n of [...this.#waiting.keys()]) this.#settle(n, (waiting) => waiting.reject(error));
    if (this.#stopped) {
      this.#stopped();
      return;
    }
    this.#log.limited('sinks', 'error', 'the thread for returners failed; it is started again', { error: why });
    setTimeout(() => this.#reopen(), 1000).unref();
  }

  #reopen(): void {
    for (const [name, channel] of this.#open) this.#announce(name, channel);
  }

  #announce(name: string, { purpose, returner, folder, next: upTo }: ReturnerSpool): void {
    const { gather } = this.#settings;
    const gathered = purpose === 'events' && gather.count > 1 ? { gather } : {};
    this.#send({ t: 'open', name, purpose, returner, folder, upTo, ...gathered });
  }

  #receive(message: FromReturnerWorker): void {
    if (message.t === 'progress') this.#open.get(message.name)?.progress(message.progress);
    else if (message.t === 'log') this.#log[message.level](message.text, message.fields);
    else if (message.t === 'stopped') this.#stopped?.();
    else if (message.body) {
      const value = unpack(message.body);
      this.#settle(message.n, (waiting) => waiting.resolve(value));
    } else {
      const error = new HaliteError('store.unavailable', message.error ?? 'no answer');
      this.#settle(message.n, (waiting) => waiting.reject(error));
    }
  }

  #settle(n: number, end: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(n);
    if (!waiting) return;
    this.#waiting.delete(n);
    clearTimeout(waiting.timer);
    end(waiting);
  }
}

const explain = {
  away: 'the returner accepts nothing now: records wait in the spool',
  full: 'the spool is full: new records are stored only in the own store of the master',
  disk: 'the spool cannot be written: results wait in memory and with their minions',
} as const;
