// Tokens as files, in the form of Salt's `localfs`: the name of a file is the token, so the folder is secret too.
import { chmodSync, constants, mkdirSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { replaceFile } from '../../base/util/replace-file.ts';
import {
  isToken,
  mostListed,
  newToken,
  readTokenValue,
  type StoredToken,
  type TokenData,
  type TokenStore,
  tokenValue,
  unavailable,
} from './tokens.ts';

/** A token with all the rules of its user is far below this. */
const mostBytes = 1024 * 1024;

export class TokenFiles implements TokenStore {
  readonly #folder: string;
  readonly #hashType: string;
  readonly #now: () => number;

  constructor(folder: string, hashType: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
    this.#hashType = hashType;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }

  async create(data: TokenData): Promise<StoredToken> {
    const token = newToken(this.#hashType);
    const stored = { ...data, token };
    await replaceFile(join(this.#folder, token), pack(tokenValue(stored), { bin: true }), 0o600);
    return stored;
  }

  async get(token: string): Promise<StoredToken | undefined> {
    if (!isToken(token)) return undefined;
    // Salt 3008 gives its files an ending.
    for (const name of [token, `${token}.p`]) {
      const bytes = await this.#read(join(this.#folder, name));
      if (!bytes) continue;
      const found = readStored(bytes, token);
      if (found && found.expire > this.#now() / 1000) return found;
      await this.delete(token);
      return undefined;
    }
    return undefined;
  }

  async list(): Promise<StoredToken[]> {
    const found: StoredToken[] = [];
    for (const token of await this.#names()) {
      const stored = await this.get(token);
      if (stored) found.push(stored);
      if (found.length >= mostListed) break;
    }
    return found;
  }

  async delete(token: string): Promise<boolean> {
    if (!isToken(token)) return false;
    let there = false;
    for (const name of [token, `${token}.p`]) {
      try {
        await rm(join(this.#folder, name));
        there = true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unavailable(error);
      }
    }
    return there;
  }

  async sweep(): Promise<void> {
    for (const token of await this.#names()) await this.get(token);
  }

  close(): void {}

  async #names(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      throw unavailable(error);
    });
    return [...new Set(names.map((name) => name.replace(/\.p$/, '')))].filter(isToken).sort();
  }

  /** Only plain files of this user or root that nobody else can write: a file that others planted is no token. */
  async #read(path: string): Promise<Uint8Array | undefined> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ELOOP') return undefined;
      throw unavailable(error);
    });
    if (!file) return undefined;
    try {
      const { size, mode, uid } = await file.stat();
      const isPlain = (mode & constants.S_IFMT) === constants.S_IFREG;
      const trusted = uid === 0 || uid === process.geteuid?.();
      if (!isPlain || !trusted || (mode & 0o022) !== 0 || size > mostBytes) return undefined;
      return await file.readFile();
    } finally {
      await file.close();
    }
  }
}

function readStored(bytes: Uint8Array, token: string): StoredToken | undefined {
  let value: Value;
  try {
    value = unpack(bytes);
  } catch {
    return undefined;
  }
  return readTokenValue(value, token);
}
