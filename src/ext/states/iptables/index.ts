// State module `iptables`: rules, chains and policies of the packet filter.
import {
  defineState,
  type LowChunk,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  state,
} from 'halite/sdk';
import { changedRule, changePolicy } from '../shared/packet-policy.ts';
import { ruleState } from './rules.ts';

const name = p.string({ doc: 'the chain' });
const table = p.string({ default: 'filter', doc: 'the table' });
const family = p.string({ default: 'ipv4', doc: 'ipv4 or ipv6' });

const chainPresent = state({
  doc: 'A chain that must exist.',
  examples: ['OWN:\n  iptables.chain_present:\n    - table: filter'],
  params: { name, table, family },
  run: ({ name, table, family }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('iptables.check_chain', table, name, family),
      compare: (found) => found !== true,
      change: () => ctx.call('iptables.new_chain', table, name, family),
      problem: (said) =>
        said === true
          ? undefined
          : `Failed to create ${name} chain in ${table} table: ${pyStr(said).trim()} for ${family}`,
      changes: () => changedRule(name),
      right: `iptables ${name} chain is already exist in ${table} table for ${family}`,
      would: `iptables ${name} chain in ${table} table needs to be set for ${family}`,
      done: `iptables ${name} chain in ${table} table create success for ${family}`,
    }),
});

const chainAbsent = state({
  doc: 'A chain that must not exist.',
  examples: ['OWN:\n  iptables.chain_absent:\n    - table: filter'],
  params: { name, table, family },
  async run({ name, table, family }, ctx) {
    if (!(await ctx.call('iptables.check_chain', table, name, family)))
      return ctx.ok(`iptables ${name} chain is already absent in ${table} table for ${family}`);
    return ctx.change(changedRule(name), `iptables ${name} chain in ${table} table delete success for ${family}`, {
      test: `iptables ${name} chain in ${table} table needs to be removed ${family}`,
      testChanges: newDict(),
      async apply() {
        const failed = (what: string, why: string) =>
          ctx.fail(`Failed to ${what} ${name} chain in ${table} table: ${why.trim()} for ${family}`);
        const flushed = await ctx.call('iptables.flush', table, name, family);
        if (flushed) return failed('flush', pyStr(flushed));
        const deleted = await ctx.call('iptables.delete_chain', table, name, family);
        return deleted === true ? undefined : failed('delete', pyStr(deleted));
      },
    });
  },
});

const setPolicy = state({
  doc: 'The policy of a chain: what happens to packets that no rule matches.',
  examples: ['default:\n  iptables.set_policy:\n    - chain: INPUT\n    - policy: DROP'],
  params: {
    name: p.string({ doc: 'a name' }),
    table,
    family,
    chain: p.string({ doc: 'the chain' }),
    policy: p.string({ doc: 'ACCEPT or DROP' }),
    save: p.scalar({ default: null, doc: 'save all rules: true, or a file' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  run: async ({ save, ...args }, ctx) => {
    const { table, chain, policy, family } = args;
    return changePolicy(
      {
        ...{ tool: 'iptables', name: args.name, table, family, chain, policy },
        isSet: (await ctx.call('iptables.get_policy', table, chain, family)) === policy,
        set: async () => !(await ctx.call('iptables.set_policy', table, chain, policy, family)),
        save: save
          ? () => ctx.callWith('iptables.save', [], { filename: save === true ? null : save, family })
          : undefined,
      },
      ctx,
    );
  },
});

const flush = state({
  doc: 'Removes all rules of a chain or of a table, each time.',
  examples: ['clean:\n  iptables.flush:\n    - chain: INPUT'],
  params: {
    name: p.string({ doc: 'a name' }),
    table,
    family,
    chain: p.string({ default: '', doc: 'the chain' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  run: ({ name, table, family, chain }, ctx) =>
    ctx.change(changedRule(name), `Flush iptables rules in ${table} table ${chain} chain ${family} family`, {
      test: `iptables rules in ${name} table ${table} chain ${family} family needs to be flushed`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.call('iptables.flush', table, chain, family))
          ? ctx.fail('Failed to flush iptables rules')
          : undefined,
    }),
});

const tagOf = (chunk: Readonly<LowChunk>): string =>
  [chunk['state'], chunk['__id__'], chunk['name'], chunk['fun']].map((part) => pyStr(part ?? '')).join('_|-');

/** Rules of later states of the same function are set together with the first. (Salt forgets the first one's own rule.) */
function aggregate(low: LowChunk, chunks: readonly Readonly<LowChunk>[], running: Readonly<Record<string, PlainDict>>) {
  if (low['fun'] !== 'append' && low['fun'] !== 'insert') return low;
  const isWaiting = (chunk: Readonly<LowChunk>): boolean =>
    chunk['state'] === 'iptables' &&
    chunk['fun'] === low['fun'] &&
    !('__agg__' in chunk) &&
    !(tagOf(chunk) in running) &&
    tagOf(chunk) !== tagOf(low);
  const waiting = chunks.filter(isWaiting);
  if (waiting.length === 0) return low;
  // Marked, so that no later state of this run sets them again.
  for (const chunk of waiting as readonly LowChunk[]) chunk['__agg__'] = true;
  const own = Array.isArray(low['rules']) ? low['rules'] : [newDict(Object.entries(low))];
  return newDict([...Object.entries(low), ['rules', [...own, ...waiting]]]);
}

export default defineState({
  name: 'iptables',
  doc: 'Rules, chains and policies of the packet filter.',
  available: needsFunction('iptables.version', 'iptables module could not be loaded'),
  functions: {
    chain_present: chainPresent,
    chain_absent: chainAbsent,
    append: ruleState('append'),
    insert: ruleState('insert'),
    delete: ruleState('delete'),
    set_policy: setPolicy,
    flush,
  },
  modAggregate: (low, chunks, running) => aggregate(low, chunks, running),
});
