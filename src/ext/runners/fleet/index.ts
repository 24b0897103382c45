// Runner `fleet`: versions of minions, and their upgrades.
import { defineRunner, dictGet, masterFn, newDict, p, type Value } from 'halite/sdk';
import { load, upgrades } from './record.ts';
import { reportOf, upgrade } from './upgrade.ts';

export default defineRunner({
  name: 'fleet',
  doc: 'Versions of minions, and staged upgrades.',
  functions: {
    upgrade,
    upgrades: masterFn({
      doc: 'Upgrades of this master, or the report of one of them.',
      examples: ['salt-run fleet.upgrades', 'salt-run fleet.upgrades 20261118T193513000Z'],
      params: { upgrade: p.string({ default: '', doc: 'the id of one; `last` for the newest' }) },
      async run({ upgrade: id }, ctx) {
        if (id !== '') return reportOf(load(ctx, id === 'last' ? (upgrades(ctx).at(-1) ?? '') : id));
        return upgrades(ctx).map((each): Value => {
          const { version, result, groups } = load(ctx, each);
          return newDict(Object.entries({ upgrade: each, version, result, minions: groups.flat().length }));
        });
      },
    }),
    versions: masterFn({
      doc: 'How many minions have which version, from their grains: nobody is asked.',
      examples: ['salt-run fleet.versions', "salt-run fleet.versions 'web*'"],
      params: {
        target: p.oneOf(['string', 'list'], { default: '*', doc: 'which minions' }),
        tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
      },
      async run({ target, tgt_type }, ctx) {
        const found = new Map<string, string[]>();
        for (const id of ctx.master.fleet.match(target as string, tgt_type).sort()) {
          const grains = await ctx.master.fleet.grains(id);
          const own = grains && dictGet(grains, 'haliteversion');
          const salt = grains && dictGet(grains, 'saltversion');
          const version = own ? `Halite ${String(own)}` : salt ? `Salt ${String(salt)}` : 'not known yet';
          found.set(version, [...(found.get(version) ?? []), id]);
        }
        return newDict(
          [...found]
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([version, ids]): [string, Value] => [
              version,
              newDict([
                ['count', ids.length],
                ['minions', ids.slice(0, 1000)],
              ]),
            ]),
        );
      },
    }),
  },
});
