// The parts of Vault's documented HTTP interface that Halite uses, imitated: engines kv version 1 (kv/) and 2 (secret/),
// tokens with policies and a number of uses, approle, wrapping, unsealing. No real Vault: what it checks is the request.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface VaultToken {
  readonly policies: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  readonly explicitMaxTtl: string | undefined;
  uses: number;
}

export interface VaultLike {
  readonly url: string;
  readonly tokens: Map<string, VaultToken>;
  /** Every token there ever was, in order. */
  readonly made: VaultToken[];
  /** kv version 1: path → values. */
  readonly plain: Map<string, Record<string, unknown>>;
  /** kv version 2: path → versions, null for destroyed ones. */
  readonly versioned: Map<string, (Record<string, unknown> | null)[]>;
  /** `METHOD path` of every request, in order. */
  readonly seen: string[];
  readonly namespaces: (string | undefined)[];
  unsealKeysLeft: number;
  stop(): Promise<void>;
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: string | undefined;
  readonly body: Record<string, unknown>;
}
type Answer = readonly [status: number, body?: unknown];

const denied: Answer = [403, { errors: ['permission denied'] }];
const missing: Answer = [404, { errors: [] }];
export const rootToken = 'hvs.root';
export const role = { role_id: 'role-1', secret_id: 'secret-1' };

async function questionOf(request: IncomingMessage): Promise<Question> {
  const url = new URL(request.url ?? '/', 'http://vault');
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString('utf8');
  if (text !== '' && request.headers['content-type'] !== 'application/json') throw new Error('the body is not JSON');
  const token = request.headers['x-vault-token'];
  return {
    method: request.method ?? '',
    path: decodeURIComponent(url.pathname).replace(/^\/v1\//, ''),
    query: url.searchParams,
    token: typeof token === 'string' ? token : undefined,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** A use of the token counts, whatever comes of it. */
function isAllowed(vault: VaultLike, token: string | undefined): boolean {
  const known = token === undefined ? undefined : vault.tokens.get(token);
  if (!known) return false;
  if (known.uses === 0) return true;
  known.uses -= 1;
  if (known.uses === 0) vault.tokens.delete(token as string);
  return true;
}

function newToken(vault: VaultLike, body: Record<string, unknown>): Answer {
  const token = `hvs.${randomUUID()}`;
  const fresh: VaultToken = {
    policies: (body['policies'] as string[] | undefined) ?? ['default'],
    meta: (body['meta'] as Record<string, string> | undefined) ?? {},
    explicitMaxTtl: body['explicit_max_ttl'] as string | undefined,
    uses: (body['num_uses'] as number | undefined) ?? 0,
  };
  vault.tokens.set(token, fresh);
  vault.made.push(fresh);
  return [200, { auth: { client_token: token, lease_duration: 3600, renewable: false } }];
}

function open(vault: VaultLike, { method, path, body }: Question): Answer | undefined {
  if (method === 'PUT' && path === 'sys/unseal') {
    if (typeof body['key'] !== 'string') return [400, { errors: ["'key' must be specified"] }];
    vault.unsealKeysLeft -= 1;
    return [200, { sealed: vault.unsealKeysLeft > 0 }];
  }
  if (method !== 'POST' || path !== 'auth/approle/login') return undefined;
  const good = body['role_id'] === role.role_id && body['secret_id'] === role.secret_id;
  return good ? newToken(vault, { policies: ['master'] }) : [400, { errors: ['invalid role or secret ID'] }];
}

function mounts(path: string): Answer {
  const mount = ['kv', 'secret', 'deep/kv'].find((name) => `${path}/`.startsWith(`${name}/`));
  if (!mount) return denied;
  const version = mount === 'kv' ? '1' : '2';
  return [200, { data: { type: 'kv', path: `${mount}/`, options: { version } } }];
}

function versionOne(vault: VaultLike, { method, path, query, body }: Question): Answer {
  if (query.get('list') === 'true') return listed([...vault.plain.keys()], path);
  if (method === 'GET') return vault.plain.has(path) ? [200, { data: vault.plain.get(path) }] : missing;
  if (method === 'DELETE') vault.plain.delete(path);
  else vault.plain.set(path, body);
  return [204];
}

function listed(paths: readonly string[], folder: string): Answer {
  const base = folder.endsWith('/') ? folder : `${folder}/`;
  const below = paths.filter((path) => path.startsWith(base)).map((path) => path.slice(base.length));
  const keys = [...new Set(below.map((path) => path.replace(/\/.*/, '/')))].sort();
  return keys.length > 0 ? [200, { data: { keys } }] : missing;
}

function versionTwo(vault: VaultLike, { method, path, query, body }: Question): Answer {
  const [, mount = '', word = '', name = ''] = /^(secret|deep\/kv)\/(data|metadata|destroy)\/?(.*)$/.exec(path) ?? [];
  if (word === '') return [404, { errors: [], warnings: ['Invalid path for a versioned K/V secrets engine'] }];
  const full = `${mount}/${name}`;
  const versions = vault.versioned.get(full) ?? [];
  if (word === 'metadata') return query.get('list') === 'true' ? listed([...vault.versioned.keys()], full) : missing;
  if (word === 'destroy') {
    for (const number of body['versions'] as number[]) versions[number - 1] = null;
    return [204];
  }
  if (method === 'DELETE') return vault.versioned.delete(full) ? [204] : missing;
  if (method === 'GET') {
    const data = versions.at(-1);
    return data ? [200, { data: { data, metadata: { version: versions.length } } }] : missing;
  }
  if (typeof body['data'] !== 'object') return [400, { errors: ['no data provided'] }];
  vault.versioned.set(full, [...versions, body['data'] as Record<string, unknown>]);
  return [200, { data: { version: versions.length + 1 } }];
}

function answer(vault: VaultLike, question: Question): Answer {
  const { path, method, token, body } = question;
  const free = open(vault, question);
  if (free) return free;
  if (!isAllowed(vault, token)) return denied;
  if (path === 'auth/token/lookup-self') return [200, { data: { id: token } }];
  if (method === 'POST' && /^auth\/token\/create(\/minions)?$/.test(path)) return newToken(vault, body);
  if (path.startsWith('sys/internal/ui/mounts/')) return mounts(path.slice('sys/internal/ui/mounts/'.length));
  return path.startsWith('kv/') ? versionOne(vault, question) : versionTwo(vault, question);
}

export async function startVaultLike(): Promise<VaultLike> {
  const root: VaultToken = { policies: ['root'], meta: {}, explicitMaxTtl: undefined, uses: 0 };
  const seen: string[] = [];
  const namespaces: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const question = await questionOf(request);
      seen.push(`${question.method} ${question.path}`);
      namespaces.push(request.headers['x-vault-namespace'] as string | undefined);
      const [status, body] = answer(vault, question);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    })().catch((error: unknown) => {
      response.writeHead(400);
      response.end(JSON.stringify({ errors: [String(error)] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const vault: VaultLike = {
    url: `http://127.0.0.1:${port}`,
    tokens: new Map([[rootToken, root]]),
    made: [],
    plain: new Map(),
    versioned: new Map(),
    ...{ seen, namespaces, unsealKeysLeft: 3 },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return vault;
}
