// Engine `webhook`: takes requests over HTTP and fires an event for each.

import { isUtf8 } from 'node:buffer';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { defineEngine, type EngineContext, HaliteError, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';

const mostAtOnce = 64;
const longestPath = 1000;
const requestMs = 30_000;

/** Header names as Python's servers write them: `Content-Type`. */
const shownName = (name: string): string =>
  name.toLowerCase().replace(/(^|-)([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase());

function headersOf({ rawHeaders }: IncomingMessage): PlainDict {
  const headers = newDict();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = shownName(rawHeaders[at]!);
    const before = headers[name];
    headers[name] = before === undefined ? rawHeaders[at + 1]! : `${String(before)},${rawHeaders[at + 1]!}`;
  }
  return headers;
}

/** The tag behind the address; undefined for one that no tag can have. */
function tagOf(url: string): string | undefined {
  const path = url.split('?', 1)[0]!.slice(1);
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  return decoded.length > longestPath || /[\u0000-\u001f\u007f]/.test(decoded) ? undefined : decoded;
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > most) throw new Refusal(413, `the body is longer than ${most} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function take(request: IncomingMessage, most: number, ctx: EngineContext): Promise<void> {
  if (request.method !== 'POST') throw new Refusal(405, 'only POST');
  const tag = tagOf(request.url ?? '/');
  if (tag === undefined) throw new Refusal(400, 'this address cannot become a tag');
  const bytes = await bodyOf(request, most);
  const body: Value = isUtf8(bytes) ? bytes.toString('utf8') : new Uint8Array(bytes);
  const data = newDict(Object.entries({ headers: headersOf(request), body }));
  if (!(await ctx.fire(`salt/engines/hook/${tag}`, data))) throw new Refusal(503, 'the master cannot be reached');
}

function listener(most: number, ctx: EngineContext): (request: IncomingMessage, response: ServerResponse) => void {
  let busy = 0;
  return (request, response) => {
    const answer = (status: number, text = ''): void => {
      if (response.headersSent) return;
      response.writeHead(status, { 'content-type': 'text/plain', ...(status === 200 ? {} : { connection: 'close' }) });
      response.end(text);
    };
    if (busy >= mostAtOnce) return answer(503, 'busy');
    busy++;
    void take(request, most, ctx)
      .then(() => answer(200))
      .catch((error: unknown) => {
        if (!(error instanceof Refusal)) ctx.log.warn(`a request could not be taken: ${String(error)}`);
        answer(error instanceof Refusal ? error.status : 500, error instanceof Refusal ? error.message : 'failed');
      })
      .finally(() => {
        busy--;
      });
  };
}

/** Runs until it is closed; rejects when it cannot listen. */
function serve(server: Server, port: number, address: string | null, ctx: EngineContext): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      server.closeAllConnections();
      server.close(() => resolve());
    };
    server.once('error', (error) =>
      reject(new HaliteError('call.failed', `webhook cannot listen on port ${port}: ${error.message}`)),
    );
    server.listen({ port, ...(address === null ? {} : { host: address }) }, () => {
      ctx.log.info('takes webhooks', { address: address ?? 'all', port });
      if (ctx.signal.aborted) end();
    });
    ctx.signal.addEventListener('abort', end, { once: true });
  });
}

export default defineEngine({
  name: 'webhook',
  doc:
    'Takes POST requests and fires `salt/engines/hook/<path>` with headers and body. Whoever reaches the port can fire ' +
    'such events: there is no authentication.',
  examples: ['engines:\n  - webhook:\n      port: 8000\n      address: 10.128.1.145'],
  params: {
    address: p.string({ default: null, doc: 'The address to listen on; default: all.' }),
    port: p.int({ default: 5000, doc: 'The port.' }),
    ssl_crt: p.path({ default: null, doc: 'File of the certificate: with a key, HTTPS is spoken.' }),
    ssl_key: p.path({ default: null, doc: 'File of its key.' }),
    max_body: p.int({ default: 524_288, doc: 'The longest body in bytes; longer ones are answered with 413.' }),
  },
  async start({ address, port, ssl_crt, ssl_key, max_body }, ctx) {
    const handle = listener(max_body, ctx);
    const limits = { requestTimeout: requestMs, headersTimeout: requestMs, maxHeaderSize: 32_768 };
    const server =
      ssl_crt !== null && ssl_key !== null
        ? createSecureServer({ ...limits, cert: await readFile(ssl_crt), key: await readFile(ssl_key) }, handle)
        : createServer(limits, handle);
    server.maxConnections = mostAtOnce * 4;
    await serve(server, port, address, ctx);
  },
});
