// What a cluster needs from the machine: places on its own disk, and the keys that seal what members tell each other.

/** Small values by space and key. A value that was set is there after the process was killed. */
export interface LocalTable {
  get(space: string, key: string): Uint8Array | undefined;
  all(space: string): readonly (readonly [key: string, value: Uint8Array])[];
  set(space: string, key: string, value: Uint8Array): void;
  remove(space: string, key: string): void;
}

/** A queue on disk: what this member could not give to the engine yet. */
export interface HeldSpool {
  /** The number of the first record that is not delivered, and the one after the last on disk. */
  readonly first: number;
  readonly next: number;
  readonly bytes: number;
  /** Resolves with its number when it survives a kill of the process. */
  append(record: Uint8Array): Promise<number>;
  /** The oldest records, as many as these limits allow and at least one if there is any. */
  peek(limits: { readonly records: number; readonly bytes: number }): readonly HeldRecord[];
  /** Everything before this number is delivered. */
  delivered(next: number): void;
}

export interface HeldRecord {
  readonly seq: number;
  readonly body: Uint8Array;
}

/** Keys of 32 bytes, by number (1 to 255): all that members tell each other is sealed with the current one. */
export interface BusKeys {
  current(): { readonly number: number; readonly key: Uint8Array };
  /** Also one that was replaced not long ago; undefined when this member has none of this number. */
  byNumber(number: number): Uint8Array | undefined;
  /** The smallest and the highest number of a key that this member has. */
  readonly oldest: number;
  readonly newest: number;
  /** Has this key from now on, also after a restart: to read what others seal with it. */
  add(number: number, key: Uint8Array): void;
  /** Seals with this one from now on. */
  use(number: number): void;
  /** Forgets those below this number. */
  retire(below: number): void;
}
