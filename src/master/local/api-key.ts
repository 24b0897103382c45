// Keys that this master shares with the API, each for one purpose: files that only the user of the API can read.
import { timingSafeEqual } from 'node:crypto';
import { chownSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findAccount } from '../../base/config/accounts.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { restBlock } from '../../base/config/rest-block.ts';
import { Crypticle } from '../../base/crypto/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';

export class ApiKey {
  /** Undefined when the master has no API. */
  readonly bytes: Buffer | undefined;

  /** The key stays the same over restarts of the master: the API may have read it. */
  constructor(opts: Pick<MasterOpts, 'raw' | 'cachedir' | 'user'>, name: string) {
    if (!restBlock(opts.raw)) return;
    const file = join(opts.cachedir, name);
    this.bytes = readKey(file);
    if (!this.bytes) {
      const text = Crypticle.generateKeyString();
      replaceFileNow(file, text);
      this.bytes = Buffer.from(text);
    }
    const account = findAccount(String(opts.raw['api_user'] || opts.user || 'root'));
    if (account && process.getuid?.() === 0) chownSync(file, account.uid, account.gid);
  }

  proves(given: string): boolean {
    const own = this.bytes;
    const bytes = Buffer.from(given);
    return own !== undefined && own.length === bytes.length && timingSafeEqual(own, bytes);
  }
}

function readKey(file: string): Buffer | undefined {
  try {
    // A file that others can write is not ours.
    return (statSync(file).mode & 0o077) === 0 ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}
