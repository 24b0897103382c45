// Events that programs outside fire through the API (webhooks): below one tag, with a token, or with the key that only
// opens this call, where the API accepts hooks without a token.
import { timingSafeEqual } from 'node:crypto';
import { chownSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dictField, textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { findAccount } from '../../base/config/accounts.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { restBlock } from '../../base/config/rest-block.ts';
import { Crypticle } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { hookKeyName } from '../../protocol/wire/messages/hook.ts';

const mostParts = 16;
const part = /^[^\x00-\x1f\x7f/]{1,128}$/;

export class HookKey {
  readonly #key: Buffer | undefined;

  /** The key stays the same over restarts of the master, because the API reads it only once. */
  constructor(opts: Pick<MasterOpts, 'raw' | 'cachedir' | 'user'>) {
    if (!restBlock(opts.raw)) return;
    const file = join(opts.cachedir, hookKeyName);
    this.#key = readKey(file);
    if (!this.#key) {
      const text = Crypticle.generateKeyString();
      replaceFileNow(file, text);
      this.#key = Buffer.from(text);
    }
    const account = findAccount(String(opts.raw['api_user'] || opts.user || 'root'));
    if (account && process.getuid?.() === 0) chownSync(file, account.uid, account.gid);
  }

  proves(given: string): boolean {
    const own = this.#key;
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

export function fireHook(bus: Pick<EventBus, 'fire'>, args: PlainDict): true {
  const path = textField(args, 'path') ?? '';
  const parts = path === '' ? [] : path.split('/');
  if (parts.length > mostParts || !parts.every((each) => part.test(each)))
    throw new HaliteError(
      'call.arguments',
      `The path of a hook has at most ${mostParts} parts of 1 to 128 characters, without control characters.`,
    );
  bus.fire(['salt/netapi/hook', ...parts].join('/'), dictField(args, 'data') ?? newDict());
  return true;
}
