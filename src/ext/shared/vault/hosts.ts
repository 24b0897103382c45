// How a function accesses Vault: with its own configuration, with a token from the master, or on the master for a minion.
import { sign } from 'node:crypto';
import { join } from 'node:path';
import {
  commandError,
  dictGet,
  fieldOf,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';
import type { VaultHost } from './client.ts';
import { mintToken, policiesFor, vaultConfig } from './token.ts';

type Source = 'local' | 'master' | 'mint';

function sourceOf(ctx: ModuleContext): Source {
  const config = ctx.opts['vault'];
  const place = fieldOf(config, 'config_location');
  if (place && place !== 'local' && place !== 'master')
    throw commandError('config_location must be either local or master');
  const onMaster = ctx.opts['__role'] === 'master';
  // Templates of a pillar run on the master, but with the rights of their minion.
  if (onMaster) return ctx.master === undefined && dictGet(ctx.grains, 'id') && place !== 'local' ? 'mint' : 'local';
  if (place === 'local' || place === 'master') return place;
  const { local, file_client: files, master_type: type } = ctx.opts;
  return local || files === 'local' || type === 'disable' ? 'local' : 'master';
}

/** Requests a token from the master's runner, with the minion's signature. */
async function askRunner(ctx: ModuleContext): Promise<Value> {
  const id = pyStr(dictGet(ctx.grains, 'id') ?? ctx.id);
  const pem = await readFile(join(pyStr(ctx.opts['pki_dir'] ?? ''), 'minion.pem'), 'utf8');
  const signature = sign('RSA-SHA1', Buffer.from(id), pem).toString('base64');
  const config = ctx.opts['vault'];
  const auth = fieldOf(config, 'auth');
  const wanted = (name: string): Value => (auth !== undefined && isDict(auth) ? (dictGet(auth, name) ?? null) : null);
  return ctx.callWith(
    'publish.runner',
    ['vault.generate_token', [id, signature, false, wanted('ttl'), wanted('uses')]],
    newDict(),
  );
}

export interface Beneficiary {
  readonly minionId: string;
  readonly grains: Value;
  readonly pillar: Value;
}

/** A token for a minion, created with the master's configuration. */
export function mintFor(
  who: Beneficiary,
  config: PlainDict,
  host: Pick<VaultHost, 'log' | 'signal'>,
): Promise<PlainDict> {
  const fields = { minion: who.minionId, grains: who.grains, pillar: who.pillar };
  return mintToken(config, {
    minionId: who.minionId,
    policies: policiesFor(config, fields, host.log),
    signal: host.signal,
  });
}

export function vaultHost(ctx: ModuleContext): VaultHost {
  const source = sourceOf(ctx);
  const { opts, log, signal, cache } = ctx;
  const minionId = pyStr(dictGet(ctx.grains, 'id') ?? ctx.id);
  const mint = (): Promise<Value> =>
    mintFor({ minionId, grains: ctx.grains, pillar: ctx.pillar }, vaultConfig(opts), ctx);
  const fromMaster = source === 'local' ? undefined : source === 'mint' ? mint : () => askRunner(ctx);
  return { opts, log, signal, cache, name: source === 'mint' ? minionId : source, fromMaster };
}
