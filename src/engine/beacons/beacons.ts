// The beacons of a minion: those of its configuration and its pillar, and changes while it runs.
import {
  asList,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { flatSettings } from './settings.ts';

export interface Validity {
  readonly valid: boolean;
  readonly comment: string;
}

export interface BeaconsHost {
  readonly pillar: () => Dict;
  /** Writes the beacons that do not come from the pillar to the minion's file; returns its path. */
  readonly save: (beacons: PlainDict) => Promise<string>;
  readonly validate: (name: string, config: Value) => Promise<Validity>;
  readonly available: () => Promise<readonly string[]>;
  /** Called after each change. */
  readonly changed: () => void | Promise<void>;
}

export class Beacons {
  readonly host: BeaconsHost;
  /** Beacons that do not come from the pillar, and `enabled` for all of them. */
  readonly #own: Map<string, Value>;

  constructor(own: Dict, host: BeaconsHost) {
    this.host = host;
    this.#own = new Map(dictEntries(own).map(([name, value]) => [String(name), value]));
  }

  ofPillar(): PlainDict {
    const found = dictGet(this.host.pillar(), 'beacons');
    if (!isDict(found ?? null)) return newDict();
    return newDict(dictEntries(found as Dict).map(([name, value]): [string, Value] => [String(name), value]));
  }

  ofOpts(): PlainDict {
    return newDict([...this.#own]);
  }

  /** All beacons by name: the pillar's, overridden by our own. */
  merged(): PlainDict {
    return newDict([...Object.entries(this.ofPillar()), ...this.#own]);
  }

  inPillar(name: string): boolean {
    return name in this.ofPillar();
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value);
  }

  delete(name: string): boolean {
    return this.#own.delete(name);
  }

  clear(): void {
    this.#own.clear();
  }

  has(name: string): boolean {
    return this.#own.has(name);
  }

  /** Enables or disables one of our own beacons; its other settings stay unchanged. */
  switch(name: string, on: boolean): void {
    const config = this.#own.get(name);
    if (config !== undefined && isDict(config)) {
      this.#own.set(name, newDict([...Object.entries(flatSettings(config)), ['enabled', on]]));
      return;
    }
    const parts = asList(config) ?? [];
    const isSwitch = (part: Value): boolean => isDict(part) && dictGet(part, 'enabled') !== undefined;
    const rest = parts.map((part) =>
      isSwitch(part) ? newDict([...Object.entries(flatSettings(part)), ['enabled', on] as const]) : part,
    );
    this.#own.set(name, parts.some(isSwitch) ? rest : [...rest, newDict([['enabled', on]])]);
  }
}
