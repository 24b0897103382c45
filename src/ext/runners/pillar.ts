// Runner `pillar`: shows the pillar of minions, and the source of values.
import {
  type Dict,
  defineRunner,
  dictEntries,
  dictOf,
  type MasterContext,
  masterFn,
  newDict,
  type PillarAsk,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { globMatcher } from 'halite/sdk/text';

/** A minion with its stored grains; additional arguments are grains, as in Salt. */
async function asked(ctx: MasterContext, minion: string, extra: PlainDict): Promise<PillarAsk> {
  const known = await ctx.master.fleet.grains(minion);
  const grains = new Map<Value, Value>(known ? dictEntries(known) : [['fqdn', minion]]);
  let saltenv = 'base';
  let pillarenv: string | undefined;
  for (const [name, value] of Object.entries(extra)) {
    if (name === 'saltenv') saltenv = pyStr(value);
    else if (name === 'pillarenv') pillarenv = value === null ? undefined : pyStr(value);
    else grains.set(name, value);
  }
  return { minionId: minion, grains: dictOf([...grains]), saltenv, pillarenv };
}

function matching(ctx: MasterContext, minion: string): string[] {
  const fits = globMatcher(minion);
  const ids = ctx.master.fleet.all().map(({ id }) => id);
  return ids.filter((id) => fits(id));
}

const extraArguments = p.kwargs({ doc: 'saltenv, pillarenv; anything else is a grain' });

async function kept(ctx: MasterContext, minion: string, extra: PlainDict, forget: boolean): Promise<Value> {
  const { pillars } = ctx.master;
  if (!pillars.caching) {
    ctx.log.info('The pillar_cache is set to False or not enabled.');
    return false;
  }
  const found = newDict();
  const pillarenv =
    extra['pillarenv'] === undefined || extra['pillarenv'] === null ? undefined : pyStr(extra['pillarenv']);
  for (const id of matching(ctx, minion)) {
    if (forget) await pillars.forget(id);
    const pillar = await pillars.cached(id, pillarenv);
    if (pillar) found[id] = pillar;
  }
  return found;
}

export default defineRunner({
  name: 'pillar',
  doc: 'Compile pillars on the master, and find out where values come from.',
  functions: {
    show_pillar: masterFn({
      doc: 'The pillar of a minion; without a minion, the pillar that is common to all.',
      examples: ['salt-run pillar.show_pillar web1', 'salt-run pillar.show_pillar pillarenv=dev'],
      params: { minion: p.string({ default: '*', doc: 'the minion' }), kwargs: extraArguments },
      inOrder: true,
      run: async ({ minion, kwargs }, ctx): Promise<Dict> =>
        ctx.master.pillars.compile(await asked(ctx, minion, kwargs)),
    }),
    show_top: masterFn({
      doc: 'The merged pillar top file as it is rendered for a minion, or for the first one known.',
      examples: ['salt-run pillar.show_top', 'salt-run pillar.show_top web1'],
      params: { minion: p.string({ default: null, doc: 'the minion' }), saltenv: p.string({ default: 'base' }) },
      async run({ minion, saltenv }, ctx) {
        const id = minion ?? ctx.master.fleet.all()[0]?.id ?? '*';
        return ctx.master.pillars.top(await asked(ctx, id, newDict([['saltenv', saltenv]])));
      },
    }),
    explain: masterFn({
      doc: 'The file and line of a pillar value of a minion, and other sources that have the key.',
      examples: ['salt-run pillar.explain web1 users:alice:shell'],
      params: {
        minion: p.string({ doc: 'the minion' }),
        key: p.string({ doc: 'the key, nested ones with colons' }),
        delimiter: p.string({ default: ':', doc: 'separator of nested keys' }),
        kwargs: extraArguments,
      },
      run: async ({ minion, key, delimiter, kwargs }, ctx) =>
        ctx.master.pillars.explain(await asked(ctx, minion, kwargs), key, delimiter),
    }),
    show_pillar_cache: masterFn({
      doc: 'Cached pillars (pillar_cache) by minion.',
      examples: ["salt-run pillar.show_pillar_cache 'web*'"],
      params: { minion: p.string({ default: '*', doc: 'glob of minions' }), kwargs: extraArguments },
      run: ({ minion, kwargs }, ctx) => kept(ctx, minion, kwargs, false),
    }),
    clear_pillar_cache: masterFn({
      doc: 'Removes cached pillars (pillar_cache); returns the remaining ones.',
      examples: ["salt-run pillar.clear_pillar_cache 'web*'"],
      params: { minion: p.string({ default: '*', doc: 'glob of minions' }), kwargs: extraArguments },
      run: ({ minion, kwargs }, ctx) => kept(ctx, minion, kwargs, true),
    }),
  },
});
