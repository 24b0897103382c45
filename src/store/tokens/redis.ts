// Tokens in Redis, for masters that share their users. Only digests are stored; the values end by themselves.
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import {
  digestOf,
  isToken,
  mostListed,
  newToken,
  readTokenValue,
  type StoredToken,
  type TokenData,
  type TokenStore,
  tokenValue,
  unavailable,
} from './tokens.ts';

export interface TokenRedisParts {
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Whether the server is a member of a Redis cluster. */
  readonly cluster: boolean;
  readonly hashType: string;
  readonly now?: () => number;
}

// The braces keep all of them on one server of a cluster.
const keyOf = (digest: string): string => `{halite}:token:${digest}`;
/** The digests by the time of their end. */
const index = '{halite}:tokens';

/** The callers of all API requests wait for these. */
const waitMs = 5_000;

interface Link {
  readonly client: Redis | Cluster;
  /** Why the connection was lost; the library reports that only as an event. */
  trouble: string;
}

export class TokenRedis implements TokenStore {
  readonly #parts: TokenRedisParts;
  #link: Promise<Link> | undefined;

  constructor(parts: TokenRedisParts) {
    this.#parts = parts;
  }

  async create(data: TokenData): Promise<StoredToken> {
    const token = newToken(this.#parts.hashType);
    const digest = digestOf(token);
    const left = Math.ceil(data.expire * 1000 - this.#now());
    // The value does not say whose token it is: it is bound to its key by the digest in the place of the token.
    const value = Buffer.from(pack(tokenValue({ ...data, token: digest }), { bin: true }));
    await this.#with(async (client) => {
      const done = await client
        .multi()
        .set(keyOf(digest), value, 'PX', Math.max(1, left))
        .zadd(index, data.expire, digest)
        .exec();
      for (const [error] of done ?? []) if (error) throw error;
    });
    return { ...data, token };
  }

  async get(token: string): Promise<StoredToken | undefined> {
    if (!isToken(token)) return undefined;
    const digest = digestOf(token);
    const bytes = await this.#with((client) => client.getBuffer(keyOf(digest)));
    if (!bytes) return undefined;
    const found = readStored(bytes, digest);
    if (found && found.expire * 1000 > this.#now()) return { ...found, token };
    await this.delete(token);
    return undefined;
  }

  async list(): Promise<StoredToken[]> {
    return this.#with(async (client) => {
      const digests = await client.zrangebyscore(index, this.#now() / 1000, '+inf', 'LIMIT', 0, mostListed);
      const found: StoredToken[] = [];
      for (let at = 0; at < digests.length; at += 500) {
        const part = digests.slice(at, at + 500);
        const values = await client.mgetBuffer(...part.map(keyOf));
        for (const [place, digest] of part.entries()) {
          const bytes = values[place];
          const stored = bytes ? readStored(bytes, digest) : undefined;
          if (stored) found.push(stored);
        }
      }
      return found;
    });
  }

  async delete(token: string): Promise<boolean> {
    if (!isToken(token)) return false;
    const digests = [digestOf(token), token];
    return this.#with(async (client) => {
      await client.zrem(index, ...digests);
      return (await client.del(...digests.map(keyOf))) > 0;
    });
  }

  /** The server has removed the values itself. */
  async sweep(): Promise<void> {
    await this.#with((client) => client.zremrangebyscore(index, '-inf', this.#now() / 1000));
  }

  close(): void {
    const link = this.#link;
    this.#link = undefined;
    link?.then(
      ({ client }) => client.disconnect(),
      () => undefined,
    );
  }

  #now(): number {
    return (this.#parts.now ?? Date.now)();
  }

  async #with<T>(work: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    this.#link ??= connected(this.#parts);
    const own = this.#link;
    const { host, port } = this.#parts;
    let link: Link | undefined;
    try {
      link = await own;
      return await withTimeout(work(link.client), waitMs, () => {
        throw new Error(`no answer within ${waitMs / 1000} seconds`);
      });
    } catch (error) {
      // A client that has given up does not connect again.
      if (this.#link === own && (!link || link.client.status === 'end')) this.#link = undefined;
      const vague = /max retries|Connection is closed|slots cache/.test(messageOf(error));
      const why = vague && link?.trouble ? link.trouble : messageOf(error);
      throw unavailable(new Error(`redis at ${host}:${port}: ${why}`, { cause: error }));
    }
  }
}

/** The client connects with its first command, and again whenever the connection was lost. */
async function connected({ host, port, username, password, cluster }: TokenRedisParts): Promise<Link> {
  const library = await import('ioredis');
  const common: RedisOptions = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...{ connectTimeout: waitMs, commandTimeout: waitMs, maxRetriesPerRequest: 1, lazyConnect: true },
    retryStrategy: (times) => Math.min(times * 100, 1_000),
  };
  const client = cluster
    ? new library.Cluster([{ host, port }], {
        redisOptions: common,
        lazyConnect: true,
        clusterRetryStrategy: (times) => (times > 3 ? null : 100 * times),
      })
    : new library.Redis({ ...common, host, port });
  const link: Link = { client, trouble: '' };
  client.on('error', (error: Error) => {
    link.trouble = error.message;
  });
  return link;
}

function readStored(bytes: Uint8Array, digest: string): StoredToken | undefined {
  let value: Value;
  try {
    value = unpack(bytes);
  } catch {
    return undefined;
  }
  return readTokenValue(value, digest);
}
