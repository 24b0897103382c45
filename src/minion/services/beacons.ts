// The minion's beacons: configured in its files and its pillar, changed by functions; their events go to every master.

import {
  asDict,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { fileVersion } from '../../base/config/saved-section.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { pyEquals } from '../../base/util/py-equals.ts';
import {
  answerBeacons,
  Beacons,
  BeaconWorker,
  readSavedBeacons,
  savedBeaconsPath,
  type Validity,
  writeSavedBeacons,
} from '../../engine/beacons/index.ts';
import type { WorkerData } from '../../engine/exec/index.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import type { JobLink } from '../link/master-link.ts';

export interface BeaconParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** The program of job processes. */
  readonly entry: string;
  readonly idleMs: number;
  readonly pillar: () => Dict;
  /** Resolves when grains are available, which beacons need to check whether they fit this system. */
  readonly grains: () => Promise<unknown>;
  readonly data: () => WorkerData;
  readonly services: () => MinionServices;
  /** Currently reachable masters. */
  readonly masters: () => readonly JobLink[];
  readonly told: (tag: string, data: Dict) => void;
}

/** Number of events per request. */
const mostAtOnce = 500;

const valid: Validity = { valid: true, comment: 'Valid beacon configuration' };
export const validity = (problem: Value | undefined): Validity =>
  typeof problem === 'string' ? { valid: false, comment: problem } : valid;

export const configuredBeacons = (opts: MinionOpts): Dict => {
  const found = opts.raw['beacons'];
  return asDict(found) ?? newDict();
};

export class MinionBeacons {
  readonly #parts: BeaconParts;
  readonly #beacons: Beacons;
  readonly #worker: BeaconWorker;
  readonly #path: string;
  #started: Promise<void> | undefined;
  /** The content of the file when it was last read or written here. */
  #saved: Dict = newDict();
  #version = '';
  readonly #complained = new Set<string>();

  constructor(parts: BeaconParts) {
    const { opts, log } = parts;
    this.#parts = parts;
    this.#path = savedBeaconsPath(opts.raw);
    this.#worker = new BeaconWorker({
      ...{ entry: parts.entry, idleMs: parts.idleMs, data: parts.data, services: parts.services },
      log: log.child('beacons'),
      onEvents: (events) => this.#tell(events),
      onRanOnce: (name) => void this.request(newDict(Object.entries({ func: 'disable_beacon', name }))),
    });
    this.#beacons = new Beacons(configuredBeacons(opts), {
      pillar: parts.pillar,
      save: (beacons) => this.#save(beacons),
      changed: () => this.#apply(),
      available: async () => (await this.#ask({ func: 'available' }))['beacons'] as string[],
      validate: async (name, config) =>
        validity((await this.#ask({ func: 'validate', name, beacon_data: config }))['problem']),
    });
  }

  /** Starts the beacons; later calls only check whether the pillar changed. */
  start(): Promise<void> {
    this.#started ??= this.#begin();
    return this.#started.then(() => this.#apply());
  }

  /** Pillar or grains changed. */
  changed(): void {
    if (this.#started) void this.#apply();
  }

  stop(): void {
    this.#worker.stop();
  }

  recycle(): void {
    this.#worker.recycle();
  }

  request(request: PlainDict): Promise<PlainDict> {
    return answerBeacons(this.#beacons, request);
  }

  /** salt-call and users change the file: changes are applied immediately. */
  async followFile(): Promise<void> {
    if (!this.#started) return;
    await this.#started;
    const version = await fileVersion(this.#path);
    if (version === this.#version) return;
    this.#version = version;
    try {
      const fresh = await readSavedBeacons(this.#path);
      for (const [name] of dictEntries(this.#saved))
        if (dictGet(fresh, name) === undefined) this.#beacons.delete(String(name));
      for (const [name, value] of dictEntries(fresh)) {
        const before = dictGet(this.#saved, name);
        if (!(before !== undefined && pyEquals(before, value))) this.#beacons.set(String(name), value);
      }
      this.#saved = fresh;
      await this.#apply();
    } catch (error) {
      this.#parts.log.error('the saved beacons cannot be read', { file: this.#path, error: messageOf(error) });
    }
  }

  async #begin(): Promise<void> {
    this.#version = await fileVersion(this.#path);
    this.#saved = await readSavedBeacons(this.#path).catch(newDict);
    await this.#parts.grains().catch(() => undefined);
  }

  #apply(): Promise<void> {
    this.#complain('configuration', this.#parts.opts.raw['beacons']);
    this.#complain('pillar', dictGet(this.#parts.pillar(), 'beacons'));
    return this.#worker
      .configure(this.#beacons.merged())
      .catch((error: unknown) => this.#parts.log.error('beacons could not be started', { error: messageOf(error) }));
  }

  #ask(request: Record<string, Value>): Promise<PlainDict> {
    return this.#worker.request(newDict(Object.entries(request)));
  }

  async #save(beacons: PlainDict): Promise<string> {
    await writeSavedBeacons(this.#path, beacons);
    this.#saved = beacons;
    this.#version = await fileVersion(this.#path);
    return this.#path;
  }

  /** Every master gets every event; an unreachable one misses them, as with Salt. */
  #tell(events: PlainDict[]): void {
    for (const { tag, data } of events) this.#parts.told(String(tag), asDict(data) ?? newDict());
    for (const master of this.#parts.masters())
      for (let at = 0; at < events.length; at += mostAtOnce) void master.fireAll(events.slice(at, at + mostAtOnce));
  }

  /** A value that is not a map cannot be used; logged once. */
  #complain(where: string, found: Value | undefined): void {
    const wrong = found !== undefined && found !== null && !isDict(found);
    if (wrong && !this.#complained.has(where))
      this.#parts.log.error(`Beacons must be of type dict: beacons of the ${where}`);
    if (wrong) this.#complained.add(where);
    else this.#complained.delete(where);
  }
}
