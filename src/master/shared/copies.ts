// Copies of one event: a minion with several masters sends it to each of them, and `salt-call` sends one copy per
// configured master to the same one. Each event is to be handled once.
import { createHash } from 'node:crypto';
import { pack } from '../../base/codec/msgpack/index.ts';
import { asText, type Dict, dictEntries, dictGet, dictOf, fieldOf, type Value } from '../../base/codec/value.ts';

/** What makes two events of a minion copies of each other: everything but the time of sending. */
export function copyKey(id: string, tag: string, data: Dict): string {
  const hash = createHash('sha256').update(`${id.length} ${id} ${tag.length} ${tag} `);
  // Its text contains a time that differs for each master.
  if (!isStart(id, tag)) hash.update(pack(withoutTimes(data)));
  return hash.digest('base64url').slice(0, 22);
}

const isStart = (id: string, tag: string): boolean => tag === `salt/minion/${id}/start` || tag === 'minion_start';

/** A single event of a Salt minion is the whole request, and so contains the second in which each copy was sent. */
function withoutTimes(data: Dict): Dict {
  const isRequest = asText(dictGet(data, 'cmd')) === '_minion_event';
  return dictOf(dictEntries(data).filter(([name]) => name !== '_stamp' && !(isRequest && name === 'ts')));
}

const oncePerMs = 60_000;
const mostRemembered = 10_000;

/** Recognizes the copies of `event.send` in `salt-call`: they carry the jid and the process of the call. */
export class CallCopies {
  readonly #seen = new Map<string, number>();

  /** True when this call sent the same event a moment ago. */
  isCopy(id: string, tag: string, data: Dict, now = Date.now()): boolean {
    const call = callOf(data);
    if (call === undefined) return false;
    const key = `${call} ${copyKey(id, tag, data)}`;
    const seen = this.#seen.get(key);
    if (seen !== undefined && now - seen < oncePerMs) return true;
    this.#seen.delete(key);
    this.#seen.set(key, now);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > mostRemembered && oldest !== undefined) this.#seen.delete(oldest);
    return false;
  }
}

/** The call that sent an event: Salt adds these fields to the data of `event.send`. */
function callOf(data: Dict): string | undefined {
  for (const fields of [data, dictGet(data, 'data')]) {
    const jid = asText(fieldOf(fields, '__pub_jid'));
    const pid: Value | undefined = fieldOf(fields, '__pub_pid');
    if (jid && (typeof pid === 'number' || typeof pid === 'string')) return `${jid} ${pid}`;
  }
  return undefined;
}

interface Held<T> {
  readonly due: number;
  readonly item: T;
}
interface Copies<T> {
  readonly held: Held<T>[];
  /** When the home told the event without a copy having been here yet: until then one copy is dropped. */
  readonly told: number[];
}

/** How long the home of a minion has to tell an event that came here too. */
export const holdMs = 2_000;
const mostHeld = 20_000;
const lookMs = 100;

export interface HeldCopiesParts<T> {
  /** The home did not tell it: it is handled here. */
  overdue(item: T): void;
  /** More copies are held than is sensible: this one is taken as told. */
  dropped(item: T): void;
}

/** A multiset: each telling of the home cancels one copy, whichever comes first. */
export class HeldCopies<T> {
  readonly #parts: HeldCopiesParts<T>;
  readonly #copies = new Map<string, Copies<T>>();
  #held = 0;
  #told = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: HeldCopiesParts<T>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#held;
  }

  /** True when the home told this event already: the copy is of no further use. */
  isTold(key: string, now = Date.now()): boolean {
    const copies = this.#copies.get(key);
    while (copies && copies.told.length > 0) {
      const until = copies.told.shift() ?? 0;
      this.#told--;
      this.#tidy(key, copies);
      if (until >= now) return true;
    }
    return false;
  }

  hold(key: string, item: T, waitMs = holdMs, now = Date.now()): void {
    if (this.#held >= mostHeld) {
      this.#parts.dropped(item);
      return;
    }
    this.#of(key).held.push({ due: now + waitMs, item });
    this.#held++;
    this.#wind();
  }

  /** The home handled one. */
  told(key: string, now = Date.now()): void {
    const copies = this.#of(key);
    if (copies.held.shift()) this.#held--;
    else if (this.#told < mostHeld) {
      copies.told.push(now + holdMs);
      this.#told++;
      this.#wind();
    }
    this.#tidy(key, copies);
  }

  /** Handles what is overdue; forgets what was told long ago. */
  look(now = Date.now()): void {
    for (const [key, copies] of this.#copies) {
      while ((copies.told[0] ?? Number.POSITIVE_INFINITY) < now) {
        copies.told.shift();
        this.#told--;
      }
      for (let first = copies.held[0]; first && first.due <= now; first = copies.held[0]) {
        copies.held.shift();
        this.#held--;
        this.#parts.overdue(first.item);
      }
      this.#tidy(key, copies);
    }
    if (this.#copies.size === 0) this.stop();
  }

  /** The other members cannot be heard: everything that waits is handled here now. */
  release(): void {
    this.look(Number.POSITIVE_INFINITY);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #of(key: string): Copies<T> {
    const known = this.#copies.get(key);
    if (known) return known;
    const fresh: Copies<T> = { held: [], told: [] };
    this.#copies.set(key, fresh);
    return fresh;
  }

  #tidy(key: string, copies: Copies<T>): void {
    if (copies.held.length === 0 && copies.told.length === 0) this.#copies.delete(key);
  }

  #wind(): void {
    this.#timer ??= setInterval(() => this.look(), lookMs).unref();
  }
}
