// Authentication module `oidc`: an OpenID Connect provider has authenticated the user; the password is the token that it
// signed.
import type { KeyObject } from 'node:crypto';
import { asPlainDict, defineAuth, HaliteError, listTexts, type PlainDict, p, textField, type Value } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { httpCall } from '../shared/http/request.ts';
import { checkedUrl } from './shared/checked-url.ts';
import { checkClaims, checkSignature, type ParsedToken, parseToken, publicKey } from './shared/jwt.ts';

const timeoutMs = 10_000;
const mostBytes = 1024 * 1024;
/** Keys are fetched again when a token names an unknown one, but not for every forged token. */
const fetchAgainMs = 30_000;
const keepMs = 3_600_000;

async function fetchJson(url: string): Promise<PlainDict> {
  const { text } = await httpCall({ service: 'oidc', url, timeoutMs, maxBytes: mostBytes });
  const found = asPlainDict(loadJson(text));
  if (!found) throw new HaliteError('call.failed', `oidc: ${url} sent no map`);
  return found;
}

/** The keys of a provider, found through its configuration. */
class ProviderKeys {
  readonly #issuer: string;
  #keys: readonly Value[] = [];
  #fetched = 0;
  #fetching: Promise<void> | undefined;

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  async of(token: ParsedToken): Promise<KeyObject[]> {
    const age = Date.now() - this.#fetched;
    if (age > keepMs) await this.#fetch();
    const found = this.#matching(token);
    if (found.length > 0 || age < fetchAgainMs) return found;
    await this.#fetch();
    return this.#matching(token);
  }

  #matching(token: ParsedToken): KeyObject[] {
    return this.#keys.flatMap((key) => publicKey(key, token) ?? []);
  }

  #fetch(): Promise<void> {
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    const issuer = this.#issuer.replace(/\/$/, '');
    const configuration = await fetchJson(`${issuer}/.well-known/openid-configuration`);
    if (configuration['issuer'] !== this.#issuer)
      throw new HaliteError(
        'config.value',
        `oidc: the provider says that it is ${String(configuration['issuer'])}, not ${this.#issuer}`,
      );
    const address = checkedUrl('oidc: jwks_uri', textField(configuration, 'jwks_uri') ?? '');
    const { keys } = await fetchJson(address);
    this.#keys = Array.isArray(keys) ? keys : [];
    this.#fetched = Date.now();
  }
}

export default defineAuth({
  name: 'oidc',
  doc: 'An OpenID Connect provider: the password is a token that it has signed for this client. The name is in the token.',
  settings: {
    issuer: p.string({ doc: 'the provider, exactly as it names itself' }),
    client_id: p.string({ doc: 'the name of this client there' }),
    audience: p.strings({ default: [], doc: 'further audiences that are accepted, as of access tokens' }),
    username_claim: p.string({ default: 'preferred_username', doc: 'the field with the name of the user' }),
    groups_claim: p.string({ default: 'groups', doc: 'the field with the groups' }),
    client_secret_file: p.path({ default: '', doc: 'for the console: the file with the secret of this client' }),
    scopes: p.strings({ default: [], doc: 'for the console: what is asked of the provider' }),
    label: p.string({ default: '', doc: 'for the console: the words of the button' }),
    redirect_uri: p.string({ default: '', doc: 'for the console: where the provider sends the browser back to' }),
  },
  open({ issuer, client_id: client, audience, username_claim: nameClaim, groups_claim: groupsClaim }) {
    checkedUrl('oidc: ^issuer', issuer);
    const keys = new ProviderKeys(issuer);
    const expected = { issuer, audiences: [client, ...audience] };
    return {
      async check({ username, password }) {
        const token = parseToken(password);
        checkClaims(token.claims, expected);
        const known = await keys.of(token);
        if (!known.some((key) => checkSignature(token, key)))
          throw new HaliteError('auth.failed', 'no key of the provider has signed the token');
        const name = textField(token.claims, nameClaim);
        if (!name) throw new HaliteError('auth.failed', `the token has no ${nameClaim}`);
        if (username !== '' && username !== name) throw new HaliteError('auth.failed', 'the token is of another user');
        return { username: name, groups: listTexts(token.claims[groupsClaim] ?? null) };
      },
    };
  },
});
