// State module `nftables`: tables, chains and rules of the packet filter.
import {
  defineState,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { changedRule, changePolicy } from '../shared/packet-policy.ts';
import { ruleState } from './rules.ts';

const family = p.string({ default: 'ipv4', doc: 'ipv4, ipv6, inet, arp, bridge or netdev' });
const table = p.string({ default: 'filter', doc: 'the table' });
const kwargs = p.kwargs({ doc: 'accepted' });
const inFamily = (family: string): PlainDict => newDict([['family', family]]);
const worked = (answer: Value): boolean => textKeyed(answer)['result'] === true;

const tableState = (wanted: boolean) =>
  state({
    doc: wanted ? 'A table.' : 'A table that shall not be there.',
    examples: [`own:\n  nftables.table_${wanted ? 'present' : 'absent'}:\n    - family: inet`],
    params: { name: p.string({ doc: 'the table' }), family, kwargs },
    run({ name, family }, ctx) {
      const what = `nftables table ${name}`;
      const [verb, link] = wanted ? ['created', 'in'] : ['deleted', 'from'];
      return resource(ctx, {
        find: async () => worked(await ctx.callWith('nftables.check_table', [name], { family })),
        wanted,
        change: async () =>
          worked(await ctx.callWith(`nftables.${wanted ? 'new' : 'delete'}_table`, [name], { family })),
        changes: () => changedRule(name),
        right: `${what} ${wanted ? 'already exists in' : 'is already absent from'} family ${family}`,
        would: `${what} would be ${verb} ${link} family ${family}`,
        done: `${what} successfully ${verb} ${link} family ${family}`,
        failed: wanted
          ? `Failed to create table ${name} for family ${family}`
          : `Failed to delete table ${name} from family ${family}`,
      });
    },
  });

const chainThere = async (table: string, name: string, family: string, ctx: StateContext): Promise<boolean> =>
  worked(await ctx.callWith('nftables.check_chain', [table, name], inFamily(family)));

const chainPresent = state({
  doc: 'A chain.',
  examples: ['input:\n  nftables.chain_present:\n    - table_type: filter\n    - hook: input\n    - priority: 0'],
  params: {
    name: p.string({ doc: 'the chain' }),
    table,
    table_type: p.string({ default: null, doc: 'filter, route or nat' }),
    hook: p.string({ default: null, doc: 'the hook' }),
    priority: p.scalar({ default: null, doc: 'priority among chains of the hook' }),
    family,
  },
  run: ({ name, table, table_type, hook, priority, family }, ctx) =>
    resource(ctx, {
      find: () => chainThere(table, name, family, ctx),
      change: () => ctx.callWith('nftables.new_chain', [table, name], { table_type, hook, priority, family }),
      problem: (made) =>
        worked(made)
          ? undefined
          : `Failed to create ${name} chain in ${table} table: ${pyStr(textKeyed(made)['comment'] ?? '').trim()} for ${family}`,
      changes: () => changedRule(name),
      right: `nftables ${name} chain is already exist in ${table} table for ${family}`,
      would: `nftables chain ${name} would be created in table ${table} for family ${family}`,
      done: `nftables ${name} chain in ${table} table create success for ${family}`,
    }),
});

const chainAbsent = state({
  doc: 'A chain that must not exist.',
  examples: ['input:\n  nftables.chain_absent'],
  params: { name: p.string({ doc: 'the chain' }), table, family },
  async run({ name, table, family }, ctx) {
    if (!(await chainThere(table, name, family, ctx)))
      return ctx.ok(`nftables ${name} chain is already absent in ${table} table for ${family}`);
    return ctx.change(changedRule(name), `nftables ${name} chain in ${table} table delete success for ${family}`, {
      test: `nftables chain ${name} would be deleted in table ${table} for family ${family}`,
      testChanges: newDict(),
      async apply() {
        for (const [fun, verb] of [
          ['nftables.flush', 'flush'],
          ['nftables.delete_chain', 'delete'],
        ] as const) {
          const done = await ctx.call(fun, table, name, family);
          if (worked(done)) continue;
          const why = pyStr(textKeyed(done)['comment'] ?? '').trim();
          return ctx.fail(`Failed to ${verb} ${name} chain in ${table} table: ${why} for ${family}`);
        }
        return undefined;
      },
    });
  },
});

const setPolicy = state({
  doc: 'The policy of a chain: what happens to packets that no rule matches.',
  examples: ['default:\n  nftables.set_policy:\n    - chain: input\n    - policy: drop'],
  params: {
    name: p.string({ doc: 'a name' }),
    table,
    family,
    chain: p.string({ doc: 'the chain' }),
    policy: p.string({ doc: 'accept or drop' }),
    save: p.truthy({ default: null, doc: 'save all rules' }),
    save_filename: p.path({ default: null, doc: 'to this file' }),
    kwargs,
  },
  run: async ({ save, save_filename: filename, ...args }, ctx) => {
    const { table, chain, policy, family } = args;
    const now = await ctx.call('nftables.get_policy', table, chain, family);
    return changePolicy(
      {
        ...{ tool: 'nftables', name: args.name, table, family, chain, policy },
        isSet: pyStr(now ?? '').toLowerCase() === policy.toLowerCase(),
        set: async () => Boolean(await ctx.call('nftables.set_policy', table, chain, policy.toLowerCase(), family)),
        save: save ? () => ctx.callWith('nftables.save', [], newDict(Object.entries({ filename, family }))) : undefined,
      },
      ctx,
    );
  },
});

const flush = state({
  doc: 'Removes all rules of a chain or of a table, each time.',
  examples: ['clean:\n  nftables.flush:\n    - table: filter'],
  params: {
    name: p.string({ doc: 'a name' }),
    family,
    ignore_absence: p.bool({ default: false, doc: 'a missing table or chain is not a failure' }),
    table,
    chain: p.string({ default: '', doc: 'the chain' }),
    kwargs,
  },
  run: ({ name, family, ignore_absence: lenient, table, chain }, ctx) =>
    ctx.change(changedRule(name), `Flush nftables rules in ${table} table ${chain} chain ${family} family`, {
      test: 'nftables flush not performed in test mode.',
      testChanges: newDict(),
      async apply() {
        const there = worked(await ctx.callWith('nftables.check_table', [table], inFamily(family)));
        if (!there && !lenient)
          return ctx.fail(`Failed to flush table ${table} in family ${family}, table does not exist.`);
        const chained = !chain || (await chainThere(table, chain, family, ctx));
        if (!chained && !lenient)
          return ctx.fail(
            `Failed to flush chain ${chain} in table ${table} in family ${family}, chain does not exist.`,
          );
        const done = worked(await ctx.call('nftables.flush', table, chain, family));
        return done || !there || !chained ? undefined : ctx.fail('Failed to flush nftables rules');
      },
    }),
});

export default defineState({
  name: 'nftables',
  doc: 'Tables, chains and rules of the packet filter.',
  available: needsFunction('nftables.version', 'nftables module could not be loaded'),
  functions: {
    table_present: tableState(true),
    table_absent: tableState(false),
    chain_present: chainPresent,
    chain_absent: chainAbsent,
    append: ruleState('append'),
    insert: ruleState('insert'),
    delete: ruleState('delete'),
    set_policy: setPolicy,
    flush,
  },
});
