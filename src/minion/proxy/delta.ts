// deltaproxy: many proxies in one process. Each is a minion of its own, with its pillar, grains, schedule and results; they share
// the key pair, the job processes, the connections for publishes and the processes that hold devices.
import { setTimeout as sleep } from 'node:timers/promises';
import { asList, fieldOf, type PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { ConcurrencyLimit } from '../../base/util/concurrency-limit.ts';
import { minionIdProblem, shownId } from '../../base/util/index.ts';
import type { JobPool } from '../../engine/exec/index.ts';
import type { ProxyHost } from '../../engine/proxy/index.ts';
import type { Transport } from '../../protocol/wire/transport.ts';
import { MinionDaemon } from '../daemon.ts';
import type { Identity } from '../link/identity.ts';

export interface DeltaParts {
  /** Of the minion that holds the others. */
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly identity: Identity;
  readonly transport: Transport;
  readonly pool: JobPool;
  readonly baseGrains: () => PlainDict;
  newHost(): ProxyHost;
  load(id: string): MinionOpts;
}

/** So many start at the same time: each signs in and waits for its pillar. */
const startsAtOnce = 10;
/** The next one starts when this one is slow: its key may wait to be accepted. */
const patienceMs = 30_000;
/** A driver that blocks its process holds up as many devices. */
const devicesPerProcess = 256;

export class DeltaProxies {
  readonly #parts: DeltaParts;
  readonly #daemons = new Map<string, MinionDaemon>();
  readonly #hosts: ProxyHost[] = [];
  readonly #control = new AbortController();

  constructor(parts: DeltaParts) {
    this.#parts = parts;
  }

  /** Starts those of `ids`; each on its own, so that one that fails does not hold up the others. */
  async start(): Promise<void> {
    const { opts, log } = this.#parts;
    const listed = (asList(fieldOf(opts.raw['proxy'], 'ids')) ?? []).map(String);
    const ids = [...new Set(listed)].filter((id) => {
      const problem = id === opts.id ? 'is that of the proxy that holds the others' : minionIdProblem(id);
      if (problem !== undefined) log.error('an id of the deltaproxy is not used', { id: shownId(id), problem });
      return problem === undefined;
    });
    const limit = new ConcurrencyLimit(startsAtOnce, patienceMs);
    await Promise.all(ids.map((id) => limit.run(() => this.#startOne(id))));
    log.info('the deltaproxy has started its proxies', { proxies: this.#daemons.size, listed: ids.length });
  }

  async stop(): Promise<void> {
    this.#control.abort();
    await Promise.all([...this.#daemons.values()].map((daemon) => daemon.stop()));
    for (const host of this.#hosts) host.stop();
  }

  async #startOne(id: string): Promise<void> {
    const { log, identity, transport, pool, baseGrains } = this.#parts;
    const { signal } = this.#control;
    if (signal.aborted) return;
    try {
      let settled: () => void = () => undefined;
      const ready = new Promise<void>((resolve) => {
        settled = resolve;
      });
      const daemon = new MinionDaemon({
        ...{ opts: this.#optionsOf(id), log: log.with({ proxy: id }), transport },
        identity: { ...identity, id },
        proxy: {
          host: this.#hostForOne(),
          pool: pool.share(id),
          extensionsAreThere: true,
          baseGrains: baseGrains(),
          onSettled: settled,
        },
      });
      this.#daemons.set(id, daemon);
      await daemon.start((error) => {
        log.warn('a proxy of the deltaproxy is skipped', { proxy: id, error: error.message });
        this.#daemons.delete(id);
        void daemon.stop();
        settled();
      });
      const late = new AbortController();
      const both = AbortSignal.any([signal, late.signal]);
      await Promise.race([ready, sleep(patienceMs, undefined, { signal: both, ref: false }).catch(() => undefined)]);
      late.abort();
    } catch (error) {
      log.error('a proxy of the deltaproxy could not be started', { proxy: id, error: messageOf(error) });
    }
  }

  /** Its own files and folders, but the extensions of all. What its device is, its pillar says. */
  #optionsOf(id: string): MinionOpts {
    const { opts, load } = this.#parts;
    const found = load(id);
    delete found.raw['proxy'];
    Object.assign(found.raw, { metaproxy: 'proxy', subproxy: true, extension_modules: opts.extension_modules });
    return found;
  }

  #hostForOne(): ProxyHost {
    const found = this.#hosts.find((host) => host.size < devicesPerProcess);
    if (found) return found;
    const made = this.#parts.newHost();
    this.#hosts.push(made);
    return made;
  }
}
