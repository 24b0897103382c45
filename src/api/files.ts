// Files of `static` and `app`: only what is inside the folder, without lists of folders.
import { constants, createReadStream } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HaliteError } from '../base/errors/index.ts';
import { isInside, safeJoin } from '../base/util/safe-join.ts';
import { ApiError } from './http/errors.ts';
import type { Exchange } from './http/exchange.ts';

const types: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html; charset=utf-8', '.htm': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8' },
  ...{ '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.json': 'application/json' },
  ...{ '.txt': 'text/plain; charset=utf-8', '.md': 'text/plain; charset=utf-8', '.xml': 'application/xml' },
  ...{ '.svg': 'image/svg+xml', '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif' },
  ...{
    '.ico': 'image/x-icon',
    '.webp': 'image/webp',
    '.woff': 'font/woff',
    '.woff2': 'font/woff2',
    '.ttf': 'font/ttf',
  },
  ...{ '.wasm': 'application/wasm', '.map': 'application/json', '.pdf': 'application/pdf' },
};

const missing = ({ path }: Exchange): ApiError => new ApiError(404, `The path '${path.slice(0, 256)}' was not found.`);
const outside = (): ApiError => new ApiError(403, 'Request forbidden -- authorization will not help');

/** A file below a folder, by the part of the path behind the folder's own. */
export async function sendStatic(exchange: Exchange, folder: string, rest: string): Promise<void> {
  let path: string;
  try {
    path = safeJoin(folder, ...rest.split('/').filter((part) => part !== ''));
  } catch (error) {
    if (error instanceof HaliteError) throw outside();
    throw error;
  }
  const [root, real] = await Promise.all([realpath(folder), realpath(path)]).catch(() => {
    throw missing(exchange);
  });
  if (!isInside(root!, real!)) throw outside();
  await sendFile(exchange, real!);
}

export async function sendFile(exchange: Exchange, path: string): Promise<void> {
  // A pipe must not hold a thread until somebody writes to it; the checks are on the opened file.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => {
    throw missing(exchange);
  });
  try {
    const { size, mtime, mtimeMs, isFile } = await handle.stat().then((found) => ({
      size: found.size,
      mtime: found.mtime,
      mtimeMs: found.mtimeMs,
      isFile: found.isFile(),
    }));
    if (!isFile) throw missing(exchange);
    const { request, response } = exchange;
    const tag = `"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"`;
    const headers: Record<string, string | number> = {
      'Content-Type': types[extname(path).toLowerCase()] ?? 'application/octet-stream',
      'Last-Modified': mtime.toUTCString(),
      ETag: tag,
      'Accept-Ranges': 'bytes',
      'X-Content-Type-Options': 'nosniff',
    };
    if (request.headers['if-none-match'] === tag) {
      response.writeHead(304, headers).end();
      return;
    }
    const range = rangeOf(request.headers.range, size);
    if (range === 'wrong') {
      response.writeHead(416, { ...headers, 'Content-Range': `bytes */${size}`, 'Content-Length': 0 }).end();
      return;
    }
    const { start, end } = range ?? { start: 0, end: size - 1 };
    response.writeHead(range ? 206 : 200, {
      ...headers,
      ...(range ? { 'Content-Range': `bytes ${start}-${end}/${size}` } : {}),
      'Content-Length': Math.max(0, end - start + 1),
    });
    if (request.method === 'HEAD' || size === 0) {
      response.end();
      return;
    }
    // A client that does not read keeps no file open for ever.
    request.socket.setTimeout(60_000, () => request.socket.destroy());
    await pipeline(createReadStream('', { fd: handle, start, end, autoClose: false }), response).catch(() => undefined);
    request.socket.setTimeout(0);
  } finally {
    await handle.close();
  }
}

/** One range only: several are answered with the whole file. */
function rangeOf(header: string | undefined, size: number): { start: number; end: number } | 'wrong' | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (!found || (found[1] === '' && found[2] === '')) return undefined;
  const last = size - 1;
  const start = found[1] === '' ? Math.max(0, size - Number(found[2])) : Number(found[1]);
  const end = found[1] === '' || found[2] === '' ? last : Math.min(Number(found[2]), last);
  return start > end || start > last ? 'wrong' : { start, end };
}
