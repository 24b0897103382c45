// Single sign-on for browsers: the provider of `external_auth: oidc` logs the user in and sends the browser back with a
// code. For this code the provider gives a signed token, which the master checks like the one of any other login.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { numberField, textField } from '../../base/codec/fields.ts';
import { parseValue } from '../../base/codec/json/index.ts';
import { asPlainDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Api } from '../api.ts';
import { ApiError, noPermission } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { logIn } from '../log-in.ts';
import type { SingleSignOn } from '../settings.ts';
import { agentOf } from './agent.ts';
import { notThere, problemOf } from './problems.ts';
import { openRoute, type Route } from './route.ts';
import { sessionCookie } from './session-cookie.ts';

const cookieName = 'halite_sso';
/** How long a user may take to log in at the provider. */
const patienceSeconds = 600;
const fetchMs = 10_000;
const mostBytes = 1024 * 1024;
const keepMs = 3_600_000;
/** What a browser brings back is believed only when this process has made it. */
const key = randomBytes(32);

/** What the callback must know; only the browser keeps it. */
interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirect: string;
  /** The page of the console that was asked for. */
  readonly to: string;
  readonly until: number;
}

const signatureOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest();

function sealed(begun: Begun): string {
  const text = Buffer.from(JSON.stringify(begun)).toString('base64url');
  return `${text}.${signatureOf(text).toString('base64url')}`;
}

function unsealed(header: string | undefined): Begun | undefined {
  const pair = (header ?? '').split(';').find((each) => each.trim().startsWith(`${cookieName}=`));
  const [text = '', signature = ''] =
    pair
      ?.trim()
      .slice(cookieName.length + 1)
      .split('.') ?? [];
  const [own, given] = [signatureOf(text), Buffer.from(signature, 'base64url')];
  if (own.length !== given.length || !timingSafeEqual(own, given)) return undefined;
  const begun = JSON.parse(Buffer.from(text, 'base64url').toString()) as Begun;
  return begun.until > Date.now() ? begun : undefined;
}

/** Secrets and codes cross the network only encrypted. */
function checkedAddress(text: string | undefined): URL {
  if (text === undefined || !URL.canParse(text)) throw unreachable('it names an address that is none');
  const url = new URL(text);
  const here = url.hostname === 'localhost' || url.hostname === '[::1]' || url.hostname.startsWith('127.');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && here))
    throw unreachable('it names an address without TLS');
  return url;
}

const unreachable = (why: string): HaliteError =>
  new HaliteError('daemon.unreachable', `The identity provider does not answer as it should: ${why}`);

async function fetchJson(url: URL, init: RequestInit = {}): Promise<PlainDict> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(fetchMs) });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > mostBytes) throw unreachable('its answer is too large');
  }
  if (!answer.ok) throw unreachable(`status ${answer.status}`);
  const found = asPlainDict(parseValue(Buffer.concat(parts).toString()));
  if (!found) throw unreachable('its answer is no map');
  return found;
}

let provider: { readonly issuer: string; readonly facts: PlainDict; readonly until: number } | undefined;

/** The provider's addresses, from its own description. */
async function providerOf({ issuer }: SingleSignOn): Promise<PlainDict> {
  if (provider?.issuer === issuer && provider.until > Date.now()) return provider.facts;
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const facts = await fetchJson(checkedAddress(address));
  if (facts['issuer'] !== issuer) throw unreachable('it has another name');
  provider = { issuer, facts, until: Date.now() + keepMs };
  return facts;
}

/** A provider that is away is no fault of this API, and tells the browser nothing about it. */
async function asked<T>({ log }: Api, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    log.limited('single sign-on', 'warn', 'the identity provider cannot be asked', { error: messageOf(error) });
    throw new ApiError(503, 'The identity provider does not answer.', { headers: { 'Retry-After': '5' } });
  }
}

const ownCookie = ({ settings }: Api, { peer }: Exchange, value: string, seconds: number): string =>
  [
    `${cookieName}=${value}`,
    `Path=${settings.rootPrefix}/halite/v1/oidc`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    // The provider sends the browser back: a strict cookie would not come along.
    'SameSite=Lax',
    ...(peer.secure ? ['Secure'] : []),
  ].join('; ');

function redirect({ response }: Exchange, to: string, cookies: readonly string[]): void {
  response.setHeader('Set-Cookie', cookies);
  response.writeHead(302, { Location: to, 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
}

function redirectUri({ settings }: Api, { request, peer }: Exchange, sso: SingleSignOn): string {
  if (sso.redirectUri !== undefined) return sso.redirectUri;
  const host = request.headers.host ?? '';
  if (!/^[\w.:[\]-]{1,255}$/.test(host)) throw new ApiError(400, 'The request names no host.');
  return `${peer.secure ? 'https' : 'http'}://${host}${settings.rootPrefix}/halite/v1/oidc/callback`;
}

/** Behind the `#` of the console's address. */
const pageOf = (to = '/'): string => (/^\/[\w\-./?=&%+~@:,*!'()]*$/.test(to) ? to : '/');

const random = (): string => randomBytes(32).toString('base64url');

async function start(api: Api, exchange: Exchange, to: string): Promise<void> {
  const sso = api.settings.singleSignOn;
  if (!sso) throw notThere();
  const begun: Begun = {
    ...{ state: random(), nonce: random(), verifier: random(), to },
    ...{ redirect: redirectUri(api, exchange, sso), until: Date.now() + patienceSeconds * 1000 },
  };
  const address = await asked(api, async () =>
    checkedAddress(textField(await providerOf(sso), 'authorization_endpoint')),
  );
  const wanted = {
    ...{ response_type: 'code', client_id: sso.clientId, redirect_uri: begun.redirect, scope: sso.scopes.join(' ') },
    ...{ state: begun.state, nonce: begun.nonce, code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
  };
  for (const [name, value] of Object.entries(wanted)) address.searchParams.set(name, value);
  redirect(exchange, address.href, [ownCookie(api, exchange, sealed(begun), patienceSeconds)]);
}

/** The signed token for a code. */
async function tokenFor(sso: SingleSignOn, code: string, begun: Begun): Promise<string> {
  const address = checkedAddress(textField(await providerOf(sso), 'token_endpoint'));
  const secret = sso.secretFile === undefined ? undefined : (await readFile(sso.secretFile, 'utf8')).trim();
  const basic = [sso.clientId, secret ?? ''].map(encodeURIComponent).join(':');
  const found = await fetchJson(address, {
    method: 'POST',
    headers: {
      Accept: 'application/json',
      ...(secret === undefined ? {} : { Authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: begun.redirect, code_verifier: begun.verifier },
      ...(secret === undefined ? { client_id: sso.clientId } : {}),
    }),
  });
  return textField(found, 'id_token') ?? '';
}

/** Made for this very login; the master checks everything else about it. */
function hasNonce(token: string, nonce: string): boolean {
  try {
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    return asPlainDict(parseValue(claims))?.['nonce'] === nonce;
  } catch {
    return false;
  }
}

interface Back {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
}

async function callback(api: Api, exchange: Exchange, { code, state }: Back, request: string): Promise<void> {
  const { settings } = api;
  const sso = settings.singleSignOn;
  if (!sso) throw notThere();
  const begun = unsealed(exchange.request.headers.cookie);
  const gone = ownCookie(api, exchange, '', 0);
  const page = `${settings.rootPrefix}/console/`;
  const refuse = (): void => redirect(exchange, `${page}?login=refused#${begun?.to ?? '/'}`, [gone]);
  if (!begun || begun.state !== state || code === undefined) return refuse();
  const token = await asked(api, () => tokenFor(sso, code, begun)).catch(() => '');
  if (!hasNonce(token, begun.nonce)) return refuse();
  const about = { agent: agentOf(exchange.request.headers), request };
  const login = { eauth: 'oidc', username: '', password: token };
  let made: PlainDict;
  try {
    made = await logIn(api, exchange, { login, about, refused: noPermission });
  } catch (error) {
    if (problemOf(error)?.status === 401) return refuse();
    throw error;
  }
  const own = textField(made, 'token') ?? '';
  const seconds = (numberField(made, 'expire') ?? 0) - Date.now() / 1000;
  redirect(exchange, `${page}#${begun.to}`, [sessionCookie(api, exchange, own, seconds), gone]);
}

const tag = 'session';

export const singleSignOnRoutes: readonly Route[] = [
  openRoute(
    {
      ...{ method: 'GET', path: '/oidc/start', id: 'startSingleSignOn', tag, status: 302, fails: [404] },
      query: z.strictObject({ to: z.string().max(2_048).optional() }),
      summary: 'Send a browser to the identity provider, which sends it back to the console.',
    },
    ({ api, exchange, query }) => start(api, exchange, pageOf(query.to)),
  ),
  openRoute(
    {
      ...{ method: 'GET', path: '/oidc/callback', id: 'endSingleSignOn', tag, status: 302, fails: [404] },
      query: z.looseObject({ code: z.string().max(8_192).optional(), state: z.string().max(256).optional() }),
      summary: 'Where the identity provider sends the browser back to.',
    },
    ({ api, exchange, query, request }) => callback(api, exchange, query, request),
  ),
];
