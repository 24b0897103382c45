// A set of digests in eight bytes each, with a small number for each: with very many digests, objects would need ten
// times the memory.

/** The note uses three bits of the digest; it is stored as note + 1, so that an empty slot is all zeros. */
const noteBits = 7;
const smallest = 16;

export class DigestSet {
  #slots = new Uint32Array(2 * smallest);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The note of a digest, which must have at least eight bytes; undefined when it is not in the set. */
  get(digest: Uint8Array): number | undefined {
    const at = this.#find(wordAt(digest, 0), wordAt(digest, 4) & ~noteBits);
    const note = (this.#slots[at + 1] as number) & noteBits;
    return note === 0 ? undefined : note - 1;
  }

  /** `note` is from 0 to 6. */
  set(digest: Uint8Array, note: number): void {
    // At most half full: a slot is found after one or two probes.
    if (this.#size * 4 >= this.#slots.length) this.#grow();
    this.#put(wordAt(digest, 0), wordAt(digest, 4) & ~noteBits, note + 1);
  }

  #put(high: number, low: number, note: number): void {
    const at = this.#find(high, low);
    if ((this.#slots[at + 1] as number) === 0) this.#size += 1;
    this.#slots[at] = high;
    this.#slots[at + 1] = low | note;
  }

  /** The slot of a digest, or the empty slot where it belongs. */
  #find(high: number, low: number): number {
    const slots = this.#slots;
    for (let at = (high << 1) & (slots.length - 1); ; at = (at + 2) & (slots.length - 1)) {
      const other = slots[at + 1] as number;
      if (other === 0 || (slots[at] === high >>> 0 && ((other ^ low) & ~noteBits) === 0)) return at;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    this.#size = 0;
    for (let at = 0; at < old.length; at += 2) {
      const low = old[at + 1] as number;
      if (low !== 0) this.#put(old[at] as number, low & ~noteBits, low & noteBits);
    }
  }
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)) >>>
  0;
