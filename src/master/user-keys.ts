// The per-user key files (`cachedir/.root_key`) that let local commands prove who they are.
import { timingSafeEqual } from 'node:crypto';
import { chownSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Crypticle } from '../base/crypto/index.ts';
import { writeFileAtomic } from '../store/keys.ts';

export class UserKeys {
  readonly #keys = new Map<string, Buffer>();

  constructor(opts: { cachedir: string; user?: string | null; publisher_acl?: unknown }) {
    const users = new Set<string>([opts.user || 'root', userInfo().username]);
    const acl = opts.publisher_acl;
    if (acl && typeof acl === 'object') {
      for (const name of Object.keys(acl)) if (/^[\w.@-]+$/.test(name)) users.add(name);
    }
    const accounts = passwd();
    for (const user of users) {
      const account = accounts.get(user);
      if (!account && user !== userInfo().username) continue;
      const text = Crypticle.generateKeyString();
      const file = join(opts.cachedir, `.${user}_key`);
      writeFileAtomic(file, text, 0o600);
      if (account && process.getuid?.() === 0) chownSync(file, account.uid, account.gid);
      this.#keys.set(user, Buffer.from(text));
    }
  }

  /**
   * Whether `key` proves `user`. Root, the master's user and `sudo_x` may use any known key (root's file is readable
   * only to root); everybody else needs their own or root's.
   */
  proves(user: string, key: unknown, masterUser: string): boolean {
    const given = typeof key === 'string' ? Buffer.from(key) : key instanceof Uint8Array ? Buffer.from(key) : undefined;
    if (!given) return false;
    const privileged = user === 'root' || user === masterUser || user.startsWith('sudo_');
    for (const [owner, known] of this.#keys) {
      if (!privileged && owner !== user && owner !== 'root') continue;
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
