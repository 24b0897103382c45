// What a request of each protocol generation proves about its sender, and which commands that is enough for.
import type { KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyToken } from '../../base/crypto/index.ts';
import { type OpenedLoad, openToFleet, type SealedEnvelope } from '../../protocol/wire/messages/request.ts';
import type { Trust } from './sender.ts';

/** Before P3 minions name themselves here and send no token; the reply of `_pillar` can be read by the holder of the key alone. */
const idIsEnough: ReadonlySet<string> = new Set(['_pillar', '_return', '_syndic_return']);

interface AcceptedKey {
  readonly key: KeyObject | undefined;
  readonly pem: string;
}

/** Who sends, and how far that is believed; or what must hold before a handler sees the load, and does not. */
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
  // A downgraded minion asks for its pillar before it sends its first token.
  return cmd === '_pillar'
    ? { id, trust: 'disputed' }
    : { breach: 'token missing: this minion speaks a newer protocol' };
}

/**
 * Who has used P3, and with which key: nobody who merely holds the shared key may speak for them in an older protocol.
 * A token in an older protocol ends it (the minion was downgraded), another key too. Kept over restarts, because
 * a restart is when others could be first.
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

  /** Once per minion; while the disk fails, memory does until the next start. */
  #onDisk(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Ids with an accepted key only: these are valid file names, and bounded in number. */
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
