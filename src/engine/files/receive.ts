// Stores files that a minion pushes (`cp.push`), chunk by chunk, below its own folder.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { cleanRelative } from './paths.ts';

/** Writes one chunk; returns the reason when it is refused. The path is a list of plain names. */
export async function receiveChunk(load: PlainDict, folder: string, maxBytes: number): Promise<string | undefined> {
  const { path, loc, size } = load;
  const rel = pushedPath(path);
  if (rel === undefined) return 'the path is not acceptable';
  if (typeof loc !== 'number' || !Number.isSafeInteger(loc) || loc < 0) return 'the position is not acceptable';
  const data = bytesOf(load['data']);
  if (!data) return 'there is no data';
  const announced = typeof size === 'number' ? size : 0;
  if (announced > maxBytes || loc + data.length > maxBytes) return 'it is larger than file_recv_max_size';
  try {
    return await write(folder, rel, loc, data);
  } catch (error) {
    return messageOf(error);
  }
}

function pushedPath(path: Value | undefined): string | undefined {
  if (!Array.isArray(path) || !path.every((name) => typeof name === 'string')) return undefined;
  return cleanRelative(path.join('/').replace(/^\/+/, ''));
}

function bytesOf(data: Value | undefined): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data;
  return typeof data === 'string' ? Buffer.from(data) : undefined;
}

async function write(folder: string, rel: string, loc: number, data: Uint8Array): Promise<string | undefined> {
  const file = join(folder, rel);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const blocked = await firstLink(folder, rel);
  if (blocked) return `${blocked} is a link`;
  const handle = await openAt(file, loc);
  try {
    const { size } = await handle.stat();
    if (size < loc) return 'a chunk before it is missing';
    for (let done = 0; done < data.length; ) {
      done += (await handle.write(data, done, data.length - done, loc + done)).bytesWritten;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

/** The first chunk creates the file, the others require it. */
function openAt(file: string, loc: number): Promise<FileHandle> {
  const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
  return open(file, O_WRONLY | O_NOFOLLOW | (loc === 0 ? O_CREAT | O_TRUNC : 0), 0o600);
}

/** Only an operator creates links here, and data of minions must not follow them. */
async function firstLink(folder: string, rel: string): Promise<string | undefined> {
  let at = folder;
  for (const name of rel.split('/')) {
    at = join(at, name);
    const found: Stats | undefined = await lstat(at).catch(() => undefined);
    if (found?.isSymbolicLink()) return at;
  }
  return undefined;
}
