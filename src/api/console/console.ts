// `/console/`: the page and its files. They hold no data and need no token; everything they show comes from `/halite/v1`.
import { ApiError, wrongMethod } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { consoleFiles } from './files.ts';

const root = '/console';

/** Nothing but the console's own files may be loaded, run or framed; nothing may be sent elsewhere. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

const guards: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export const isConsolePath = (path: string): boolean => path === root || path.startsWith(`${root}/`);

/** A browser that opens the root is led to the console; programs get their answer as ever. */
export function wantsConsole({ path, request }: Exchange): boolean {
  const { accept = '', 'sec-fetch-mode': mode, 'upgrade-insecure-requests': upgrade } = request.headers;
  return path === '' && accept.startsWith('text/html') && (mode === 'navigate' || upgrade === '1');
}

export function redirectToConsole({ response }: Exchange, prefix: string): void {
  response.writeHead(302, { Location: `${prefix}${root}/`, 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
}

export async function sendConsole(exchange: Exchange, prefix: string): Promise<void> {
  const { path, request, response, peer, method } = exchange;
  for (const [name, value] of Object.entries(guards)) response.setHeader(name, value);
  if (peer.secure) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
  response.setHeader('Allow', 'GET, HEAD');
  if (method !== 'GET' && method !== 'HEAD') throw wrongMethod();
  // The addresses of the page are relative, so it must be asked for as a folder.
  if (path === root && !/^[^?]*\/(\?|$)/.test(request.url ?? '')) {
    redirectToConsole(exchange, prefix);
    return;
  }
  const file = (await consoleFiles()).get(path.slice(root.length + 1));
  if (!file) throw new ApiError(404, 'The console has no such file');
  const coding = codingFor(request.headers['accept-encoding'] ?? '', file.packed);
  exchange.sendRaw({
    bytes: (coding === undefined ? undefined : file.packed.get(coding)) ?? file.plain,
    headers: {
      'Content-Type': file.type,
      // Names of assets change with their content.
      'Cache-Control': path === root ? 'no-cache' : 'public, max-age=31536000, immutable',
      ...(coding ? { 'Content-Encoding': coding } : {}),
    },
  });
}

function codingFor(accepted: string, packed: ReadonlyMap<string, Buffer>): string | undefined {
  const words = accepted
    .slice(0, 256)
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter((word) => !/;\s*q=0(\.0*)?$/.test(word))
    .map((word) => word.split(';')[0]!.trim());
  return ['br', 'gzip'].find((coding) => words.includes(coding) && packed.has(coding));
}
