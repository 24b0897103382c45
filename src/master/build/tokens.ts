// Opens the store of login tokens that `eauth_tokens` names.
import { join } from 'node:path';
import { asNumber, asText } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { TokenFiles } from '../../store/tokens/localfs.ts';
import { TokenRedis } from '../../store/tokens/redis.ts';
import { TokenTable } from '../../store/tokens/sqlite.ts';
import type { TokenStore } from '../../store/tokens/tokens.ts';

/** Nothing is connected or read yet. */
export function openTokens(
  opts: Pick<MasterOpts, 'raw' | 'token_dir' | 'hash_type'>,
  log: Pick<Logger, 'warn' | 'error'>,
): TokenStore {
  const hashType = String(opts.hash_type);
  const driver = asText(opts.raw['eauth_tokens'] ?? null) || 'localfs';
  switch (driver) {
    case 'sqlite':
      return new TokenTable({ file: join(opts.token_dir, 'tokens.db'), hashType, log });
    case 'redis':
    case 'rediscluster':
      return openRedis(opts, log, { cluster: driver === 'rediscluster', hashType });
    default:
      if (driver !== 'localfs')
        log.warn('eauth_tokens names no store of this master: tokens are files in token_dir', { driver });
      return new TokenFiles(opts.token_dir, hashType);
  }
}

function openRedis(
  { raw }: Pick<MasterOpts, 'raw'>,
  log: Pick<Logger, 'warn'>,
  own: { readonly cluster: boolean; readonly hashType: string },
): TokenStore {
  const text = (name: string): string | undefined => asText(raw[name] ?? null) || undefined;
  const port = asNumber(raw['eauth_redis_port'] ?? null) ?? 6379;
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new HaliteError('config.value', 'eauth_redis_port must be a number from 1 to 65535');
  const password = text('eauth_redis_password');
  if (password === undefined)
    log.warn('eauth_redis_password is not set: whoever can write to that Redis can log in as every user', {
      host: text('eauth_redis_host') ?? 'localhost',
    });
  return new TokenRedis({
    ...{ host: text('eauth_redis_host') ?? 'localhost', port, password, username: text('eauth_redis_username') },
    ...own,
  });
}
