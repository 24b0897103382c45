// `master_type: str`: a link to every master at the same time, each independent of the others.
import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MasterAddress } from '../../../base/config/index.ts';
import { parseHostPort } from '../../../base/config/master-address.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { withTimeout } from '../../../base/util/with-timeout.ts';
import type { MasterLink } from '../master-link.ts';
import { type Choice, type ChoiceParts, currentMasters } from './choice.ts';
import { nameOf } from './order.ts';
import { isSameMaster, shareAddress } from './same-master.ts';

/** Whether two names still mean one machine: the names may have been separated meanwhile. */
const lookAgainMs = 60_000;
/** Links of `master_discover`, beside the listed ones. */
const mostDiscovered = 10;
/** For a sign-in with retries, the subscription and the pillar. */
const trialMs = 60_000;

export class HotMasters implements Choice {
  readonly links: MasterLink[] = [];
  readonly listed = new Set<string>();
  readonly #parts: ChoiceParts;
  /** Names of unused entries, by the link that is used for them. */
  readonly #aliases = new Map<string, MasterLink>();
  #discovered = 0;
  #fatal: (error: Error) => void = () => undefined;

  constructor(parts: ChoiceParts) {
    this.#parts = parts;
  }

  async start(fatal: (error: Error) => void): Promise<void> {
    this.#fatal = fatal;
    for (const address of await currentMasters(this.#parts)) this.#add(address);
  }

  stop(): void {
    for (const link of this.links) link.stop();
  }

  names(link: MasterLink): readonly string[] {
    return [...this.#aliases].filter(([, used]) => used === link).map(([name]) => name);
  }

  /** Uses one more master; rejects, and uses it no longer, when it does not accept this minion as the others do. */
  async tryOut(address: MasterAddress): Promise<MasterLink> {
    const known = this.links.find((link) => link.name === nameOf(address) && link.state !== 'stopped');
    if (known?.ready) return known;
    if (known)
      throw new HaliteError('daemon.unreachable', `${known.name} is in the configuration, but does not answer`);
    const link = this.#parts.newLink(address, { tries: 2 });
    this.links.push(link);
    try {
      await withTimeout(link.start(), trialMs, () => {
        throw new HaliteError('daemon.unreachable', `${link.name} does not answer`);
      });
      if (!link.ready || !(await link.loadPillar()))
        throw new HaliteError('call.failed', `${link.name} gives no pillar`);
      this.listed.add(link.name);
      return link;
    } catch (error) {
      this.drop(link);
      throw error;
    }
  }

  /** Uses a master no longer. What it still waits for is for those that remain. */
  drop(link: MasterLink): void {
    link.stop();
    this.listed.delete(link.name);
    const at = this.links.indexOf(link);
    if (at !== -1 && this.links.length > 1) this.links.splice(at, 1);
  }

  #add(address: MasterAddress): void {
    this.listed.add(nameOf(address));
    const link = this.#parts.newLink(address);
    this.links.push(link);
    void this.#run(link);
  }

  /** A link that ends permanently ends the daemon only when it was the last one. */
  async #run(link: MasterLink): Promise<void> {
    const { log, signal } = this.#parts;
    try {
      await this.#waitForName(link.address.host);
      await link.start();
      this.#discover(link);
      await this.#dropDuplicate(link);
    } catch (error) {
      if (signal.aborted || link.state === 'stopped') return;
      log.error('a master is no longer used', { master: link.name, error: messageOf(error) });
      link.stop();
      if (this.links.every((other) => other.state === 'stopped'))
        this.#fatal(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  /** `retry_dns_count`: a name that is not known after so many attempts is given up. */
  async #waitForName(host: string): Promise<void> {
    const { opts, signal } = this.#parts;
    const { retry_dns: seconds, retry_dns_count: tries } = opts;
    for (let attempt = 1; tries !== null && tries > 0; attempt++) {
      const problem = await lookup(host).then(
        () => undefined,
        (error: unknown) => messageOf(error),
      );
      if (problem === undefined) return;
      if (attempt >= tries)
        throw new HaliteError('config.value', `The master ${host} cannot be resolved: ${problem}`, {
          hint: 'Correct master, or the name in DNS or /etc/hosts; without retry_dns_count there is no limit.',
        });
      await sleep(seconds * 1000, undefined, { signal });
    }
  }

  /** The first one in the configuration stays. */
  async #dropDuplicate(link: MasterLink): Promise<void> {
    for (const other of this.links) {
      if (other === link || !(await isSameMaster(link, other))) continue;
      const [used, unused] = this.links.indexOf(other) < this.links.indexOf(link) ? [other, link] : [link, other];
      // From here on nothing is awaited, so the two checks of a pair cannot both act.
      if (used.state === 'stopped' || unused.state === 'stopped') continue;
      this.#parts.log.warn('two entries of "master" are the same machine: the second is not used', {
        used: used.name,
        unused: unused.name,
      });
      unused.stop();
      this.#aliases.set(unused.name, used);
      void this.#watchDuplicate(unused, used);
    }
  }

  /** Names are resolved anew from time to time: the second one may lead to a master of its own later. */
  async #watchDuplicate(unused: MasterLink, used: MasterLink): Promise<void> {
    const { signal, log } = this.#parts;
    if (!(await shareAddress(unused, used))) return;
    while (!signal.aborted) {
      await sleep(lookAgainMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      if (used.state !== 'stopped' && (await shareAddress(unused, used))) continue;
      log.info('an entry of "master" is used again', { master: unused.name });
      this.#aliases.delete(unused.name);
      const link = this.#parts.newLink(unused.address);
      this.links.splice(this.links.indexOf(unused), 1, link);
      void this.#run(link);
      return;
    }
  }

  /** `master_discover`: members of the cluster that the configuration does not name. They must have the trusted key. */
  #discover(link: MasterLink): void {
    const { opts, log } = this.#parts;
    const cluster = link.credentials?.cluster;
    if (!opts.master_discover || !cluster) return;
    for (const member of cluster.members) {
      const { host, port } = parseHostPort(member);
      const address = { host, port: port ?? opts.master_port };
      if (this.listed.has(nameOf(address)) || this.#discovered >= mostDiscovered) continue;
      this.#discovered++;
      log.info('a member of the cluster that is not listed is used too', {
        ...{ master: nameOf(address), cluster: cluster.name, from: link.name },
      });
      this.#add(address);
    }
  }
}
