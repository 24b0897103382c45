// Tokens: from this machine's own configuration, and tokens that a master creates for its minions.
import {
  type Dict,
  dictGet,
  type ExtensionLog,
  fieldOf,
  HaliteError,
  isDict,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { expandPattern, type Fields, MissingField } from './patterns.ts';
import { answerField, askVault, reasonOf, type VaultAnswer, type VaultServer, vaultText } from './request.ts';

export interface VaultConnection extends VaultServer {
  readonly token: string;
  /** The remaining number of uses; undefined: unlimited. */
  uses?: number;
  /** Expiry in seconds since 1970. */
  readonly until: number;
  /** Stored in a file, for later processes. */
  readonly onDisk?: boolean;
}

export const now = (): number => Math.round(Date.now() / 1000);

/** The options under `vault`. */
export function vaultConfig(opts: Readonly<Record<string, Value>>): PlainDict {
  const config = opts['vault'];
  if (config !== undefined && isDict(config) && !(config instanceof Map)) return config;
  throw new HaliteError('config.value', 'There is no "vault" section in the configuration', {
    hint: 'vault: {url: https://vault.example.com:8200, auth: {method: token, token: …}}',
  });
}

export function serverOf(config: PlainDict): VaultServer {
  const url = vaultText(config, 'url');
  if (url === null) throw missing('url');
  return { url, namespace: vaultText(config, 'namespace'), verify: config['verify'] ?? null };
}

const missing = (key: string): HaliteError =>
  new HaliteError('call.failed', `Minion has "vault" config section, but could not find key "'${key}'" within`);

function authOf(config: PlainDict): PlainDict {
  const auth = config['auth'];
  if (auth === undefined || !isDict(auth) || auth instanceof Map) throw missing('auth');
  return auth;
}

/** Tokens of approles by address and role; an approle logs in again when its token has expired. */
const roleTokens = new Map<string, string>();

/** The token of the configuration: written there, from an approle, or wrapped. */
export async function ownToken(config: PlainDict, signal?: AbortSignal): Promise<string> {
  const server = serverOf(config);
  const auth = authOf(config);
  const method = vaultText(auth, 'method');
  if (method === 'approle') return roleToken(server, auth, signal);
  const token = vaultText(auth, 'token');
  if (token === null) throw missing('token');
  return method === 'wrapped_token' ? unwrapped(server, token, signal) : token;
}

async function roleToken(server: VaultServer, auth: PlainDict, signal?: AbortSignal): Promise<string> {
  const role = vaultText(auth, 'role_id');
  if (role === null) throw missing('role_id');
  const place = `${server.url} ${server.namespace ?? ''} ${role}`;
  const known = roleTokens.get(place) ?? vaultText(auth, 'token');
  if (known) {
    const looked = await askVault(server, { path: 'auth/token/lookup-self', token: known, signal });
    if (looked.status === 200) return known;
  }
  const secret = vaultText(auth, 'secret_id');
  const json = dumpJson(newDict([['role_id', role], ...(secret === null ? [] : [['secret_id', secret] as const])]));
  const answer = await askVault(server, { path: 'auth/approle/login', json, signal });
  if (answer.status !== 200)
    throw new HaliteError('call.failed', 'An error occurred while getting a token from approle');
  const token = clientToken(answer);
  roleTokens.set(place, token);
  return token;
}

async function unwrapped(server: VaultServer, token: string, signal?: AbortSignal): Promise<string> {
  const place = `${server.url} wrapped ${token}`;
  const known = roleTokens.get(place);
  if (known) return known;
  const looked = await askVault(server, { method: 'POST', path: 'sys/wrapping/lookup', token, signal });
  if (looked.status !== 200) return token;
  const answer = await askVault(server, { method: 'POST', path: 'sys/wrapping/unwrap', token, signal });
  if (answer.status !== 200) throw new HaliteError('call.failed', 'An error occured while unwrapping vault token');
  const inner = clientToken(answer);
  roleTokens.set(place, inner);
  return inner;
}

function clientToken(answer: VaultAnswer): string {
  const auth = answerField(answer, 'auth');
  const token = fieldOf(auth, 'client_token');
  if (typeof token !== 'string') throw new HaliteError('call.failed', `The answer of ${answer.url} holds no token`);
  return token;
}

/** The policies of a minion's token. */
export function policiesFor(config: PlainDict, fields: Fields, log: ExtensionLog): string[] {
  const set = config['policies'];
  const patterns = Array.isArray(set) ? set.map(pyStr) : ['saltstack/minion/{minion}', 'saltstack/minions'];
  return patterns.flatMap((pattern) => {
    try {
      // Vault stores policy names in lower case.
      return expandPattern(pattern, fields).map((name) => name.toLowerCase());
    } catch (error) {
      if (!(error instanceof MissingField)) throw error;
      log.warn(`Could not resolve policy pattern ${pattern} for minion ${pyStr(fields['minion'] ?? '')}`);
      return [];
    }
  });
}

export interface TokenRequest {
  readonly minionId: string;
  readonly policies: readonly string[];
  /** The minion's requested limits, used only with `allow_minion_override`. */
  readonly ttl?: Value | undefined;
  readonly uses?: Value | undefined;
  readonly jid?: string | undefined;
  readonly user?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Creates a token for a minion: the answer of `vault.generate_token`, or `{error}`. */
export async function mintToken(config: PlainDict, wanted: TokenRequest): Promise<PlainDict> {
  const auth = authOf(config);
  const override = auth['allow_minion_override'] === true;
  const chosen = (asked: Value | undefined, name: string, fallback: Value): Value =>
    override && asked !== undefined && asked !== null ? asked : (auth[name] ?? fallback);
  const uses = Number(chosen(wanted.uses, 'uses', 1));
  const ttl = chosen(wanted.ttl, 'ttl', null);
  if (wanted.policies.length === 0) return newDict([['error', 'No policies matched minion']]);
  const server = serverOf(config);
  const role = vaultText(config, 'role_name');
  const meta = newDict([
    ['saltstack-jid', wanted.jid ?? '<no jid set>'],
    ['saltstack-minion', wanted.minionId],
    ['saltstack-user', wanted.user ?? '<no user set>'],
  ]);
  const payload = newDict([
    ['policies', [...wanted.policies]],
    ['num_uses', uses],
    ['meta', meta],
  ]);
  if (ttl !== null) payload['explicit_max_ttl'] = pyStr(ttl);
  const answer = await askVault(server, {
    path: `auth/token/create${role ? `/${role}` : ''}`,
    token: await ownToken(config, wanted.signal),
    json: dumpJson(payload),
    signal: wanted.signal,
  });
  if (answer.status !== 200) return newDict([['error', reasonOf(answer.status)]]);
  return grant(answer, config, uses);
}

function grant(answer: VaultAnswer, config: PlainDict, uses: number): PlainDict {
  const data = answerField(answer, 'auth') as Dict;
  const result = newDict([
    ['token', clientToken(answer)],
    ['lease_duration', dictGet(data, 'lease_duration') ?? 0],
    ['renewable', dictGet(data, 'renewable') ?? false],
    ['issued', now()],
    ['url', vaultText(config, 'url') ?? ''],
    ['verify', config['verify'] ?? null],
    ['token_backend', authOf(config)['token_backend'] ?? 'session'],
    ['namespace', config['namespace'] ?? null],
  ]);
  if (uses >= 0) result['uses'] = uses;
  return result;
}
