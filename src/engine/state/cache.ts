// Stores the high data of the last run, for runs with `cache=True`.
import { mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { isDict, type Value } from '../../base/codec/value.ts';
import { replaceFile } from '../../base/util/replace-file.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import { fromHigh, type High, toHigh } from './data.ts';

const ending = '.cache.p';

/** A name from outside cannot leave the cache folder. */
const pathOf = (cacheDir: string, name: string): string => join(cacheDir, `${basename(name)}${ending}`);

export async function readHighCache(cacheDir: string, name: string): Promise<High | undefined> {
  try {
    const value = unpack(await readFile(pathOf(cacheDir, name)));
    return isDict(value) ? toHigh(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Readable by the owner only: state data may contain secrets. */
export async function writeHighCache(cacheDir: string, name: string, high: High, log: ExtensionLog): Promise<void> {
  const path = pathOf(cacheDir, name);
  try {
    await mkdir(cacheDir, { recursive: true });
    await replaceFile(path, pack(fromHigh(high) as Value));
  } catch (error) {
    log.error(`Unable to write to "state.highstate" cache file ${path}`, { error: String(error) });
  }
}
