// The device of one proxy minion, as its daemon sees it: opened, opened again when it was lost, and asked in between.
import { setTimeout as sleep } from 'node:timers/promises';
import { asList, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { backoff } from '../../base/util/index.ts';
import type { WorkerData } from '../../engine/exec/index.ts';
import type { ProxyHost } from '../../engine/proxy/index.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import { proxyTypeOf } from '../../extend/sdk/proxies.ts';

export interface DeviceParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly host: ProxyHost;
  readonly data: () => WorkerData;
  readonly services: () => MinionServices;
  /** There is a new session, except for the first one within `patienceMs`. */
  readonly opened: () => void;
}

/** The minion does not wait longer than this for its device: it can say why there is none. */
const patienceMs = 30_000;

export class ProxyDevice {
  readonly #parts: DeviceParts;
  #opening: Promise<void> | undefined;
  #down = 'it was not opened yet';
  #isOpen = false;

  constructor(parts: DeviceParts) {
    this.#parts = parts;
    const { opts, host, data, services } = parts;
    host.add({ id: opts.id, data, services, lost: (why) => this.#lost(why) });
  }

  /** Connects; resolves when that succeeded, or after a while when it takes longer or fails. */
  async start(): Promise<void> {
    const { signal, opened } = this.#parts;
    const waiting = new AbortController();
    const late = sleep(patienceMs, false, { signal: AbortSignal.any([signal, waiting.signal]), ref: false }).catch(
      () => false,
    );
    const first = this.#open().then(
      () => true,
      () => false,
    );
    const connected = await Promise.race([first, late]);
    waiting.abort();
    if (connected) return;
    void this.#openAgain(opened);
  }

  stop(): void {
    this.#parts.host.remove(this.#parts.opts.id);
  }

  /** Grains or pillar changed. */
  changed(): void {
    this.#parts.host.changed(this.#parts.opts.id);
  }

  async request(request: PlainDict): Promise<Value> {
    const { host, opts } = this.#parts;
    if (this.#isOpen) return host.ask(opts.id, request);
    // It is tried all the time.
    if (request['func'] === 'reconnect') return false;
    throw new HaliteError('daemon.unreachable', `The device of ${opts.id} is not connected: ${this.#down}`);
  }

  async #open(): Promise<void> {
    const { host, opts, log } = this.#parts;
    try {
      const functions = asList(await host.ask(opts.id, newDict([['func', 'open']])));
      this.#isOpen = true;
      if (functions?.includes('module_executors')) await this.#takeExecutors();
      log.info('the device is connected', { proxytype: proxyTypeOf(opts.raw) ?? '' });
    } catch (error) {
      this.#down = messageOf(error);
      log.limited('device', 'error', 'the device cannot be connected', { error: this.#down });
      throw error;
    }
  }

  /** Executors that the type wants for every job of this minion. */
  async #takeExecutors(): Promise<void> {
    const { host, opts } = this.#parts;
    const request = newDict(Object.entries({ func: 'call', fun: 'module_executors', args: [], kwargs: newDict() }));
    const executors = await host.ask(opts.id, request);
    if (Array.isArray(executors) && executors.length > 0) opts.raw['module_executors'] = executors;
  }

  #openAgain(opened: () => void): Promise<void> {
    this.#opening ??= this.#keepTrying(opened).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #keepTrying(opened: () => void): Promise<void> {
    const { signal } = this.#parts;
    const wait = backoff({ base: 1000, max: 60_000 });
    while (!signal.aborted) {
      await sleep(wait.next(), undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const done = await this.#open().then(
        () => true,
        () => false,
      );
      if (done) {
        opened();
        return;
      }
    }
  }

  #lost(why: string): void {
    if (this.#parts.signal.aborted) return;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#down = why;
    if (!wasOpen) return;
    this.#parts.log.error('the connection to the device is lost and made again', { why });
    void this.#openAgain(this.#parts.opened);
  }
}
