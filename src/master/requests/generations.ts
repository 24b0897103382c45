// What a request of each protocol generation proves about its sender, and for which commands that is sufficient.
import type { KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyToken } from '../../base/crypto/index.ts';
import { type OpenedLoad, openToFleet, type SealedEnvelope } from '../../protocol/wire/messages/request.ts';
import type { Trust } from './sender.ts';

/**
 * Before P3 minions send their id here without a token; the reply of `_pillar` can only be decrypted by the owner of
 * the key.
 */
const idIsEnough: ReadonlySet<string> = new Set(['_pillar', '_return', '_syndic_return']);

export interface AcceptedKey {
  readonly key: KeyObject | undefined;
  readonly pem: string;
}

/** The sender and how far it is trusted; or the condition that the load violates. */
export type Judgement = { readonly id: string; readonly trust: Trust } | { readonly breach: string };

export function judge(
  { cmd, id, tok }: OpenedLoad,
  { version, id: outerId }: SealedEnvelope,
  accepted: (id: string) => AcceptedKey | undefined,
  proofs: SessionProofs | undefined,
): Judgement {
  if (version >= 3 && id !== outerId) return { breach: 'inner and outer id differ' };
  const open = version < 3 && openToFleet.has(cmd);
  if (open && (id === undefined || tok === undefined)) return { id: '', trust: 'anonymous' };
  if (id === undefined) return { breach: 'the id is missing' };
  const stored = accepted(id);
  if (!stored?.key) return { breach: 'no accepted key of this id' };
  if (tok !== undefined) {
    if (!verifyToken(stored.key, tok)) return { breach: 'token does not verify' };
    if (version >= 3) proofs?.keep(id, stored.pem);
    else proofs?.drop(id);
    return { id, trust: 'proven' };
  }
  if (version >= 3 || !idIsEnough.has(cmd)) return { breach: 'token missing' };
  if (proofs?.has(id, stored.pem) !== true) return { id, trust: 'claimed' };
  // A downgraded minion requests its pillar before it sends its first token.
  return cmd === '_pillar'
    ? { id, trust: 'disputed' }
    : { breach: 'token missing: this minion speaks a newer protocol' };
}

/**
 * Which minions have used P3, and with which key: a peer that only has the shared key must not act for them in an older
 * protocol.
 * A token in an older protocol ends it (the minion was downgraded), another key too. Stored across restarts, because
 * after a restart an attacker could be first.
 */
export class SessionProofs {
  readonly #folder: string;
  readonly #known = new Map<string, string>();
  readonly #failed: (error: unknown) => void;

  constructor(cachedir: string, failed: (error: unknown) => void) {
    this.#failed = failed;
    this.#folder = join(cachedir, 'session-proofs');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  has(id: string, pem: string): boolean {
    return this.#read(id) === pem;
  }

  keep(id: string, pem: string): void {
    if (this.#read(id) === pem) return;
    this.#known.set(id, pem);
    this.#onDisk(() => writeFileSync(join(this.#folder, id), pem, { mode: 0o600 }));
  }

  drop(id: string): void {
    if (this.#read(id) === '') return;
    this.#known.set(id, '');
    this.#onDisk(() => rmSync(join(this.#folder, id), { force: true }));
  }

  /** Once per minion; if the disk fails, it is kept in memory until the next start. */
  #onDisk(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Only ids with an accepted key: these are valid file names, and bounded in number. */
  #read(id: string): string {
    let pem = this.#known.get(id);
    if (pem === undefined) {
      try {
        pem = readFileSync(join(this.#folder, id), 'utf8');
      } catch {
        pem = '';
      }
      this.#known.set(id, pem);
    }
    return pem;
  }
}
