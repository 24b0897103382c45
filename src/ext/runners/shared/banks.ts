import { dirname, resolve } from 'node:path';
import { HaliteError, newDict, type Value } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { mkdirSync, readdirSync, readFileSync, replaceFileNow, rmSync, safeJoin, statSync } from 'halite/sdk/fs';

const ext = '.p';

/** A bank's folder: below the cache, never the cache itself. */
function folderOf(root: string, bank: string): string {
  const folder = safeJoin(root, bank);
  if (folder === resolve(root)) throw new HaliteError('path.refused', 'A bank of the cache needs a name');
  return folder;
}

const fileOf = (root: string, bank: string, key: string): string => `${safeJoin(folderOf(root, bank), key)}${ext}`;

export function storeKey(root: string, bank: string, key: string, data: Value): void {
  const file = fileOf(root, bank, key);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  replaceFileNow(file, pack(data));
}

/** An empty map when there is nothing. */
export function fetchKey(root: string, bank: string, key: string): Value {
  try {
    return unpack(readFileSync(fileOf(root, bank, key)));
  } catch (error) {
    if (error instanceof HaliteError) throw error;
    return newDict();
  }
}

/** Keys and banks below a bank, sorted. */
export function listKeys(root: string, bank: string): string[] {
  const folder = folderOf(root, bank);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .map((name) => (name.endsWith(ext) ? name.slice(0, -ext.length) : name))
    .sort();
}

/** Removes a key, or with '' the whole bank; false when it does not exist. */
export function flushKey(root: string, bank: string, key: string): boolean {
  const path = key === '' ? folderOf(root, bank) : fileOf(root, bank, key);
  if (!statSync(path, { throwIfNoEntry: false })) return false;
  rmSync(path, { recursive: true, force: true });
  return true;
}
