// Subscriptions by topic: a message goes to every subscriber with a topic that is a prefix of its first frame.

export class TopicIndex<T> {
  /** Topics as latin1 text, one character a byte. */
  readonly #members = new Map<string, Set<T>>();
  /** The number of topics of each length: only these lengths are looked up. */
  readonly #lengths = new Map<number, number>();
  readonly #nobody: ReadonlySet<T> = new Set<T>();

  add(topic: string, member: T): void {
    const members = this.#members.get(topic);
    if (members) {
      members.add(member);
      return;
    }
    this.#members.set(topic, new Set([member]));
    this.#lengths.set(topic.length, (this.#lengths.get(topic.length) ?? 0) + 1);
  }

  remove(topic: string, member: T): void {
    const members = this.#members.get(topic);
    if (!members?.delete(member) || members.size > 0) return;
    this.#members.delete(topic);
    const left = (this.#lengths.get(topic.length) ?? 1) - 1;
    if (left > 0) this.#lengths.set(topic.length, left);
    else this.#lengths.delete(topic.length);
  }

  /** All subscribers for a message that begins with these bytes, once each; usually an existing set. */
  match(start: Uint8Array): ReadonlySet<T> {
    const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength);
    const found: Set<T>[] = [];
    for (const length of this.#lengths.keys()) {
      const members = length > bytes.length ? undefined : this.#members.get(bytes.toString('latin1', 0, length));
      if (members) found.push(members);
    }
    const [first, ...others] = found;
    if (!first) return this.#nobody;
    if (others.length === 0) return first;
    const all = new Set(first);
    for (const members of others) for (const member of members) all.add(member);
    return all;
  }
}
