// The effects of key changes on a running master.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asList, asPlainDict, newDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import type { KeyServices } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { type KeyAct, type KeyStore, keyServices } from '../../store/keys.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Mine } from '../fleet/mine.ts';
import type { LowerMasters } from '../lower-masters/lower-masters.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { AesChange } from './aes-change.ts';
import type { SessionKeys } from './session-keys.ts';

export interface KeyChangeParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'rotate_aes_key'>;
  readonly secrets: { readonly sessions: Pick<SessionKeys, 'forget'> };
  readonly aesChange: AesChange;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly fleet: Pick<Fleet, 'forget'>;
  readonly mine: Pick<Mine, 'flush'>;
  readonly tracker: Pick<Tracker, 'lost'>;
  readonly lower: Pick<LowerMasters, 'forget'>;
}

/** How many changes of one command are noted before others get a turn. */
const inOneTurn = 500;

export class KeyChanges {
  readonly #parts: KeyChangeParts;

  constructor(parts: KeyChangeParts) {
    this.#parts = parts;
  }

  /** Fires an event, and drops the data of a minion that is no longer trusted; the shared key stays. */
  note(act: KeyAct, id: string): void {
    this.#parts.bus.fire('salt/key', { result: true, act, id });
    if (act !== 'accept') this.#drop(act, id);
  }

  /** What a command did in the folders. Each is an event: tens of thousands at once would overflow those who listen. */
  async noteAll(changes: Value | undefined): Promise<void> {
    let count = 0;
    for (const change of asList(changes) ?? []) {
      const { act, id } = asPlainDict(change) ?? newDict();
      if (typeof id !== 'string' || (act !== 'accept' && act !== 'reject' && act !== 'delete')) continue;
      this.note(act, id);
      if (++count % inOneTurn === 0) await nextTurn();
    }
  }

  #drop(act: KeyAct, id: string): void {
    const { opts, fleet, mine, tracker, secrets } = this.#parts;
    secrets.sessions.forget(id);
    if (act === 'delete') this.#parts.lower.forget(id);
    if (act === 'delete' && opts.raw['preserve_minion_cache'] !== true) {
      fleet.forget(id);
      mine.flush(id);
    }
    // Results of its running jobs are no longer accepted: nobody waits for them.
    tracker.lost(id);
  }

  /** The same, and a new shared key when a minion is no longer trusted. */
  changed(act: KeyAct, id: string): void {
    this.note(act, id);
    if (act !== 'accept' && this.#parts.opts.rotate_aes_key) this.rotateSoon();
  }

  /** Another member of the cluster decided: it fires the event, and changes the AES key. */
  foreign(act: KeyAct, id: string): void {
    if (act !== 'accept') this.#drop(act, id);
  }

  /** A new AES key, which all listeners hear of; minions notice it at their next message. */
  rotate(): Promise<number> {
    return this.#parts.aesChange.now();
  }

  /** The same because of keys that are no longer trusted: masters of a cluster gather such changes. */
  rotateSoon(): void {
    this.#parts.aesChange.soon();
  }

  /** The key functions of runners and wheel; their changes are applied here. */
  services(keys: KeyStore, pkiDir: string): KeyServices {
    return keyServices(keys, pkiDir, (act, id) => this.changed(act, id));
  }
}
