// Files with any URL except `salt://`: from the web into the cache or to a path, from disk unchanged.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { UrlOptions } from '../../../extend/sdk/index.ts';
import { hashFile } from '../hashes.ts';
import { fromChunks, placeFile } from './place.ts';
import type { CachePlaces } from './places.ts';
import { urlParts } from './url.ts';
import { openWeb, type WebAnswer } from './web.ts';

/** Digests by their length in hexadecimal. */
const hashTypes: Readonly<Record<number, string>> = {
  32: 'md5',
  40: 'sha1',
  56: 'sha224',
  64: 'sha256',
  96: 'sha384',
  128: 'sha512',
};

export class UrlFetcher {
  readonly #opts: Readonly<Record<string, Value>>;
  readonly #places: CachePlaces;
  readonly #signal: AbortSignal | undefined;

  constructor(opts: Readonly<Record<string, Value>>, places: CachePlaces, signal: AbortSignal | undefined) {
    this.#opts = opts;
    this.#places = places;
    this.#signal = signal;
  }

  /** Downloads a URL to `dest`, or to the cache when that is ''. False when the folder is missing. */
  async get(url: string, dest: string, options: UrlOptions & { readonly saltenv: string }): Promise<string | false> {
    const local = localPath(url);
    if (local !== undefined) return local;
    requireWeb(url);
    const place = dest === '' ? this.#places.external(url, options.saltenv) : await withUrlName(dest, url);
    // Salt's own answer to a URL whose path leaves the cache; it is not a path, and nothing is written.
    if (!isAbsolute(place)) throw new HaliteError('path.refused', `${place}: ${url}`);
    if (dest === '' && (await hasDigest(place, options.sourceHash))) return place;
    const folder = await stat(dirname(place)).catch(() => undefined);
    if (!folder?.isDirectory()) {
      if (dest !== '' && !options.makedirs) return false;
      await mkdir(dirname(place), { recursive: true });
    }
    return this.#download(url, place, options);
  }

  async read(url: string, options: UrlOptions): Promise<Buffer | undefined> {
    const local = localPath(url);
    if (local !== undefined) return readFile(local);
    requireWeb(url);
    const { body } = await this.#open(url, options, {});
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async #download(url: string, place: string, options: UrlOptions): Promise<string> {
    const tagFile = `${place}.etag`;
    const known = options.useEtag && (await stat(place).catch(() => undefined)) ? await readTag(tagFile) : undefined;
    const answer = await this.#open(url, options, known ? { 'if-none-match': known } : {});
    if (answer.status === 304) return place;
    await placeFile(
      { dest: place, mode: 0o666, resumable: false },
      fromChunks(() => answer.body),
    );
    if (options.useEtag && answer.etag !== undefined) await writeFile(tagFile, answer.etag);
    return place;
  }

  #open(url: string, options: UrlOptions, headers: Readonly<Record<string, string>>): Promise<WebAnswer> {
    const seconds = (name: string, otherwise: number): number => Number(this.#opts[name]) || otherwise;
    return openWeb(url, {
      verifySsl: options.verifySsl !== false,
      headers,
      connectTimeoutMs: seconds('http_connect_timeout', 20) * 1000,
      requestTimeoutMs: seconds('http_request_timeout', 3600) * 1000,
      signal: this.#signal,
    });
  }
}

/** The path of `file://…` and of a plain path; undefined for any other URL. */
function localPath(url: string): string | undefined {
  const { scheme, netloc, path } = urlParts(url, false);
  if (scheme !== 'file' && scheme !== '') return undefined;
  const full = (path.startsWith('/') ? path : join(netloc, path)).replace(/\/+$/, '');
  if (!isAbsolute(full)) throw new HaliteError('call.failed', `Path '${full}' is not absolute`);
  return full;
}

function requireWeb(url: string): void {
  const { scheme } = urlParts(url);
  if (scheme === 'http' || scheme === 'https') return;
  throw new HaliteError('call.failed', `Unsupported url scheme: ${url}`, {
    hint: 'Use salt://, http://, https:// or file://.',
  });
}

/** A folder as destination gets the file with the last part of its URL as name. */
async function withUrlName(dest: string, url: string): Promise<string> {
  const found = await stat(dest).catch(() => undefined);
  if (!found?.isDirectory() && !/[/\\]$/.test(dest)) return dest;
  const { path, query } = urlParts(url, false);
  const named = query !== '' || (path.length > 1 && !path.endsWith('/'));
  return join(dest, named ? basename(url.split('/').at(-1) ?? '') || 'index.html' : 'index.html');
}

async function hasDigest(path: string, sourceHash: string | undefined): Promise<boolean> {
  const digest = sourceHash?.split('=').at(-1) ?? '';
  const type = hashTypes[digest.length];
  if (!type) return false;
  return (await hashFile(path, type).catch(() => undefined)) === digest;
}

async function readTag(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.replaceAll('\n', '').trim() || undefined;
}
