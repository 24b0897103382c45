// External pillar `vault`: secrets of HashiCorp Vault, read with a token that has the minion's policies.
import {
  asDict,
  type Dict,
  definePillar,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PillarContext,
  p,
  type Value,
} from 'halite/sdk';
import { type MergeStrategy, mergeDicts } from 'halite/sdk/data';
import { readSecret, type VaultHost } from '../shared/vault/client.ts';
import { mintFor } from '../shared/vault/hosts.ts';
import { expandPattern, MissingField } from '../shared/vault/patterns.ts';
import { answerField, isOk } from '../shared/vault/request.ts';
import { vaultConfig } from '../shared/vault/token.ts';

function hostOf(ctx: PillarContext): VaultHost {
  const { opts, log, signal, cache, minionId, grains, pillar } = ctx;
  const config = vaultConfig(opts);
  const own = config['config_location'] === 'local';
  return {
    ...{ opts, log, signal, cache, name: own ? 'local' : minionId },
    fromMaster: own ? undefined : () => mintFor({ minionId, grains, pillar }, config, { log, signal }),
  };
}

function pathsOf(pattern: string, ctx: PillarContext): string[] {
  try {
    return expandPattern(pattern, { minion: ctx.minionId, pillar: ctx.pillar });
  } catch (error) {
    if (!(error instanceof MissingField)) throw error;
    ctx.log.warn(`Could not resolve pillar path pattern ${pattern}`);
    return [];
  }
}

async function secretAt(path: string, host: VaultHost, ctx: PillarContext): Promise<Dict> {
  const { answer, v2 } = await readSecret(host, path);
  if (!isOk(answer)) {
    ctx.log.info(`Vault secret not found for: ${path}`);
    return newDict();
  }
  const data = answerField(answer, 'data') ?? null;
  const inner = v2 && isDict(data) ? (dictGet(data, 'data') ?? null) : data;
  return asDict(inner) ?? newDict();
}

/** Every text of a secret is masked in logs. */
function keepSecrets(value: Value, ctx: PillarContext): void {
  if (typeof value === 'string' && value !== '') ctx.keepSecret(value);
  else if (Array.isArray(value)) for (const item of value) keepSecrets(item, ctx);
  else if (isDict(value)) for (const [, item] of dictEntries(value)) keepSecrets(item, ctx);
}

export default definePillar({
  name: 'vault',
  doc: 'The values of secrets in HashiCorp Vault: `path=secret/minions/{minion}`; {pillar[roles]} stands for values of the pillar so far.',
  params: {
    conf: p.string({ doc: '`path=…`' }),
    nesting_key: p.string({ default: null, doc: 'key for the values' }),
    merge_strategy: p.string({ default: null, doc: 'how values of several paths are merged; default: like pillars' }),
    merge_lists: p.bool({ default: null, doc: 'concatenate lists' }),
  },
  async compile(args, ctx) {
    const path = args.conf.split(/\s+/).find((word) => word.startsWith('path='));
    if (path === undefined) {
      ctx.log.error(`"${args.conf}" is not a valid Vault ext_pillar config`);
      return newDict();
    }
    const strategy = (args.merge_strategy ?? ctx.opts['pillar_source_merging_strategy'] ?? 'smart') as MergeStrategy;
    const mergeLists = args.merge_lists || ctx.opts['pillar_merge_lists'] === true;
    const host = hostOf(ctx);
    let found: Dict = newDict();
    for (const one of pathsOf(path.slice('path='.length), ctx)) {
      found = mergeDicts(found, await secretAt(one, host, ctx), { strategy, mergeLists });
    }
    keepSecrets(found, ctx);
    return args.nesting_key ? newDict([[args.nesting_key, found]]) : found;
  },
});
