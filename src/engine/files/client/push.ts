// Sends a file to the master, chunk by chunk in order, as masters of all versions expect it.
import { open, realpath, rm, stat } from 'node:fs/promises';
import { isAbsolute, posix } from 'node:path';
import { newDict } from '../../../base/codec/value.ts';
import type { PushOptions } from '../../../extend/sdk/index.ts';
import type { FileRequest } from './chunks.ts';

/** True when the master accepted everything; false when the file cannot be pushed or was refused. */
export async function pushFile(
  request: FileRequest,
  path: string,
  chunkBytes: number,
  options: PushOptions = {},
): Promise<boolean> {
  if (path.includes('../') || !isAbsolute(path) || options.uploadPath?.includes('../')) return false;
  const source = options.keepSymlinks ? path : await realpath(path).catch(() => path);
  const found = await stat(source).catch(() => undefined);
  if (!found?.isFile()) return false;
  const names = posix
    .normalize((options.uploadPath || source).replace(/^\/+/, ''))
    .split('/')
    .filter(Boolean);
  if (!(await send(request, source, names, found.size, chunkBytes))) return false;
  if (options.removeSource) await rm(source);
  return true;
}

async function send(
  request: FileRequest,
  source: string,
  names: string[],
  size: number,
  chunkBytes: number,
): Promise<boolean> {
  const handle = await open(source, 'r');
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (let loc = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, loc);
      // An empty file is one empty chunk.
      if (bytesRead === 0 && loc > 0) return true;
      const data = Buffer.from(buffer.subarray(0, bytesRead));
      const load = newDict(Object.entries({ cmd: '_file_recv', path: names, size, loc, data }));
      if ((await request(load)) !== true) return false;
      if (bytesRead === 0) return true;
      loc += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
