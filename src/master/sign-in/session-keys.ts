// Session keys of minions: computed from one secret, so that no sign-in writes a file and every member of a cluster has
// the same key for the same minion.
import { createHash, hkdfSync } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Crypticle } from '../../base/crypto/index.ts';

/** What the key of a minion depends on besides the secret. */
export interface SessionOf {
  readonly id: string;
  /** Of its accepted public key: another key has other sessions. */
  readonly fingerprint: string;
}

export interface SessionSecrets {
  /** The secret that new sign-ins use, and an earlier one while its sessions are still taken. */
  current(): readonly [Uint8Array, ...Uint8Array[]];
  /** How often an operator has renewed the session of this id. */
  renewals(id: string): number;
}

export interface SessionKeyOptions {
  readonly secrets: SessionSecrets;
  /** Where earlier versions, and Salt, stored one file for each minion. */
  readonly folder: string;
  /** How long a key is used; 0 means for ever. */
  readonly seconds: number;
  /** The time that all members agree on. */
  readonly now?: () => number;
}

/** Requests of the last epoch are taken for this long, and those of the next one, because clocks differ. */
const graceMs = 300_000;

/** A key in use, and all that it was computed from: nothing is computed for a request that comes under it. */
interface Known extends SessionOf {
  readonly secret: Uint8Array;
  readonly renewals: number;
  /** The epoch: a clock may also be set back. */
  readonly from: number;
  readonly until: number;
  readonly key: Crypticle;
}

export class SessionKeys {
  readonly #options: SessionKeyOptions;
  readonly #now: () => number;
  readonly #lengthMs: number;
  readonly #current = new Map<string, Known>();
  /** Keys in files, `undefined` where there is none: nobody writes new ones. */
  readonly #stored = new Map<string, { readonly key: Crypticle; readonly made: number } | undefined>();

  constructor(options: SessionKeyOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#lengthMs = Math.max(0, options.seconds * 1000);
    this.#removeOld();
  }

  /** The key that this minion gets when it signs in. */
  current(of: SessionOf): Crypticle {
    const { secrets } = this.#options;
    const [secret] = secrets.current();
    const renewals = secrets.renewals(of.id);
    const now = this.#now();
    const known = this.#current.get(of.id);
    if (
      known?.secret === secret &&
      known.fingerprint === of.fingerprint &&
      known.renewals === renewals &&
      now >= known.from &&
      now < known.until
    )
      return known.key;
    const { epoch, sinceMs, untilMs } = this.#place(of.id);
    const key = this.#derive(secret, of, epoch);
    this.#current.set(of.id, { ...of, secret, renewals, from: now - sinceMs, until: now + untilMs, key });
    return key;
  }

  /** The keys that its requests may be sealed with, the likeliest first; answers use the one of the request. */
  *accepted(of: SessionOf): Generator<Crypticle, void> {
    yield this.current(of);
    const { epoch, sinceMs, untilMs } = this.#place(of.id);
    const grace = Math.min(graceMs, this.#lengthMs / 2);
    for (const secret of this.#options.secrets.current().slice(1)) yield this.#derive(secret, of, epoch);
    const [secret] = this.#options.secrets.current();
    if (sinceMs < grace) yield this.#derive(secret, of, epoch - 1);
    if (untilMs < grace) yield this.#derive(secret, of, epoch + 1);
    const stored = this.#fromFile(of.id);
    if (stored) yield stored;
  }

  /** Called when its key is no longer accepted. */
  forget(id: string): void {
    this.#current.delete(id);
    this.#stored.set(id, undefined);
    rmSync(join(this.#options.folder, id), { force: true });
  }

  #derive(secret: Uint8Array, { id, fingerprint }: SessionOf, epoch: number): Crypticle {
    // No part contains a null byte.
    const info = ['halite session 1', id, fingerprint, epoch, this.#options.secrets.renewals(id)].join('\0');
    return new Crypticle(Buffer.from(hkdfSync('sha256', secret, '', info, 56)).toString('base64'));
  }

  /** Each minion has its own offset, so that a fleet does not renew its sessions at the same moment. */
  #place(id: string): { epoch: number; sinceMs: number; untilMs: number } {
    const length = this.#lengthMs;
    if (length === 0) return { epoch: 0, sinceMs: Number.POSITIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
    const offset = createHash('sha256').update(id).digest().readUInt32BE() % length;
    const at = this.#now() + offset;
    const epoch = Math.floor(at / length);
    const sinceMs = at - epoch * length;
    return { epoch, sinceMs, untilMs: length - sinceMs };
  }

  #fromFile(id: string): Crypticle | undefined {
    if (!this.#stored.has(id)) this.#stored.set(id, this.#read(id));
    const stored = this.#stored.get(id);
    if (!stored || !this.#expired(stored.made)) return stored?.key;
    this.forget(id);
    return undefined;
  }

  #read(id: string): { key: Crypticle; made: number } | undefined {
    const file = join(this.#options.folder, id);
    try {
      return { key: new Crypticle(readFileSync(file, 'utf8').trim()), made: statSync(file).mtimeMs };
    } catch {
      // There is none, or it is damaged: this minion signs in again.
      return undefined;
    }
  }

  #expired(made: number): boolean {
    return this.#lengthMs > 0 && Date.now() - made > this.#lengthMs;
  }

  #removeOld(): void {
    const { folder } = this.#options;
    let names: string[];
    try {
      names = readdirSync(folder);
    } catch {
      return;
    }
    for (const name of names) {
      const file = join(folder, name);
      const stat = statSync(file, { throwIfNoEntry: false });
      if (stat?.isFile() && this.#expired(stat.mtimeMs)) rmSync(file, { force: true });
    }
  }
}
