// Maps connections to minion ids: delivery by id, and presence counted over all connections of the same minion.
import { readPresenceTopic } from '../presence-topic.ts';
import type { SubscriberEvent } from '../transport.ts';

interface Entry {
  id: string | undefined;
  topic: string;
}

export class SubscriberIds<T extends { readonly peer: string }> {
  readonly #members = new Set<T>();
  readonly #entries = new Map<T, Entry>();
  readonly #byId = new Map<string, Set<T>>();
  readonly #present = new Map<string, number>();
  readonly #tell: (event: SubscriberEvent) => void;

  constructor(tell: (event: SubscriberEvent) => void) {
    this.#tell = tell;
  }

  add(member: T): void {
    this.#members.add(member);
    this.#entries.set(member, { id: undefined, topic: '' });
  }

  /** All current and future members. */
  get all(): ReadonlySet<T> {
    return this.#members;
  }

  /** Those that authenticated as one of the ids. */
  withIds(ids: readonly string[]): ReadonlySet<T> {
    const found = new Set<T>();
    for (const id of ids) for (const member of this.#byId.get(id) ?? []) found.add(member);
    return found;
  }

  /**
   * The id that an identification frame proved (`id`) and the topic it claimed (`topic`); a later frame replaces an
   * earlier one.
   */
  identify(member: T, id: string | undefined, topic: string): void {
    const entry = this.#entries.get(member);
    if (!entry) return;
    const known = readPresenceTopic(topic) ? topic : '';
    if (entry.id === id && entry.topic === known) return;
    this.#leave(member, entry);
    entry.id = id;
    entry.topic = known;
    if (id !== undefined) this.#byId.set(id, (this.#byId.get(id) ?? new Set<T>()).add(member));
    this.#count(member, entry, 1);
  }

  remove(member: T): void {
    const entry = this.#entries.get(member);
    if (!entry) return;
    this.#members.delete(member);
    this.#entries.delete(member);
    this.#leave(member, entry);
  }

  #leave(member: T, entry: Entry): void {
    if (entry.id !== undefined) {
      const members = this.#byId.get(entry.id);
      members?.delete(member);
      if (members?.size === 0) this.#byId.delete(entry.id);
    }
    this.#count(member, entry, -1);
  }

  /** Reports only the first and the last connection with the same identity, as ZeroMQ does for a topic. */
  #count(member: T, entry: Entry, step: 1 | -1): void {
    if (entry.id === undefined && entry.topic === '') return;
    const key = `${entry.id ?? ''}\0${entry.topic}`;
    const before = this.#present.get(key) ?? 0;
    const after = before + step;
    if (after <= 0) this.#present.delete(key);
    else this.#present.set(key, after);
    if (before !== 0 && after !== 0) return;
    const who = entry.id === undefined ? {} : { id: entry.id };
    this.#tell({ kind: step === 1 ? 'joined' : 'left', topic: entry.topic, ...who, peer: member.peer });
  }
}
