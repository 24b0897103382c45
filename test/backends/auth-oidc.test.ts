// Authentication with tokens of a real OpenID Connect provider, and with forged ones.
import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import oidc from '../../src/ext/auth/oidc.ts';
import { type OpenedModule, openModule } from '../support/auth-module.ts';
import { type Algorithm, algorithms, type OidcProvider, startOidcProvider } from '../support/servers/oidc.ts';

let provider: OidcProvider | undefined;
beforeAll(async () => {
  provider = await startOidcProvider();
});
afterAll(() => provider?.stop());

const opened = (client: Algorithm, more: Record<string, string> = {}): Promise<OpenedModule> =>
  openModule(oidc, {}, { issuer: provider?.issuer ?? '', client_id: `salt-${client}`, ...more });
type Claims = Record<string, unknown>;
const decoded = (text: string | undefined): Claims =>
  JSON.parse(Buffer.from(text ?? '', 'base64url').toString()) as Claims;
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('tokens of a provider', () => {
  it.each(algorithms)('signed with %s', async (algorithm) => {
    if (!provider) return;
    const token = await provider.idToken('fred', algorithm);
    expect(decoded(token.split('.')[0])['alg']).toBe(algorithm);
    const { session, groupsOf } = await opened(algorithm);
    expect(await session.check({ username: '', password: token })).toEqual({
      username: 'fred',
      groups: ['staff', 'of fred'],
    });
    expect(await groupsOf('fred', token)).toEqual(['of fred', 'staff']);
    expect(await groupsOf('ann', token)).toBeUndefined();
  });

  it('count only for the client, the issuer and the claim of the settings', async () => {
    if (!provider) return;
    const token = await provider.idToken('fred', 'RS256');
    expect(await (await opened('ES256')).accepts('fred', token)).toBe(false);
    expect(await (await opened('ES256', { audience: 'salt-RS256' })).accepts('fred', token)).toBe(true);
    expect(await (await opened('RS256', { issuer: `${provider.issuer}/` })).accepts('fred', token)).toBe(false);
    expect(await (await opened('RS256', { username_claim: 'nickname' })).accepts('', token)).toBe(false);
    expect(await (await opened('RS256', { username_claim: 'sub' })).accepts('fred', token)).toBe(true);
    await expect(opened('RS256', { issuer: 'http://login.example.com' })).rejects.toThrow(/https/);
  });

  it('are refused when anything in them was changed', async () => {
    if (!provider) return;
    const { accepts } = await opened('RS256');
    const token = await provider.idToken('fred', 'RS256');
    const [head = '', body = '', signature = ''] = token.split('.');
    const [header, claims] = [decoded(head), decoded(body)];
    expect(await accepts('fred', token)).toBe(true);
    const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const signed = (changedHeader: Claims, changed: Claims, key = own.privateKey): string => {
      const text = `${encoded(changedHeader)}.${encoded(changed)}`;
      return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
    };
    const { keys } = (await (await fetch(`${provider.issuer}/jwks`)).json()) as { keys: JsonWebKey[] };
    const published = createPublicKey({ key: keys.find(({ kid }) => kid === 'rs') as JsonWebKey, format: 'jwk' });
    const pem = published.export({ type: 'spki', format: 'pem' });
    const hmac = `${encoded({ ...header, alg: 'HS256' })}.${body}`;
    const forged: [string, string][] = [
      ['other claims', `${head}.${encoded({ ...claims, preferred_username: 'root' })}.${signature}`],
      ['no signature', `${head}.${body}.`],
      ['another signature', `${head}.${body}.${signature.slice(0, -4)}AAAA`],
      ['no algorithm', `${encoded({ ...header, alg: 'none' })}.${body}.`],
      ['the public key as a secret', `${hmac}.${createHmac('sha256', pem).update(hmac).digest('base64url')}`],
      ['another algorithm', `${encoded({ ...header, alg: 'PS256' })}.${body}.${signature}`],
      ['a key of its own', signed(header, claims)],
      ['a key in its header', signed({ ...header, jwk: own.publicKey.export({ format: 'jwk' }) }, claims)],
      ['keys at its address', signed({ ...header, jku: 'http://127.0.0.1:9/jwks', kid: 'x' }, claims)],
      ['an unknown key', signed({ alg: 'RS256', kid: '../../etc/passwd' }, claims)],
      ['extensions', signed({ ...header, crit: ['b64'] }, claims)],
      ['no claims', `${head}.${encoded([])}.${signature}`],
      ['four parts', `${token}.x`],
      ['nothing', '..'],
      ['text', 'secret'],
      ['a lot', 'x'.repeat(30_000)],
    ];
    for (const [what, text] of forged) expect(await accepts('', text), what).toBe(false);
  });

  it('are refused while the keys cannot be fetched, and accepted again afterwards', async () => {
    if (!provider) return;
    const token = await provider.idToken('fred', 'ES256');
    const { accepts } = await opened('ES256');
    await provider.pause();
    expect(await accepts('fred', token)).toBe(false);
    await provider.start();
    // It has new keys now, which did not sign the old token.
    expect(await accepts('fred', token)).toBe(false);
    const { accepts: later } = await opened('ES256');
    expect(await later('fred', await provider.idToken('fred', 'ES256'))).toBe(true);
  });
});
