// The chunks of a file in order, with several concurrent requests.
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { dictGet, fieldOf, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { leastChunkBytes, mostChunkBytes } from '../file-chunks.ts';

/** One request to a file server; raw replies keep their bytes, and some fields are only for a Halite master. */
export type FileRequest = (
  load: PlainDict,
  options?: { readonly raw?: boolean; readonly halite?: PlainDict },
) => Promise<Value>;

export interface Wanted {
  readonly path: string;
  readonly saltenv: string;
  readonly gzip?: number | undefined;
  /** Its size, when the server sent it; saves the last, empty chunk. */
  readonly size?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly retryMs?: readonly number[] | undefined;
}

/** Enough to keep a real master's workers busy and a Halite master's socket full. */
const mostInFlight = 6;
const bytesInFlight = 8 << 20;
/** Requested first to measure the speed of the connection; not a chunk size that any server uses. */
const probeBytes = 250_000;
/** The rest of a file is requested at once up to this size. */
const atOnceBytes = 1 << 20;
/** How long one chunk may take. */
const chunkMs = 2000;
/** A restarting master is available again within these waits. */
const defaultRetryMs = [200, 1000, 3000] as const;
const maxChunkBytes = 256 << 20;
const unzip = promisify(gunzip);

/**
 * Chunks from a position to the end. The first one shows which size the server uses or, when it returns the requested
 * size, how fast the connection is; the positions of the next ones are predicted from that. A shorter chunk than
 * predicted invalidates the predictions, and they are made again.
 */
export async function* fetchChunks(request: FileRequest, wanted: Wanted, from = 0): AsyncGenerator<Uint8Array> {
  const size = wanted.size ?? Number.POSITIVE_INFINITY;
  let position = from;
  /** The size that the server returned when it was less than requested. */
  let limit = mostChunkBytes;
  while (position < size) {
    const asked = Math.min(limit, size - position <= atOnceBytes ? size - position : probeBytes);
    const started = performance.now();
    const first = await fetchChunk(request, wanted, position, asked);
    if (first.length === 0) return;
    position += first.length;
    yield first;
    const step = first.length === asked ? Math.min(limit, stepFor(asked, performance.now() - started)) : first.length;
    for await (const chunk of guessed(request, wanted, position, step, size)) {
      if (chunk.length === 0) return;
      position += chunk.length;
      yield chunk;
      if (chunk.length === step) continue;
      limit = Math.min(limit, chunk.length);
      break;
    }
  }
}

/** As large as a slow connection allows: every chunk has to arrive within the timeout of its request. */
function stepFor(bytes: number, ms: number): number {
  const fitting = 2 ** Math.floor(Math.log2((bytes / Math.max(ms, 1)) * chunkMs));
  return Math.min(mostChunkBytes, Math.max(leastChunkBytes, fitting));
}

/** Chunks of a known size, requested in advance, returned in order. */
async function* guessed(
  request: FileRequest,
  wanted: Wanted,
  from: number,
  step: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  const inFlight = Math.max(2, Math.min(mostInFlight, Math.floor(bytesInFlight / step)));
  const coming: Promise<Uint8Array>[] = [];
  let next = from;
  for (;;) {
    while (coming.length < inFlight && next < size) {
      const chunk = fetchChunk(request, wanted, next, Math.min(step, size - next));
      // A failure is noticed when its chunk is needed, or ignored when it is not needed any more.
      chunk.catch(() => undefined);
      coming.push(chunk);
      next += step;
    }
    const chunk = await coming.shift();
    if (chunk === undefined) return;
    yield chunk;
  }
}

/**
 * One chunk, of at most this many bytes where the server respects such a limit; an invalid answer and a lost connection
 * are retried.
 */
async function fetchChunk(request: FileRequest, wanted: Wanted, loc: number, most: number): Promise<Uint8Array> {
  const { path, saltenv, gzip } = wanted;
  const load = newDict(Object.entries({ cmd: '_serve_file', path, saltenv, loc }));
  if (gzip) load['gzip'] = gzip;
  const options = gzip ? { raw: true } : { raw: true, halite: newDict([['chunk', most]]) };
  for (const wait of [...(wanted.retryMs ?? defaultRetryMs), undefined]) {
    wanted.signal?.throwIfAborted();
    try {
      return await readChunk(await request(load, options));
    } catch (error) {
      if (wait === undefined || !isPassing(error)) throw error;
      await sleep(wait, undefined, wanted.signal ? { signal: wanted.signal } : {});
    }
  }
  throw new HaliteError('wire.closed', `A chunk of ${path} did not arrive`);
}

function isPassing(error: unknown): boolean {
  return error instanceof HaliteError && ['wire.closed', 'wire.timeout', 'codec.malformed'].includes(error.code);
}

async function readChunk(reply: Value): Promise<Uint8Array> {
  const data = fieldOf(reply, 'data');
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (!(bytes instanceof Uint8Array) || !isDict(reply)) {
    throw new HaliteError('codec.malformed', 'The master’s answer holds no chunk of a file');
  }
  if (!dictGet(reply, 'gzip')) return bytes;
  return unzip(bytes, { maxOutputLength: maxChunkBytes });
}
