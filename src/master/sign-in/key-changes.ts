// The effects of key changes on a running master.
import type { MasterOpts } from '../../base/config/index.ts';
import type { KeyServices } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { type KeyAct, type KeyStore, keyServices } from '../../store/keys.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Mine } from '../fleet/mine.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { Secrets } from './secrets.ts';

export interface KeyChangeParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'rotate_aes_key'>;
  readonly secrets: Pick<Secrets, 'rotate'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly fleet: Pick<Fleet, 'forget'>;
  readonly mine: Pick<Mine, 'flush'>;
  readonly tracker: Pick<Tracker, 'lost'>;
}

export class KeyChanges {
  readonly #parts: KeyChangeParts;

  constructor(parts: KeyChangeParts) {
    this.#parts = parts;
  }

  /** Fires an event, and drops the data of a minion that is no longer trusted; the shared key stays. */
  note(act: KeyAct, id: string): void {
    const { bus, opts, fleet, mine, tracker } = this.#parts;
    bus.fire('salt/key', { result: true, act, id });
    if (act === 'accept') return;
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
    if (act !== 'accept' && this.#parts.opts.rotate_aes_key) this.rotate();
  }

  /** A new AES key, reported to all listeners; minions notice it at their next message. */
  rotate(): void {
    this.#parts.secrets.rotate();
    this.#parts.bus.fire('key', { rotate_aes_key: true });
  }

  /** The key functions of runners and wheel; their changes are applied here. */
  services(keys: KeyStore, pkiDir: string): KeyServices {
    return keyServices(keys, pkiDir, (act, id) => this.changed(act, id));
  }
}
