// Runner `cache`: the data of minions that the master stores.
import {
  type Dict,
  defineRunner,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  type RememberedPart,
  type Value,
} from 'halite/sdk';
import { fetchKey, flushKey, listKeys, storeKey } from './shared/banks.ts';

const params = {
  tgt: p.oneOf(['string', 'list'], { default: null, doc: 'which minions; default: all' }),
  tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
};

const ids = (ctx: MasterContext, tgt: Value, kind: string): string[] =>
  ctx.master.fleet.match(tgt === null ? '*' : (tgt as string), tgt === null ? 'glob' : kind);

const remembered = (what: RememberedPart, doc: string) =>
  masterFn({
    doc,
    examples: [`salt-run cache.${what} 'web*'`],
    params,
    async run({ tgt, tgt_type }, ctx) {
      const found: PlainDict = newDict();
      for (const id of ids(ctx, tgt, tgt_type)) {
        const data: Dict | undefined = await ctx.master.fleet[what](id);
        if (data) found[id] = data;
      }
      return found;
    },
  });

/** Requires a target, so that a missing target does not clear everything. */
const clear = (name: string, parts: readonly RememberedPart[], doc: string) =>
  masterFn({
    doc: `${doc} Nothing happens without a target.`,
    examples: [`salt-run cache.${name} 'web*'`],
    params,
    async run({ tgt, tgt_type }, ctx) {
      if (tgt === null) return false;
      const found = ids(ctx, tgt, tgt_type);
      for (const id of found) for (const part of parts) await ctx.master.fleet.forget(id, part);
      return true;
    },
  });

const bankParams = {
  bank: p.text({ doc: 'the bank, such as minions/web1 or a name of your own' }),
  key: p.text({ doc: 'the key in it' }),
  cachedir: p.string({ default: null, doc: "a folder instead of the master's cachedir" }),
};
const rootOf = (ctx: MasterContext, cachedir: string | null): string => cachedir ?? String(ctx.opts['cachedir']);

/** Data of minions is not a file here, but is available under Salt's bank name. */
async function minionBank(ctx: MasterContext, bank: string, key: string): Promise<Value | undefined> {
  const id = /^minions\/([^/]+)$/.exec(bank)?.[1];
  if (id === undefined) return undefined;
  const { fleet } = ctx.master;
  if (key === 'mine') return await fleet.mine(id);
  if (key !== 'data') return undefined;
  const [grains, pillar] = [await fleet.grains(id), await fleet.pillar(id)];
  return grains || pillar
    ? newDict(Object.entries({ grains: grains ?? newDict(), pillar: pillar ?? newDict() }))
    : undefined;
}

const banks = {
  store: masterFn({
    doc: 'Stores a value under a key of a bank.',
    examples: ["salt-run cache.store mycache mykey 'any value'"],
    params: {
      bank: bankParams.bank,
      key: bankParams.key,
      data: p.any({ doc: 'the value' }),
      cachedir: bankParams.cachedir,
    },
    run({ bank, key, data, cachedir }, ctx) {
      storeKey(rootOf(ctx, cachedir), bank, key, data);
      return null;
    },
  }),
  fetch: masterFn({
    doc: 'The value under a key of a bank; an empty map when there is none.',
    examples: ['salt-run cache.fetch mycache mykey', 'salt-run cache.fetch minions/web1 data'],
    params: bankParams,
    run: async ({ bank, key, cachedir }, ctx) =>
      (await minionBank(ctx, bank, key)) ?? fetchKey(rootOf(ctx, cachedir), bank, key),
  }),
  list: masterFn({
    doc: 'Keys of a bank.',
    examples: ['salt-run cache.list minions'],
    params: { bank: bankParams.bank, cachedir: bankParams.cachedir },
    run({ bank, cachedir }, ctx) {
      if (bank === 'minions' && cachedir === null)
        return ctx.master.fleet
          .all()
          .map(({ id }) => id)
          .sort();
      return listKeys(rootOf(ctx, cachedir), bank);
    },
  }),
  flush: masterFn({
    doc: 'Removes a key of a bank, or without a key the whole bank.',
    examples: ['salt-run cache.flush mycache mykey'],
    params: { bank: bankParams.bank, key: p.string({ default: null, doc: 'the key' }), cachedir: bankParams.cachedir },
    run: ({ bank, key, cachedir }, ctx) => flushKey(rootOf(ctx, cachedir), bank, key ?? ''),
  }),
};

export default defineRunner({
  name: 'cache',
  doc: 'Show and clear the cached grains, pillar and mine data of minions.',
  functions: {
    ...banks,
    grains: remembered('grains', 'Remembered grains by minion.'),
    pillar: remembered('pillar', 'Remembered pillar by minion.'),
    mine: remembered('mine', 'What minions have put into the mine.'),
    clear_grains: clear('clear_grains', ['grains'], 'Forgets grains.'),
    clear_pillar: clear('clear_pillar', ['pillar'], 'Forgets pillar.'),
    clear_mine: clear('clear_mine', ['mine'], 'Forgets everything in the mine.'),
    clear_all: clear('clear_all', ['grains', 'pillar', 'mine'], 'Forgets grains, pillar and mine.'),
    clear_mine_func: masterFn({
      doc: 'Removes one function from the mine. Nothing happens without a target.',
      examples: ["salt-run cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'"],
      params: { ...params, clear_mine_func_flag: p.text({ default: '', doc: 'the function' }) },
      async run({ tgt, tgt_type, clear_mine_func_flag: fun }, ctx) {
        if (tgt === null || fun === '') return false;
        const found = ids(ctx, tgt, tgt_type);
        for (const id of found) await ctx.master.fleet.forget(id, 'mine', fun);
        return true;
      },
    }),
  },
});
