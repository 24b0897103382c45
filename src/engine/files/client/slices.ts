// Large files are written by the daemon, which has the connection, slice by slice; the job process verifies them.
import { open } from 'node:fs/promises';
import type { FileSlice } from '../../../extend/sdk/index.ts';
import { type FileRequest, fetchChunks, type Wanted } from './chunks.ts';
import { type Fill, fromChunks, type Part } from './place.ts';

/** Small enough that a cancelled job does not keep the daemon busy. */
const sliceBytes = 16 << 20;
/** The next slice is fetched while one is verified. */
const slicesAhead = 2;
const readBytes = 1 << 20;

/** Writes a slice of a file of the server to its position in a local file; returns the number of bytes. */
export async function fetchInto(request: FileRequest, slice: FileSlice): Promise<number> {
  const { path, saltenv, gzip, from, length, file } = slice;
  const end = from + length;
  const handle = await open(file, 'r+');
  try {
    let position = from;
    let writing: Promise<unknown> = Promise.resolve();
    for await (const chunk of fetchChunks(request, { path, saltenv, gzip, size: end }, from)) {
      const wanted = chunk.subarray(0, end - position);
      await writing;
      writing = handle.write(wanted, 0, wanted.length, position);
      writing.catch(() => undefined);
      position += wanted.length;
    }
    await writing;
    return position - from;
  } finally {
    await handle.close();
  }
}

/** Fills a partial file with a function that writes slices into it. */
export function fromSlices(
  write: (slice: FileSlice) => Promise<number>,
  request: FileRequest,
  wanted: Wanted & { readonly size: number },
): Fill {
  return async (part) => {
    if (!part.seekable) return fromChunks((from) => fetchChunks(request, wanted, from))(part);
    const { path, saltenv, gzip, size } = wanted;
    const coming: Promise<number>[] = [];
    let next = part.from;
    let good = part.from;
    try {
      for (;;) {
        while (coming.length < slicesAhead && next < size) {
          wanted.signal?.throwIfAborted();
          const length = Math.min(sliceBytes, size - next);
          const slice = write({ path, saltenv, from: next, length, file: part.path, ...(gzip ? { gzip } : {}) });
          slice.catch(() => undefined);
          coming.push(slice);
          next += length;
        }
        const written = await coming.shift();
        if (written === undefined) return;
        await hashRange(part, good, written);
        good += written;
      }
    } catch (error) {
      // The verified part has no gaps; only that may be resumed.
      await Promise.allSettled(coming);
      await part.handle.truncate(good);
      throw error;
    }
  };
}

async function hashRange({ handle, hash }: Part, from: number, length: number): Promise<void> {
  if (!hash) return;
  const buffer = Buffer.allocUnsafe(readBytes);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(readBytes, length - done), from + done);
    if (bytesRead === 0) return;
    hash.update(buffer.subarray(0, bytesRead));
    done += bytesRead;
  }
}
