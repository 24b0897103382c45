// The files of Salt's local job cache: `jobs/<2 digits>/<rest of the hash>/…`, msgpack inside.

import { dirname, join } from 'node:path';
import type { Value } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { mkdir, readdir, readFile, replaceFile, stat } from 'halite/sdk/fs';

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code));

/** Names in a folder; none when there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

export async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
}

/** Writes atomically: readers see the whole file or none. */
export async function writeWhole(file: string, body: Uint8Array | string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, body);
}

export const writeValue = (file: string, value: Value): Promise<void> => writeWhole(file, pack(value, { bin: true }));

/** The value in a file; undefined when it is not there or damaged. */
export async function readValue(file: string): Promise<Value | undefined> {
  const body = await readFile(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!body) return undefined;
  try {
    return unpack(body, { maxDepth: 480, maxBytes: 1 << 30, maxItems: 1 << 27 });
  } catch {
    return undefined;
  }
}

/** Every folder of a job. */
export async function* jobFolders(root: string): AsyncGenerator<string> {
  for (const top of await namesIn(root)) {
    for (const rest of await namesIn(join(root, top))) yield join(root, top, rest);
  }
}
