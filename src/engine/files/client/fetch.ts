// Downloads one file of the file server to a path on this machine, unless it is already there.
import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asText, dictGet, isDict, newDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { FileHash } from '../../../extend/sdk/index.ts';
import { mostBytesAlong } from '../file-chunks.ts';
import { hashFile, hashSmallFile, isHashType, newHash } from '../hashes.ts';
import { type FileRequest, fetchChunks, type Wanted } from './chunks.ts';
import { fromChunks, makeCacheFolder, type Placement, placeFile } from './place.ts';
import { makeFolderNow, placeNow, smallBytes, statNow } from './place-small.ts';
import { fromSlices } from './slices.ts';
import type { FileSource } from './source.ts';

export interface ServerFile {
  readonly hash: FileHash;
  readonly stat: number[] | undefined;
  /** Its content, if the server included it; not yet compared with the digest. */
  readonly data?: Uint8Array | undefined;
}

/** Smaller files are fetched again instead of being resumed, and use no separate code path. */
const largeFrom = 8 << 20;
/** The default of `hash_type`. */
const usualHash = 'sha256';
/** A file that changes while it is sent does not match its earlier digest. */
const attempts = 3;

/**
 * Digest and stat of a file on the server; undefined when it does not exist. With `have`, the digest of the local copy,
 * a Halite master includes a small file that differs from it.
 */
export async function askFile(
  request: FileRequest,
  path: string,
  saltenv: string,
  have?: string,
): Promise<ServerFile | undefined> {
  const load = newDict(Object.entries({ cmd: '_file_hash_and_stat', path, saltenv }));
  const halite = newDict(Object.entries({ have: have ?? '', chunk: mostBytesAlong }));
  const reply = await request(load, have === undefined ? {} : { raw: true, halite });
  const [hash, numbers, data] = Array.isArray(reply) ? reply : [reply, null];
  if (hash === undefined || !isDict(hash)) return undefined;
  const hsum = digestText(dictGet(hash, 'hsum'));
  const hash_type = digestText(dictGet(hash, 'hash_type'));
  if (hsum === undefined || hash_type === undefined) return undefined;
  const isStat = Array.isArray(numbers) && numbers.every((item) => typeof item === 'number');
  const along = data instanceof Uint8Array ? data : undefined;
  return { hash: { hash_type, hsum }, stat: isStat ? (numbers as number[]) : undefined, data: along };
}

/** The digest of a small local file, of the default kind of masters; empty for all others. */
function digestHere(path: string, keep?: (content: Buffer) => void): string {
  try {
    return existsSync(path) ? (hashSmallFile(path, usualHash, keep) ?? '') : '';
  } catch {
    return '';
  }
}

/** Salt's gitfs sends digests that it has read from its cache as bytes. */
function digestText(value: Value | undefined): string | undefined {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return asText(value);
}

export interface CacheOptions {
  /** The folder that contains the cache. */
  readonly top: string;
  /** The hash that the server has just given for the file. */
  readonly served?: FileHash | undefined;
  /** Called with the content if it is in memory anyway. */
  readonly onContent?: ((content: Buffer) => void) | undefined;
}

/** Into the minion's cache: folders with access for the owner only; files that block the path are removed. */
export async function fetchToCache(
  source: FileSource,
  wanted: Wanted,
  dest: string,
  { top, served, onContent }: CacheOptions,
): Promise<'there' | 'fetched' | 'missing'> {
  let content: Buffer | undefined;
  const here = digestHere(dest, onContent && ((bytes) => (content = bytes)));
  const there = (): 'there' => {
    if (content) onContent?.(content);
    return 'there';
  };
  if (here !== '' && served?.hash_type === usualHash && served.hsum === here) return there();
  const file = await askFile(source.send, wanted.path, wanted.saltenv, wanted.gzip ? undefined : here);
  if (!file) return 'missing';
  if (await hasContent(dest, file.hash, here)) return there();
  if (!makeFolderNow(dirname(dest), 0o700)) await makeCacheFolder(dirname(dest), top);
  if (statNow(dest)?.isDirectory()) await rm(dest, { recursive: true, force: true });
  await transfer(source, wanted, file, { dest, mode: 0o666, onContent });
  return 'fetched';
}

/** To a path that an operator named. A folder as destination gets the file with its own name. */
export async function fetchTo(
  source: FileSource,
  wanted: Wanted,
  dest: string,
  makedirs: boolean,
): Promise<{ path: string } | 'missing' | 'no folder'> {
  const place = await withName(dest, wanted.path);
  const here = digestHere(place);
  const file = await askFile(source.send, wanted.path, wanted.saltenv, wanted.gzip ? undefined : here);
  if (!file) return 'missing';
  if (await hasContent(place, file.hash, here)) return { path: place };
  const folder = await stat(dirname(place)).catch(() => undefined);
  if (!folder?.isDirectory()) {
    if (!makedirs) return 'no folder';
    await mkdir(dirname(place), { recursive: true });
  }
  await transfer(source, wanted, file, { dest: place, mode: 0o666 });
  return { path: place };
}

async function withName(dest: string, path: string): Promise<string> {
  const found = await stat(dest).catch(() => undefined);
  return found?.isDirectory() || /[/\\]$/.test(dest) ? join(dest, basename(path)) : dest;
}

/** Called for every file of every run by a process that does nothing else meanwhile: without using the thread pool. */
async function hasContent(path: string, hash: FileHash, here: string): Promise<boolean> {
  if (here !== '' && hash.hash_type === usualHash) return here === hash.hsum;
  if (!isHashType(hash.hash_type)) return false;
  if (!statNow(path)?.isFile()) return false;
  return (hashSmallFile(path, hash.hash_type) ?? (await hashFile(path, hash.hash_type))) === hash.hsum;
}

interface Place extends Pick<Placement, 'dest' | 'mode'>, Pick<CacheOptions, 'onContent'> {}

async function transfer(source: FileSource, wanted: Wanted, known: ServerFile, place: Place): Promise<void> {
  let file: ServerFile | undefined = known;
  for (let left = attempts; left > 0 && file; left--) {
    if (file.data && placeSmall(file.data, file.hash, place)) return;
    const size: number | undefined = file.stat && file.stat.length > 6 ? file.stat[6] : undefined;
    const resumable = size !== undefined && size >= largeFrom;
    const ask = { ...wanted, size };
    const fill =
      resumable && source.fetchSlice
        ? fromSlices(source.fetchSlice, source.send, { ...wanted, size })
        : fromChunks((from) => fetchChunks(source.send, ask, from));
    if (size !== undefined && size <= smallBytes && (await transferSmall(source, ask, file.hash, place))) return;
    if (await placeFile({ dest: place.dest, mode: place.mode, expected: file.hash, resumable }, fill)) return;
    file = await askFile(source.send, wanted.path, wanted.saltenv);
  }
  throw new HaliteError('call.failed', `${wanted.path} changed on the file server while it was fetched`, {
    hint: 'Try again when the file is not being written.',
  });
}

/** In memory; false when it does not match the digest, or the destination is not an ordinary file. */
async function transferSmall(source: FileSource, wanted: Wanted, hash: FileHash, place: Place): Promise<boolean> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of fetchChunks(source.send, wanted, 0)) {
    chunks.push(chunk);
    size += chunk.length;
    // It has grown since it was queried.
    if (size > 2 * smallBytes) return false;
  }
  return placeSmall(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), hash, place);
}

function placeSmall(bytes: Uint8Array, { hash_type, hsum }: FileHash, { dest, mode, onContent }: Place): boolean {
  if (isHashType(hash_type) && newHash(hash_type).update(bytes).digest('hex') !== hsum) return false;
  if (!placeNow(dest, bytes, mode)) return false;
  onContent?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  return true;
}
