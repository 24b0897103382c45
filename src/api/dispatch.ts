// From a request to its endpoint: the path, who asks, and what stands in between.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { newDict, type Value } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import { withoutToken } from './access-log.ts';
import type { Api } from './api.ts';
import { callerOf } from './authenticate.ts';
import { isConsolePath, redirectToConsole, sendConsole, wantsConsole } from './console/console.ts';
import { sendFile, sendStatic } from './files.ts';
import { type Body, bodyValue } from './http/body.ts';
import { corsHeaders, ownPreflightHeaders, preflightHeaders } from './http/cors.ts';
import { ApiError, errorPage, fromMaster, noCredentials, noPermission, wrongMethod } from './http/errors.ts';
import { Exchange } from './http/exchange.ts';
import { negotiate, notAcceptable, prefersHtml } from './http/negotiate.ts';
import { isListed, peerOf } from './http/peer.ts';
import { findRoute, isBelow, type Method, type Route } from './salt/routes.ts';
import type { ApiSettings } from './settings.ts';
import { newRequestId, problemOf, sendProblem } from './v1/problems.ts';

export interface Dispatcher {
  readonly api: Api;
  readonly routes: readonly Route[];
}

/** The path and the query of a request; undefined for what is no path. */
export function addressOf(url: string, prefix: string): { path: string; query: URLSearchParams } | undefined {
  const at = url.indexOf('?');
  const raw = at < 0 ? url : url.slice(0, at);
  if (!raw.startsWith('/') || raw.length > 4096) return undefined;
  let path: string;
  try {
    path = decodeURIComponent(raw);
  } catch {
    return undefined;
  }
  if (/[\x00-\x1f\x7f]/.test(path)) return undefined;
  if (prefix !== '' && path !== prefix && !path.startsWith(`${prefix}/`)) return undefined;
  return {
    path: path.slice(prefix.length).replace(/\/+$/, ''),
    query: new URLSearchParams(at < 0 ? '' : url.slice(at)),
  };
}

export async function dispatch(dispatcher: Dispatcher, request: IncomingMessage, response: ServerResponse) {
  const { settings, figures, log } = dispatcher.api;
  const peer = peerOf(request, settings.trustedProxies);
  const found = addressOf(request.url ?? '', settings.rootPrefix);
  const { path, query } = found ?? { path: '', query: new URLSearchParams() };
  const exchange = new Exchange({ request, response, path, query, peer, maxBodyBytes: settings.maxBodyBytes });
  exchange.media = negotiate(request.headers.accept) ?? exchange.media;
  const origin = { headers: request.headers, secure: peer.secure, allowed: settings.corsOrigin };
  for (const [name, value] of Object.entries(corsHeaders(origin))) response.setHeader(name, value);
  response.setHeader('Vary', 'Accept, Accept-Encoding, Origin');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  figures.requests += 1;
  figures.current += 1;
  const began = Date.now();
  response.once('close', () => {
    figures.current -= 1;
    figures.busyMs += Date.now() - began;
    figures.bytesRead += exchange.bytesRead;
    figures.bytesWritten += exchange.bytesWritten;
    dispatcher.api.accesses?.note({ request, response, from: peer.address, user: exchange.user });
  });
  // Also for an address that cannot be read: its form of errors is known.
  const own = (request.url ?? '').startsWith(`${settings.rootPrefix}${ownRoot}`);
  const id = newRequestId();
  if (own) response.setHeader('X-Request-Id', id);
  try {
    if (!found) throw new ApiError(404, 'Nothing matches the given URI');
    await serve(dispatcher, exchange, id);
  } catch (error) {
    const known = own ? problemOf(error) : fromMaster(error);
    if (!known) {
      figures.errors += 1;
      const facts = { request: id, path: shownPath(path), error: messageOf(error), stack: stackOf(error) };
      log.error('a request failed', facts);
    }
    if (own) sendProblem(exchange, known ?? new ApiError(500, 'An unexpected error occurred'), id);
    else refuse(exchange, known ?? new ApiError(500, 'An unexpected error occurred'), id);
  }
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '');

/** Tokens in addresses are not written anywhere. */
const shownPath = (path: string): string => withoutToken(path).slice(0, 256);

function refuse(exchange: Exchange, { status, message, extras }: ApiError, id: string): void {
  const fields: [string, Value][] = [
    ['status', status],
    ['return', message],
  ];
  if (extras.code) fields.push(['code', extras.code]);
  if (extras.hint) fields.push(['hint', extras.hint]);
  if (extras.done !== undefined) fields.push(['done', extras.done]);
  fields.push(['request', id]);
  const { headers = {} } = extras;
  if (prefersHtml(exchange.request.headers.accept)) exchange.sendRaw(errorPage(status, message, headers));
  else exchange.send({ status, value: newDict(fields), headers });
}

const isUnder = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/** Where our own API begins; its parts are loaded with the first request for it. */
const ownRoot = '/halite/v1';

async function serve({ api, routes }: Dispatcher, exchange: Exchange, id: string): Promise<void> {
  const { settings } = api;
  const { path, request, response, peer } = exchange;
  if (settings.authorizedIps && !isListed(peer.address, settings.authorizedIps)) throw new ApiError(403, 'Bad IP');
  const reads = exchange.method === 'GET' || exchange.method === 'HEAD';
  if (exchange.method === 'OPTIONS') {
    const headers = isUnder(path, ownRoot) ? ownPreflightHeaders : preflightHeaders;
    const allowed = response.hasHeader('Access-Control-Allow-Origin') ? Object.entries(headers) : [];
    for (const [name, value] of allowed) response.setHeader(name, value);
    response.writeHead(200, { 'Content-Length': 0 }).end();
    return;
  }
  if (settings.console && isConsolePath(path)) {
    await sendConsole(exchange, settings.rootPrefix);
    return;
  }
  if (isUnder(path, ownRoot)) {
    const { serveV1 } = await import('./v1/router.ts');
    await serveV1(api, exchange, id);
    return;
  }
  if (reads && (await servedFile(api, exchange))) return;
  if (settings.console && reads && wantsConsole(exchange)) {
    redirectToConsole(exchange, settings.rootPrefix);
    return;
  }
  const match = findRoute(routes, path);
  if (!match || (match.route.session && !settings.enableSessions)) {
    const below = isBelow(routes, path);
    throw new ApiError(404, below ? 'Nothing matches the given URI' : `The path '${shownPath(path)}' was not found.`);
  }
  const { route, rest } = match;
  response.setHeader('Allow', route.allow);
  const { accept } = request.headers;
  const refusal =
    route.stream || negotiate(accept) ? undefined : new ApiError(406, notAcceptable((accept ?? '').slice(0, 256)));
  const method = methodOf(route, exchange.method);
  if (method?.open && !route.guarded) {
    if (refusal && !method.checks) throw refusal;
    await method.open(api, exchange, rest, refusal);
    return;
  }
  // The endpoint of the events looks for the token itself, after the method.
  if (!method && (!route.guarded || route.stream)) throw wrongMethod();
  const caller = await callerOf(api, exchange, route.path === '/keys' ? noCredentials : noPermission);
  if (!method?.token) throw wrongMethod();
  // What is wrong with a request is said before how the answer would have looked.
  if (refusal && exchange.method === 'POST') bodyValueOf(await exchange.body());
  if (refusal) throw refusal;
  if (route.private) response.setHeader('Cache-Control', 'private');
  // Salt marks answers of `/` only when they are results.
  if (route.path === '') response.setHeader('Cache-Control', 'private');
  await method.token(api, exchange, caller, rest);
}

const bodyValueOf = (body: Body | undefined): Value => (body ? bodyValue(body) : null);

const methodOf = (route: Route, name: string): Method | undefined => {
  const wanted = name === 'HEAD' ? 'GET' : name;
  return Object.hasOwn(route.methods, wanted) ? route.methods[wanted] : undefined;
};

/** SaltGUI asks for the login methods with this file; where nobody has written it, the configuration answers. */
function sendLoginMethods(exchange: Exchange, { staticPath, saltguiMethods: methods }: ApiSettings): boolean {
  if (exchange.path !== `${staticPath}/salt-auth.txt` || !methods || methods.length === 0) return false;
  const bytes = Buffer.from(`${['CLEAR', ...methods].join('\n')}\n`);
  exchange.sendRaw({ bytes, headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' } });
  return true;
}

/** Files of `static` and `app`, and the page of `app` for browsers. */
async function servedFile({ settings }: Api, exchange: Exchange): Promise<boolean> {
  const { path, request } = exchange;
  if (settings.static && isUnder(path, settings.staticPath)) {
    await sendStatic(exchange, settings.static, path.slice(settings.staticPath.length)).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 404 || !sendLoginMethods(exchange, settings)) throw error;
    });
    return true;
  }
  if (path === '/favicon.ico' && settings.favicon) {
    await sendFile(exchange, settings.favicon);
    return true;
  }
  if (!settings.app) return false;
  const api = ['/events', '/ws', '/halite', '/console'].some((root) => isUnder(path, root));
  const page = !api && !isUnder(path, settings.staticPath) && prefersHtml(request.headers.accept);
  if (!page && !isUnder(path, settings.appPath)) return false;
  await sendFile(exchange, settings.app);
  return true;
}
