// The masters of this minion: which links are in use, and which of them may stand in for another.
import { randomBytes } from 'node:crypto';
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import { newDict } from '../../../base/codec/value.ts';
import type { MasterAddress, MinionOpts } from '../../../base/config/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { type Places, type ReturnTarget, sameCluster, type Visit } from '../../jobs/asked-master.ts';
import type { MasterlessLink } from '../../masterless.ts';
import type { JobLink, MasterLink } from '../master-link.ts';
import type { MasterSession } from '../session.ts';
import { MasterTrust } from '../trust.ts';
import type { Choice, LinkStart } from './choice.ts';
import { Failover } from './failover.ts';
import { Handover } from './handover.ts';
import { HotMasters } from './hot.ts';
import { checkMasterType, listedTwice, usesAllMasters } from './order.ts';

export interface MastersParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Aborted when the daemon stops. */
  readonly signal: AbortSignal;
  newLink(address: MasterAddress, start: LinkStart): MasterLink;
  ping(address: MasterAddress): Promise<boolean>;
  evaluate(fun: string): Promise<Value>;
  /** A short connection to a master that is not in use. */
  open(address: MasterAddress, trust: MasterTrust): Promise<MasterSession>;
}

export class Masters implements Places {
  readonly #parts: MastersParts;
  #choice: Choice | undefined;
  #masterless: MasterlessLink | undefined;
  #trust: MasterTrust | undefined;
  #handover: Handover | undefined;

  constructor(parts: MastersParts) {
    this.#parts = parts;
  }

  /** Links to masters, in the order of the configuration. */
  get links(): readonly MasterLink[] {
    return this.#choice?.links ?? [];
  }

  /** Connects in the background. `fatal` is called when no master will ever accept this minion. */
  async start(fatal: (error: Error) => void): Promise<void> {
    const { opts, log, signal, ping, evaluate } = this.#parts;
    checkMasterType(opts);
    for (const master of opts.master_type === 'func' ? [] : listedTwice(opts, opts.master))
      log.warn('a master is listed twice and used once', { master });
    this.#trust = await MasterTrust.load(opts);
    const shared = { trust: this.#trust, boot: randomBytes(8).toString('hex') };
    const parts = {
      ...{ opts, log, signal, ping, evaluate },
      newLink: (address: MasterAddress, use?: Pick<LinkStart, 'tries' | 'heartbeatMs'>) =>
        this.#parts.newLink(address, { ...shared, ...use }),
    };
    this.#choice = usesAllMasters(opts) ? new HotMasters(parts) : new Failover(parts);
    await this.#choice.start(fatal);
    if (this.#choice instanceof HotMasters) {
      this.#handover = new Handover({ opts, log, signal, hot: this.#choice });
      this.#handover.resume();
    }
  }

  /** There is none (`master_type: disable`). */
  startMasterless(link: MasterlessLink): void {
    this.#masterless = link;
  }

  stop(): void {
    this.#choice?.stop();
  }

  get masterless(): MasterlessLink | undefined {
    return this.#masterless;
  }

  /** One at a time: what was meant for one of them is meant for the next as well. */
  get oneAtATime(): boolean {
    return !usesAllMasters(this.#parts.opts);
  }

  /** Those that are to be stopped come last. */
  ready(): MasterLink[] {
    const ready = this.links.filter((link) => link.state !== 'stopped' && link.ready);
    return ready.sort((one, other) => Number(one.words.drained) - Number(other.words.drained));
  }

  /** Those that are reachable; the first one when there is none. */
  best(): JobLink[] {
    if (this.#masterless) return [this.#masterless];
    const ready = this.ready();
    if (ready.length > 0) return ready;
    const alive = this.links.filter((link) => link.state !== 'stopped');
    return (alive.length > 0 ? alive : this.links).slice(0, 1);
  }

  serves(target: ReturnTarget, name: string): boolean {
    if (target.name === name) return true;
    const link = this.links.find((other) => other === target);
    return link !== undefined && (this.#choice?.names(link) ?? []).includes(name);
  }

  listed(name: string): boolean {
    return this.#choice?.listed.has(name) ?? false;
  }

  async visit(name: string): Promise<Visit | undefined> {
    if (!this.#trust || !this.listed(name)) return undefined;
    const at = name.lastIndexOf(':');
    const address = { host: name.slice(0, at), port: Number(name.slice(at + 1)) };
    // Cheap, and nothing is logged for a master that is simply not there.
    if (!(await this.#parts.ping(address))) return undefined;
    const { channel, credentials, close } = await this.#parts.open(address, this.#trust);
    return { name, ready: true, credentials, request: (load, options) => channel.request(load, options), close };
  }

  /** Moves this minion to another master, step by step. */
  async handover(request: PlainDict): Promise<PlainDict> {
    if (!this.#handover) throw new HaliteError('call.failed', 'Only a minion with master_type: str can be handed over');
    return this.#handover.request(request);
  }

  /** Asks the masters what they say about their keys; which ones this minion has. */
  async masterKey(): Promise<PlainDict> {
    await Promise.all(this.ready().map((link) => link.words.hearNow()));
    return newDict(Object.entries(this.#trust?.known ?? {}));
  }

  /** Who answers requests of a job now: the master that asked, or one that answers the same. */
  inPlaceOf(link: JobLink): JobLink {
    if (link.ready || link === this.#masterless) return link;
    const ready = this.ready();
    const other = this.oneAtATime ? ready[0] : ready.find((candidate) => sameCluster(candidate, link));
    return other ?? link;
  }

  /** For operators: which masters there are, and how it stands with each. */
  status(): PlainDict[] {
    return this.links.map((link) => {
      const { cluster, halite } = link.credentials ?? {};
      return newDict(
        Object.entries({
          ...{ master: link.name, state: link.state, ready: link.ready, halite: halite ?? false },
          ...{ cluster: cluster?.name ?? null, member: cluster?.member ?? null },
          also_listed_as: [...(this.#choice?.names(link) ?? [])],
        }),
      );
    });
  }
}
