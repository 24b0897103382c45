// An OpenID Connect provider from a real implementation: oidc-provider of the npm registry, installed once for all runs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOnce, testCache } from '../build-once.ts';
import { type Item, isMissing } from '../prepared.ts';
import { type RunningServer, startServer } from './server.ts';

const version = '8.8.1';
const folder = join(testCache, `oidc-provider-${version}`);
const program = join(folder, 'node_modules', 'oidc-provider', 'lib', 'index.js');

export const oidcProviderItem: Item = {
  name: `oidc-provider ${version}`,
  tiers: ['backends'],
  need: 'required',
  isThere: () => existsSync(join(folder, '.complete')),
  make() {
    const options = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', '--omit=optional'];
    buildOnce(folder, [
      ['npm', 'install', '--prefix', folder, ...options, `oidc-provider@${version}`],
      ['test', '-e', program],
    ]);
  },
};

/** A client for each algorithm with which the provider signs. */
export const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type Algorithm = (typeof algorithms)[number];
const redirect = 'https://client.example.com/back';

const script = (port: number): string => `
import { generateKeyPairSync } from 'node:crypto';
import { Provider } from ${JSON.stringify(pathToFileURL(program).href)};
const key = (kid, alg, type, options) =>
  ({ ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' });
const keys = [
  key('rs', 'RS256', 'rsa', { modulusLength: 2048 }),
  key('ps', 'PS256', 'rsa', { modulusLength: 2048 }),
  key('es', 'ES256', 'ec', { namedCurve: 'P-256' }),
  key('ed', 'EdDSA', 'ed25519'),
];
const algorithms = ${JSON.stringify(algorithms)};
const clients = algorithms.map((alg) => ({
  client_id: 'salt-' + alg, client_secret: 'client secret', redirect_uris: [${JSON.stringify(redirect)}],
  id_token_signed_response_alg: alg, grant_types: ['authorization_code'], response_types: ['code'],
}));
// On the loopback interface the port is free, as for programs on the user's own machine.
clients.push({
  ...clients[0], client_id: 'console', application_type: 'native',
  redirect_uris: ['http://127.0.0.1/halite/v1/oidc/callback'],
});
const provider = new Provider('http://127.0.0.1:${port}', {
  clients, jwks: { keys }, conformIdTokenClaims: false, pkce: { required: () => false },
  enabledJWA: { idTokenSigningAlgValues: algorithms },
  claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
  findAccount: (_ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, groups: ['staff', 'of ' + id] }),
  }),
});
provider.listen(${port}, '127.0.0.1');
`;

export interface OidcProvider extends RunningServer {
  readonly issuer: string;
  /** Logs a user in as a browser does, and returns the signed token that the provider gives the client. */
  idToken(user: string, algorithm: Algorithm): Promise<string>;
}

/** Starts one; undefined when it is not there. */
export async function startOidcProvider(): Promise<OidcProvider | undefined> {
  if (!oidcProviderItem.isThere()) return isMissing(oidcProviderItem.name);
  const server = await startServer({
    name: 'oidc',
    command: (port) => [process.execPath, '--input-type=module', '-e', script(port)],
    async ready(port) {
      const answer = await fetch(`http://127.0.0.1:${port}/.well-known/openid-configuration`);
      if (!answer.ok) throw new Error(`status ${answer.status}`);
    },
  });
  const issuer = `http://127.0.0.1:${server.port}`;
  return Object.assign(server, {
    issuer,
    idToken: (user: string, algorithm: Algorithm) => logIn(issuer, user, `salt-${algorithm}`),
  });
}

/** The pages of a login: redirects, the form for the name, the form for consent, and the redirect with the code. */
async function logIn(issuer: string, user: string, client: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
    const answer = await fetch(new URL(url, issuer), { redirect: 'manual', headers: { cookie }, ...body });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  const wanted = { client_id: client, redirect_uri: redirect, response_type: 'code', scope: 'openid profile groups' };
  let answer = await visit(`/auth?${new URLSearchParams(wanted)}`);
  for (let step = 0; step < 12; step++) {
    const next = answer.headers.get('location');
    if (next?.startsWith(redirect)) return exchange(issuer, client, new URL(next).searchParams.get('code') ?? '');
    if (next) answer = await visit(next);
    else {
      const page = await answer.text();
      const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
      const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
      answer = await visit(action, prompt === 'login' ? { prompt, login: user, password: 'any' } : { prompt });
    }
  }
  throw new Error('the provider did not finish the login');
}

async function exchange(issuer: string, client: string, code: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirect });
  const authorization = `Basic ${Buffer.from(`${client}:client%20secret`).toString('base64')}`;
  const answer = await fetch(`${issuer}/token`, { method: 'POST', body, headers: { authorization } });
  const found = (await answer.json()) as { id_token?: string };
  if (!found.id_token) throw new Error(`no token: ${JSON.stringify(found)}`);
  return found.id_token;
}
