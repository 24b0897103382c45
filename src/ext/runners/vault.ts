// Runner `vault`: tokens for minions, their policies, and unsealing.
import { verify } from 'node:crypto';
import {
  asList,
  defineRunner,
  HaliteError,
  isDict,
  type MasterContext,
  masterFn,
  messageOf,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { answerField, askVault } from '../shared/vault/request.ts';
import { mintToken, policiesFor, serverOf, vaultConfig } from '../shared/vault/token.ts';

/** Old and new releases sign with different digests. */
const digests = ['RSA-SHA1', 'RSA-SHA224', 'RSA-SHA256'];

async function checkSignature(id: string, signature: Value, byMaster: boolean, ctx: MasterContext): Promise<void> {
  const pem = byMaster ? (await ctx.master.keys.local())['master.pub'] : await ctx.master.keys.read('accepted', id);
  const text = signature instanceof Uint8Array ? Buffer.from(signature).toString('latin1') : pyStr(signature);
  const bytes = Buffer.from(text, 'base64');
  const good = pem !== undefined && digests.some((digest) => verify(digest, Buffer.from(id), pem, bytes));
  if (!good) throw new HaliteError('call.failed', `Could not validate token request from ${id}`);
}

interface Remembered {
  readonly policies: string[];
  readonly until: number;
}

async function policiesOf(id: string, refresh: Value, seconds: number, ctx: MasterContext): Promise<string[]> {
  const name = `vault policies ${id}`;
  const known = ctx.cache.get(name) as Remembered | undefined;
  if (known && known.until > Date.now()) return known.policies;
  const config = vaultConfig(ctx.opts);
  const grains = (await ctx.master.fleet.grains(id)) ?? newDict([['id', id]]);
  const usesPillar = JSON.stringify(config['policies'] ?? '').includes('{pillar');
  const remembered = usesPillar && refresh !== true ? await ctx.master.fleet.pillar(id) : undefined;
  const compile = usesPillar && remembered === undefined && refresh !== false;
  const pillar = compile ? await ctx.master.pillars.compile({ minionId: id, grains }) : (remembered ?? newDict());
  const policies = policiesFor(config, { minion: id, grains, pillar }, ctx.log);
  if (seconds > 0) ctx.cache.set(name, { policies, until: Date.now() + seconds * 1000 });
  return policies;
}

const cacheSeconds = (ctx: MasterContext, given: Value): number =>
  Number(given ?? vaultConfig(ctx.opts)['policies_cache_time'] ?? 60);

export default defineRunner({
  name: 'vault',
  doc: 'Tokens of HashiCorp Vault for minions. Minions may request a token when `peer_run` allows vault.generate_token.',
  functions: {
    generate_token: masterFn({
      doc: 'A token for a minion, which has signed its id with its key.',
      params: {
        minion_id: p.string({ doc: 'the minion' }),
        signature: p.scalar({ doc: 'its signature, in base64' }),
        impersonated_by_master: p.bool({ default: false, doc: 'signed by the master instead' }),
        ttl: p.scalar({ default: null, doc: 'time to live of the token' }),
        uses: p.scalar({ default: null, doc: 'how often it can be used' }),
      },
      async run(args, ctx) {
        await checkSignature(args.minion_id, args.signature, args.impersonated_by_master, ctx);
        try {
          const config = vaultConfig(ctx.opts);
          const refresh = config['policies_refresh_pillar'] ?? null;
          const policies = await policiesOf(args.minion_id, refresh, cacheSeconds(ctx, null), ctx);
          const { ttl, uses, minion_id: minionId } = args;
          const { jid, user } = ctx.job;
          const who = { ...(jid ? { jid: pyStr(jid) } : {}), ...(user ? { user: pyStr(user) } : {}) };
          return await mintToken(config, { minionId, policies, ttl, uses, ...who, signal: ctx.signal });
        } catch (error) {
          return newDict([['error', messageOf(error)]]);
        }
      },
    }),
    show_policies: masterFn({
      doc: 'The policies that tokens of a minion get.',
      examples: ['salt-run vault.show_policies myminion'],
      params: {
        minion_id: p.string({ doc: 'the minion' }),
        refresh_pillar: p.string({ default: null, doc: 'True: compile its pillar; False: use the cached one' }),
        expire: p.string({ default: null, doc: 'seconds for which the answer is cached; default 60' }),
      },
      run(args, ctx) {
        const refresh = args.refresh_pillar ?? vaultConfig(ctx.opts)['policies_refresh_pillar'] ?? null;
        return policiesOf(args.minion_id, refresh, cacheSeconds(ctx, args.expire), ctx);
      },
    }),
    unseal: masterFn({
      doc: 'Unseals the server with the keys in the configuration.',
      examples: ['salt-run vault.unseal'],
      async run(_, ctx) {
        const config = vaultConfig(ctx.opts);
        const keys = asList(config['keys']) ?? [];
        for (const key of keys) {
          const json = dumpJson(newDict([['key', pyStr(key)]]));
          const answer = await askVault(serverOf(config), {
            method: 'PUT',
            path: 'sys/unseal',
            json,
            signal: ctx.signal,
          });
          if (isDict(answer.body) && answerField(answer, 'sealed') === false) return true;
        }
        return false;
      },
    }),
  },
});
