// Runner `cache`: what the master remembers of its minions.
import { type Dict, defineRunner, masterFn, newDict, type PlainDict, p } from 'halite/sdk';
import { globMatcher } from '../../base/util/fnmatch.ts';
import type { MasterContext } from '../../extend/sdk/context.ts';

const params = {
  tgt: p.string({ default: null, doc: 'which minions' }),
  tgt_type: p.string({ default: 'glob', doc: 'glob or list' }),
};

function ids(ctx: MasterContext, tgt: string | null, kind: string): string[] {
  const all = ctx.master.fleet.all().map((minion) => minion.id);
  if (tgt === null) return all;
  if (kind === 'list') {
    const named = new Set(tgt.split(',').map((id) => id.trim()));
    return all.filter((id) => named.has(id));
  }
  return all.filter(globMatcher(tgt));
}

async function collect(
  ctx: MasterContext,
  tgt: string | null,
  kind: string,
  read: (id: string) => Promise<Dict | undefined>,
): Promise<PlainDict> {
  const found = newDict();
  for (const id of ids(ctx, tgt, kind)) {
    const data = await read(id);
    if (data) found[id] = data;
  }
  return found;
}

export default defineRunner({
  name: 'cache',
  doc: 'Look at grains and pillar as the master remembers them.',
  functions: {
    grains: masterFn({
      doc: 'Remembered grains by minion.',
      examples: ["salt-run cache.grains 'web*'"],
      params,
      run: ({ tgt, tgt_type }, ctx) => collect(ctx, tgt, tgt_type, (id) => ctx.master.fleet.grains(id)),
    }),
    pillar: masterFn({
      doc: 'Remembered pillar by minion.',
      examples: ["salt-run cache.pillar 'web*'"],
      params,
      run: ({ tgt, tgt_type }, ctx) => collect(ctx, tgt, tgt_type, (id) => ctx.master.fleet.pillar(id)),
    }),
  },
});
