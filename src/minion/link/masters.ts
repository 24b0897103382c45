// The masters of this minion: a link to each, started in the background; the same machine with two names is used once.
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { type MasterAddress, type MinionOpts, masterAddresses } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { MasterlessLink } from '../masterless.ts';
import type { JobLink, MasterLink } from './master-link.ts';
import { MasterTrust } from './trust.ts';

/** What all links of one run of the daemon share. */
export interface LinkStart {
  readonly trust: MasterTrust;
  readonly boot: string;
}

export interface MastersParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Aborted when the daemon stops. */
  readonly signal: AbortSignal;
  newLink(address: MasterAddress, start: LinkStart): MasterLink;
}

export class Masters {
  readonly links: MasterLink[] = [];
  readonly #parts: MastersParts;
  #masterless: MasterlessLink | undefined;

  constructor(parts: MastersParts) {
    this.#parts = parts;
  }

  /** Connects to all of them. `fatal` is called when no master will ever accept this minion. */
  async start(fatal: (error: Error) => void): Promise<void> {
    const { opts, log } = this.#parts;
    const start = { trust: await MasterTrust.load(opts), boot: randomBytes(8).toString('hex') };
    for (const address of masterAddresses(opts)) {
      if (this.links.some((link) => link.address.host === address.host && link.address.port === address.port)) {
        log.warn('a master is listed twice and used once', { master: `${address.host}:${address.port}` });
        continue;
      }
      const link = this.#parts.newLink(address, start);
      this.links.push(link);
      void this.#run(link, fatal);
    }
  }

  /** There is none (`master_type: disable`). */
  startMasterless(link: MasterlessLink): void {
    this.#masterless = link;
  }

  stop(): void {
    for (const link of this.links) link.stop();
  }

  get masterless(): MasterlessLink | undefined {
    return this.#masterless;
  }

  ready(): MasterLink[] {
    return this.links.filter((link) => link.state !== 'stopped' && link.ready);
  }

  /** Those that are reachable; the first one when there is none. */
  best(): JobLink[] {
    if (this.#masterless) return [this.#masterless];
    const ready = this.ready();
    return ready.length > 0 ? ready : this.links.filter((link) => link.state !== 'stopped').slice(0, 1);
  }

  /** A link that ends permanently ends the daemon only when it was the last one. */
  async #run(link: MasterLink, fatal: (error: Error) => void): Promise<void> {
    try {
      await link.start();
      await this.#dropDuplicate(link);
    } catch (error) {
      if (this.#parts.signal.aborted || link.state === 'stopped') return;
      this.#parts.log.error('a master is no longer used', { master: link.name, error: messageOf(error) });
      link.stop();
      if (this.links.every((other) => other.state === 'stopped'))
        fatal(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  /** The same master with two names would get everything twice: the first one in the configuration stays. */
  async #dropDuplicate(link: MasterLink): Promise<void> {
    const addresses = await addressesOf(link.address.host);
    for (const other of this.links) {
      if (other === link || other.address.port !== link.address.port) continue;
      const duplicate = (await addressesOf(other.address.host)).some((address) => addresses.includes(address));
      const sameKey = other.credentials && other.credentials.masterKeyText === link.credentials?.masterKeyText;
      const [used, unused] = this.links.indexOf(other) < this.links.indexOf(link) ? [other, link] : [link, other];
      // From here on nothing is awaited, so the two checks of a pair cannot both act.
      if (!duplicate || !sameKey || used.state === 'stopped' || unused.state === 'stopped') continue;
      this.#parts.log.warn('two entries of "master" are the same machine: the second is not used', {
        used: used.name,
        unused: unused.name,
      });
      unused.stop();
    }
  }
}

async function addressesOf(host: string): Promise<string[]> {
  return lookup(host, { all: true }).then(
    (found) => found.map((item) => item.address),
    () => [],
  );
}
