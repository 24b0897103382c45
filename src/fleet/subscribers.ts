// The subscriptions of the minions of a process: one for each, or one for several. They come back when they are lost.
import { backoff } from '../base/util/backoff.ts';
import type { Counters } from './counters.ts';
import type { SimulatedMinion } from './minion.ts';
import type { Introduction, SubscriptionEvents, SubscriptionWire } from './wire/types.ts';

export interface SubscribersOptions {
  readonly share: number;
  readonly reconnectMs: number;
  readonly counters: Counters;
  readonly open: (events: SubscriptionEvents) => SubscriptionWire;
  /** What this minion says about itself; undefined while it cannot. */
  readonly introduction: (minion: SimulatedMinion) => Introduction | undefined;
  readonly onPublication: (payload: Buffer, group: Subscription) => void;
  /** The connection of these came back. */
  readonly onReturn: (minions: readonly SimulatedMinion[]) => void;
  /** The last one that was missing is connected. */
  readonly onComplete: () => void;
}

export class Subscription {
  readonly members = new Set<SimulatedMinion>();
  readonly #options: SubscribersOptions;
  readonly #waits: ReturnType<typeof backoff>;
  #wire: SubscriptionWire | undefined;
  #redial: NodeJS.Timeout | undefined;
  #times = 0;
  /** Minions may introduce themselves; `ready`: publications reach them. */
  #open = false;
  ready = false;

  constructor(options: SubscribersOptions) {
    this.#options = options;
    this.#waits = backoff({ base: options.reconnectMs, max: options.reconnectMs * 10 });
  }

  join(minion: SimulatedMinion): void {
    if (this.members.has(minion)) {
      this.#introduce(minion);
      return;
    }
    this.members.add(minion);
    if (this.ready) this.#options.counters.add('connected');
    if (this.#open) this.#introduce(minion);
    else if (!this.#wire && !this.#redial) this.#dial();
  }

  leave(minion: SimulatedMinion): void {
    if (!this.members.delete(minion)) return;
    if (this.ready) this.#options.counters.add('connected', -1);
    this.#wire?.leave(minion.presence);
    forget(minion);
    if (this.members.size === 0) this.close();
  }

  /** It ends now and comes back at once: the network was cut, not the master. */
  cut(): void {
    if (!this.#wire) return;
    this.#wire.close();
    this.#lost('the connection was dropped on purpose', 0);
  }

  close(): void {
    clearTimeout(this.#redial);
    this.#redial = undefined;
    this.#wire?.close();
    this.#gone();
    // The next connection is a first one.
    this.#times = 0;
  }

  #dial(): void {
    this.#redial = undefined;
    this.#wire = this.#options.open({
      opened: () => this.#opened(),
      ready: () => this.#isReady(),
      message: (payload) => this.#options.onPublication(payload, this),
      ended: (reason) => this.#lost(reason, this.#waits.next()),
    });
  }

  #opened(): void {
    this.#open = true;
    for (const minion of this.members) {
      forget(minion);
      this.#introduce(minion);
    }
  }

  #isReady(): void {
    const { counters, onReturn, onComplete } = this.#options;
    this.ready = true;
    this.#waits.reset();
    this.#times += 1;
    const members = [...this.members];
    counters.add('connected', members.length);
    if (this.#times > 1) {
      counters.add('reconnects', members.length);
      onReturn(members);
    }
    onComplete();
  }

  /** A new session has a new presence text. The old one goes first: the master counts joins and departures in order. */
  #introduce(minion: SimulatedMinion): void {
    const who = this.#options.introduction(minion);
    if (!who || !this.#open || !this.#wire) return;
    if (who.mark === minion.introduced) return;
    if (minion.presence !== '' && minion.presence !== who.presence) this.#wire.leave(minion.presence);
    minion.presence = who.presence;
    minion.introduced = who.mark;
    this.#wire.introduce(who);
  }

  #lost(reason: string, waitMs: number): void {
    this.#options.counters.because(`publish port: ${reason}`);
    this.#gone();
    this.#redial = setTimeout(() => this.#dial(), waitMs);
  }

  #gone(): void {
    if (this.ready) this.#options.counters.add('connected', -this.members.size);
    this.ready = false;
    this.#open = false;
    this.#wire = undefined;
  }
}

function forget(minion: SimulatedMinion): void {
  minion.presence = '';
  minion.introduced = undefined;
}

export class Subscribers {
  readonly #options: SubscribersOptions;
  readonly #groups = new Map<number, Subscription>();
  #closed = false;

  constructor(options: SubscribersOptions) {
    this.#options = options;
  }

  get groups(): readonly Subscription[] {
    return [...this.#groups.values()];
  }

  isConnected(minion: SimulatedMinion): boolean {
    const group = this.#groups.get(this.#groupOf(minion));
    return group?.ready === true && group.members.has(minion);
  }

  /** Also called after each sign-in, because the session may be another one. */
  join(minion: SimulatedMinion): void {
    if (this.#closed) return;
    const at = this.#groupOf(minion);
    const group = this.#groups.get(at) ?? new Subscription(this.#options);
    this.#groups.set(at, group);
    group.join(minion);
  }

  leave(minion: SimulatedMinion): void {
    this.#groups.get(this.#groupOf(minion))?.leave(minion);
  }

  close(): void {
    this.#closed = true;
    for (const group of this.#groups.values()) group.close();
  }

  #groupOf({ index }: SimulatedMinion): number {
    return Math.floor(index / this.#options.share);
  }
}
