// What happens to a fleet by itself: minions that leave and come back, connections that are lost together.
import type { Counters } from './counters.ts';
import type { Link } from './link.ts';
import type { SimulatedMinion } from './minion.ts';
import type { FleetOptions } from './options.ts';
import type { Requests } from './requests.ts';
import type { Subscribers } from './subscribers.ts';

const churnStepMs = 1000;

export interface UpkeepParts {
  readonly options: FleetOptions;
  readonly counters: Counters;
  readonly minions: readonly SimulatedMinion[];
  readonly link: Link;
  readonly requests: Requests;
  readonly subscribers: Subscribers;
}

export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Departures that are due and not whole yet. */
  #due = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  start(): void {
    const { churn, stormEveryMs, stormShare } = this.#parts.options;
    if (churn > 0) this.#timers.push(setInterval(() => this.#churn(), churnStepMs));
    if (stormEveryMs > 0) this.#timers.push(setInterval(() => this.storm(stormShare), stormEveryMs));
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** This share of the connections ends at once, and all of them come back together. */
  storm(share: number): void {
    const { subscribers, requests } = this.#parts;
    const groups = subscribers.groups;
    if (share >= 1) requests.dropAll();
    for (const group of groups) if (Math.random() < share) group.cut();
  }

  #churn(): void {
    this.#due += (this.#parts.options.churn * churnStepMs) / 60_000;
    for (; this.#due >= 1; this.#due--) this.#leave();
  }

  #leave(): void {
    const { minions, counters, subscribers, link, options } = this.#parts;
    const minion = minions[Math.floor(Math.random() * minions.length)];
    if (minion?.state !== 'in' || minion.signingIn) return;
    minion.state = 'away';
    counters.add('signedIn', -1);
    subscribers.leave(minion);
    link.later(options.churnAwayMs, () => link.signIn(minion));
  }
}
