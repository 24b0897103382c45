// How it stands with each minion while the key of the master changes.
import { dictGet } from '../../base/codec/value.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Audiences } from '../publish/publisher.ts';
import type { KeySignatures } from '../sign-in/key-signatures.ts';
import type { Rollover } from './rollover.ts';

export interface ReportParts {
  readonly rollover: Rollover;
  readonly keys: Pick<KeyStore, 'ids'>;
  readonly fleet: Pick<Fleet, 'isHalite' | 'grains' | 'known' | 'connected'>;
  readonly signatures: Pick<KeySignatures, 'demands'>;
}

/**
 * `ready`: it has the next key, or takes it by the signature. `moved`: it has the new key. `later`: it takes the new key
 * by itself when it comes. `by-hand`: it never will.
 */
export type Standing = 'ready' | 'moved' | 'later' | 'by-hand';

export interface MinionStanding {
  readonly id: string;
  readonly standing: Standing;
  readonly halite: boolean;
  /** When it was heard last, in milliseconds since the epoch; 0: never since this master started. */
  readonly seen: number;
}

const cachedMs = 2_000;
/** Before that, minions run a job as often as it arrives. */
const firstWithoutDoubles = 2016;

export class RolloverReport {
  readonly #parts: ReportParts;
  #audiences: Audiences = {};
  #audiencesAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  all(): MinionStanding[] {
    const { keys } = this.#parts;
    return keys.ids('accepted').map((id) => this.#of(id));
  }

  #of(id: string): MinionStanding {
    const { rollover, fleet, signatures } = this.#parts;
    const { told, signIns, at } = rollover.minions.of(id);
    const record = rollover.record;
    const halite = fleet.isHalite(id) || told !== undefined;
    const seen = Math.max(at, fleet.known(id)?.lastContact ?? 0);
    const follows = signatures.demands(id) || halite;
    const standing = (): Standing => {
      if (!record) return 'moved';
      if (record.phase === 'announced') {
        if (halite) return told?.next === record.to ? 'ready' : 'later';
        return follows ? 'ready' : 'by-hand';
      }
      const trusts = halite ? told?.trusts : signIns.at(-1)?.trusts;
      if (trusts === record.to) return 'moved';
      // A real minion that was given the new key and came again has taken it; it shows that at its next sign-in.
      if (!halite && signIns.at(-1)?.presented === record.to && seen > at) return 'moved';
      return follows && record.statement !== '' ? 'later' : signatures.demands(id) ? 'later' : 'by-hand';
    };
    return { id, standing: standing(), halite, seen };
  }

  /** Who gets which form of a publication. */
  audiences(): Audiences {
    const now = performance.now();
    if (now - this.#audiencesAt < cachedMs) return this.#audiences;
    const all = this.all();
    const halite = all.filter((one) => one.halite);
    const others = all.filter((one) => !one.halite);
    const late = halite.some(({ standing }) => standing !== 'moved');
    const former = late ? undefined : others.length > 0 ? ('others' as const) : ('nobody' as const);
    const doubles = others.some(({ id, standing }) => standing !== 'moved' && this.#runsDoubles(id));
    this.#audiences = { ...(doubles ? { current: 'halite' as const } : {}), ...(former ? { former } : {}) };
    this.#audiencesAt = now;
    return this.#audiences;
  }

  #runsDoubles(id: string): boolean {
    const { fleet } = this.#parts;
    const grains = fleet.grains(id);
    const version = grains && dictGet(grains, 'saltversion');
    const year = Number(/^(\d{4})\./.exec(String(version ?? ''))?.[1] ?? 0);
    if (version !== undefined) return year > 0 && year < firstWithoutDoubles;
    return fleet.known(id)?.generation === 0;
  }
}
