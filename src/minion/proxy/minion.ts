// What makes a minion a proxy: between its first pillar and its first job it learns what it stands for, and connects.
import { setTimeout as sleep } from 'node:timers/promises';
import { dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { backoff } from '../../base/util/index.ts';
import type { JobPool, WorkerData } from '../../engine/exec/index.ts';
import type { ProxyHost } from '../../engine/proxy/index.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import type { JobLink } from '../link/master-link.ts';
import { callInProcess } from '../services/job-environment.ts';
import { ProxyDevice } from './device.ts';
import { settleProxy } from './settings.ts';

/** What a daemon needs for it; with deltaproxy many minions share these. */
export interface ProxyParts {
  readonly host: ProxyHost;
  readonly pool?: JobPool;
  /** Another minion of this process fetches the extensions for all. */
  readonly extensionsAreThere?: boolean;
  /** What another minion of this process found out about the machine. */
  readonly baseGrains?: PlainDict;
  /** Its options are final. */
  readonly onSettled?: () => void;
}

export interface ProxyMinionParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly proxy: ProxyParts;
  readonly pool: JobPool;
  readonly data: (link?: JobLink) => WorkerData;
  readonly services: (link?: JobLink) => MinionServices;
  refreshGrains(): Promise<void>;
  settled(): void;
  reload(): Promise<void>;
}

export class ProxyMinion {
  readonly #parts: ProxyMinionParts;
  readonly #device: ProxyDevice;
  #prepared: Promise<void> | undefined;
  #connected = false;

  constructor(parts: ProxyMinionParts) {
    this.#parts = parts;
    const { opts, log, signal, proxy } = parts;
    this.#device = new ProxyDevice({
      ...{ opts, log, signal, host: proxy.host },
      data: () => parts.data(),
      services: () => parts.services(),
      opened: () =>
        void parts.refreshGrains().catch((error: unknown) => {
          log.error('the grains of the device could not be collected', { error: messageOf(error) });
        }),
    });
  }

  /** For grains: nothing before there is a connection, so that a minion without one has grains all the same. */
  get device(): ((request: PlainDict) => Promise<Value>) | undefined {
    return this.#connected ? (request) => this.#device.request(request) : undefined;
  }

  request(request: PlainDict): Promise<Value> {
    return this.#device.request(request);
  }

  changed(): void {
    this.#device.changed();
  }

  stop(): void {
    this.#device.stop();
  }

  /** Once, with the first master that has a pillar. */
  prepare(link: JobLink): Promise<void> {
    this.#prepared ??= this.#prepare(link).catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #prepare(link: JobLink): Promise<void> {
    const { opts, log, proxy } = this.#parts;
    await this.#waitForPillar(link);
    settleProxy(opts, link.pillar, log);
    this.#parts.settled();
    if (proxy.extensionsAreThere !== true) await this.#fetchExtensions(link);
    this.#connected = true;
    await this.#device.start();
    // The master learns them with the pillar request.
    await this.#parts.refreshGrains();
    if (!link.ready) await link.loadPillar();
    proxy.onSettled?.();
  }

  /** A pillar that cannot be compiled now does not say that there is no device. */
  async #waitForPillar(link: JobLink): Promise<void> {
    const { opts, log, signal } = this.#parts;
    const wait = backoff({ base: 2000, max: 60_000 });
    const usable = (): boolean => dictGet(link.pillar, 'proxy') !== undefined || opts.raw['proxy'] !== undefined;
    const broken = (): boolean =>
      Object.keys(link.pillar).length === 0 || dictGet(link.pillar, '_errors') !== undefined;
    for (let attempt = 0; !usable() && (attempt === 0 || broken()); attempt++) {
      if (attempt > 0) {
        log.limited('proxy pillar', 'error', 'there is no usable pillar for this proxy yet', { id: opts.id });
        await sleep(wait.next(), undefined, { signal });
      } else if (!broken()) return;
      if (!(await link.loadPillar())) continue;
      // An empty pillar that came without an error is an answer.
      if (dictGet(link.pillar, '_errors') === undefined) return;
    }
  }

  /** The proxy type itself may be one of the users' extensions. */
  async #fetchExtensions(link: JobLink): Promise<void> {
    const { pool, data, services, log } = this.#parts;
    try {
      const scene = { data: data(link), services: services(link) };
      await callInProcess(pool, scene, 'saltutil.sync_all', newDict([['refresh', false]]));
      await this.#parts.reload();
    } catch (error) {
      log.error('the extensions could not be fetched', { error: messageOf(error) });
    }
  }
}
