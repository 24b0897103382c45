// Logging in and out of our own API, and who the caller is.
import { z } from 'zod';
import { numberField, textField } from '../../base/codec/fields.ts';
import { asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import { certificateModule } from '../client-certificates.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { logIn } from '../log-in.ts';
import { agentOf } from './agent.ts';
import { argsOf, openRoute, type Route, route } from './route.ts';
import { login, session } from './schemas.ts';
import { sendJson, sendNothing } from './send.ts';
import { sessionCookie } from './session-cookie.ts';

const labels: Readonly<Record<string, string>> = {
  auto: 'Without a check',
  file: 'Password file',
  ldap: 'LDAP',
  mysql: 'Database',
  oidc: 'Single sign-on',
  pam: 'System account (PAM)',
  pki: 'Certificate',
  rest: 'Web service',
  sharedsecret: 'Shared secret',
};

const refused = (): ApiError =>
  new ApiError(401, 'Could not authenticate using provided credentials', { code: 'auth.failed' });

const cookie = (api: Api, exchange: Exchange, token: string, seconds: number): Record<string, string> =>
  api.settings.enableSessions ? { 'Set-Cookie': sessionCookie(api, exchange, token, seconds) } : {};

/** What the master says about a token, in the name of its user. */
async function described(api: Api, exchange: Exchange, token: string): Promise<PlainDict> {
  const asked = api.master.session({ token }, exchange.peer.address);
  try {
    return asPlainDict(await asked.one('rights')) ?? newDict();
  } finally {
    asked.close();
  }
}

async function sendToken(api: Api, exchange: Exchange, made: PlainDict): Promise<void> {
  const token = textField(made, 'token') ?? '';
  const shown = newDict([['token', token], ...Object.entries(await described(api, exchange, token))]);
  const seconds = (numberField(made, 'expire') ?? 0) - Date.now() / 1000;
  sendJson(exchange, shown, 200, {
    'X-Auth-Token': token,
    'Cache-Control': 'private, no-store',
    ...cookie(api, exchange, token, seconds),
  });
}

export const sessionRoutes: readonly Route[] = [
  openRoute(
    {
      ...{ method: 'GET', path: '/auth-methods', id: 'getAuthMethods', tag: 'session' },
      summary:
        'The ways to log in. With `start`, a browser opens this address below `/halite/v1` instead of asking for a password.',
      answer: z.object({
        methods: z.array(z.object({ eauth: z.string(), label: z.string(), start: z.string().optional() })),
      }),
    },
    async ({ api, exchange }) => {
      const { eauth: modules, singleSignOn, clientAuthorities } = api.settings;
      const usable = modules.filter((eauth) => eauth !== certificateModule || clientAuthorities !== undefined);
      const methods = usable.map((eauth): Value => {
        const linked = eauth === 'oidc' ? singleSignOn : undefined;
        const label = linked?.label ?? labels[eauth] ?? eauth;
        return newDict([['eauth', eauth], ['label', label], ...(linked ? [['start', 'oidc/start'] as const] : [])]);
      });
      sendJson(exchange, newDict([['methods', methods]]));
    },
  ),
  openRoute(
    {
      ...{ method: 'POST', path: '/session', id: 'logIn', tag: 'session', body: login, answer: session },
      ...{ summary: 'Log in: a token, also as a cookie.', fails: [429] },
    },
    async ({ api, exchange, body, request }) => {
      const { token_expire: seconds, ...login } = body;
      const about = { agent: agentOf(exchange.request.headers), request };
      await sendToken(api, exchange, await logIn(api, exchange, { login, seconds, about, refused }));
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/session', id: 'getSession', tag: 'session', answer: session },
      summary: 'Who the caller is, and what the caller may do.',
    },
    async ({ exchange, session: master }) => sendJson(exchange, await master.one('rights')),
  ),
  route(
    { ...{ method: 'DELETE', path: '/session', id: 'logOut', tag: 'session', status: 204 }, summary: 'End the token.' },
    async ({ api, exchange, session: master }) => {
      await master.one('logout');
      sendNothing(exchange, cookie(api, exchange, '', 0));
    },
  ),
  route(
    {
      ...{ method: 'POST', path: '/session/renew', id: 'renewSession', tag: 'session', answer: session },
      summary: 'A new token that ends when the old one would have ended; the old one is dead.',
    },
    async ({ api, exchange, session: master }) =>
      sendToken(api, exchange, asPlainDict(await master.one('renew', argsOf({}))) ?? newDict()),
  ),
];
