// The per-user key files (`cachedir/.root_key`) with which local commands authenticate.
import { timingSafeEqual } from 'node:crypto';
import { chownSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Crypticle } from '../../base/crypto/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { isListed } from './publisher-acl.ts';

export class UserKeys {
  readonly #keys = new Map<string, Buffer>();

  /** Users whose keys give full rights: root, the master's user, and the user of this process. */
  readonly #masters: ReadonlySet<string>;

  constructor(opts: { cachedir: string; user?: string | null; publisher_acl?: unknown }) {
    const own = userInfo().username;
    const accounts = passwd();
    const named = Object.keys((opts.publisher_acl as object | null | undefined) ?? {});
    this.#masters = new Set(['root', opts.user || 'root', own]);
    const others = [...accounts.keys()].filter((name) => isListed(name, named));
    for (const user of new Set([opts.user || 'root', own, ...others])) {
      const account = accounts.get(user);
      if (!account && user !== own) continue;
      const text = Crypticle.generateKeyString();
      const file = join(opts.cachedir, `.${user}_key`);
      replaceFileNow(file, text);
      if (account && process.getuid?.() === 0) chownSync(file, account.uid, account.gid);
      this.#keys.set(user, Buffer.from(text));
    }
  }

  /** Whether `key` authenticates `user`: a privileged name needs a master's key, any other its own or a master's. */
  proves(user: string, key: unknown, privileged: boolean): boolean {
    const given = typeof key === 'string' ? Buffer.from(key) : key instanceof Uint8Array ? Buffer.from(key) : undefined;
    if (!given) return false;
    for (const [owner, known] of this.#keys) {
      if (!this.#masters.has(owner) && (privileged || owner !== user)) continue;
      if (known.length === given.length && timingSafeEqual(known, given)) return true;
    }
    return false;
  }
}

function passwd(): Map<string, { uid: number; gid: number }> {
  const accounts = new Map<string, { uid: number; gid: number }>();
  try {
    for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
      const [name, , uid, gid] = line.split(':');
      if (name && uid && gid) accounts.set(name, { uid: Number(uid), gid: Number(gid) });
    }
  } catch {
    // No password file: only the process's own user gets a key.
  }
  return accounts;
}
