// Runner `cache`: what the master remembers of its minions.
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

const params = {
  tgt: p.any({ default: null, doc: 'which minions; all unless given' }),
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

/** Needs a target, so that nobody empties everything by leaving one out. */
const clear = (name: string, parts: readonly RememberedPart[], doc: string) =>
  masterFn({
    doc: `${doc} Nothing happens without a target.`,
    examples: [`salt-run cache.${name} 'web*'`],
    params,
    async run({ tgt, tgt_type }, ctx) {
      if (tgt === null) return false;
      const found = ids(ctx, tgt, tgt_type);
      for (const id of found) for (const part of parts) await ctx.master.fleet.forget(id, part);
      return found.length > 0;
    },
  });

export default defineRunner({
  name: 'cache',
  doc: 'Look at grains, pillar and mine as the master remembers them, and make it forget them.',
  functions: {
    grains: remembered('grains', 'Remembered grains by minion.'),
    pillar: remembered('pillar', 'Remembered pillar by minion.'),
    mine: remembered('mine', 'What minions have put into the mine.'),
    clear_grains: clear('clear_grains', ['grains'], 'Forgets grains.'),
    clear_pillar: clear('clear_pillar', ['pillar'], 'Forgets pillar.'),
    clear_mine: clear('clear_mine', ['mine'], 'Forgets everything in the mine.'),
    clear_all: clear('clear_all', ['grains', 'pillar', 'mine'], 'Forgets grains, pillar and mine.'),
    clear_mine_func: masterFn({
      doc: 'Forgets one function of the mine. Nothing happens without a target.',
      examples: ["salt-run cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'"],
      params: { ...params, clear_mine_func_flag: p.text({ default: '', doc: 'the function' }) },
      async run({ tgt, tgt_type, clear_mine_func_flag: fun }, ctx) {
        if (tgt === null || fun === '') return false;
        const found = ids(ctx, tgt, tgt_type);
        for (const id of found) await ctx.master.fleet.forget(id, 'mine', fun);
        return found.length > 0;
      },
    }),
  },
});
