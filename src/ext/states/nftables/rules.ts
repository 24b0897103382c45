// `nftables.append`, `insert` and `delete`: a rule of the packet filter.
import { newDict, p, pyStr, type StateContext, state, textKeyed, type Value } from 'halite/sdk';

type Verb = 'append' | 'insert' | 'delete';

const worked = (answer: Value): boolean => textKeyed(answer)['result'] === true;

interface Asked {
  readonly name: string;
  readonly family: string;
  readonly table: string;
  readonly chain: string;
  readonly position: Value;
  readonly rule: string;
}

function carryOut(verb: Verb, { family, table, chain, position, rule }: Asked, ctx: StateContext): Promise<Value> {
  if (verb === 'append') return ctx.call('nftables.append', table, chain, rule, family);
  if (verb === 'insert') return ctx.call('nftables.insert', table, chain, position, rule, family);
  const how = position === null ? { family, rule } : { family, position };
  return ctx.callWith('nftables.delete', [table, chain], newDict(Object.entries(how)));
}

/** `(rule) for family` after append, `for family (rule)` after the others. */
const about = (verb: Verb, { rule, family }: Asked): string =>
  verb === 'append' ? `(${rule}) for ${family}` : `for ${family} (${rule})`;

function failure(verb: Verb, { name, rule, family }: Asked, why: string): string {
  const attempted = `Failed to ${verb === 'delete' ? 'delete' : 'set'} nftables rule for ${name}.\nAttempted rule was ${rule}`;
  return verb === 'append' ? `${attempted} for ${family}.\n${why}` : attempted;
}

function success(verb: Verb, { name, rule, family }: Asked, saved: boolean): string {
  if (verb === 'delete')
    return saved
      ? `Deleted and Saved nftables rule for ${name} for ${rule}${family}`
      : `Delete nftables rule for ${name} ${rule}`;
  return `Set${saved ? ' and Saved' : ''} nftables rule for ${name} to: ${rule} for ${family}`;
}

const docs: Readonly<Record<Verb, string>> = {
  append: 'A rule at the end of a chain.',
  insert: 'A rule at the beginning of a chain, or before another.',
  delete: 'A rule that shall not be there.',
};

export const ruleState = (verb: Verb) =>
  state({
    doc: docs[verb],
    examples: [
      `ssh:\n  nftables.${verb}:\n    - table: filter\n    - chain: input\n    - proto: tcp\n    - dport: 22\n    - jump: accept`,
    ],
    params: {
      name: p.string({ doc: 'any name' }),
      family: p.string({ default: 'ipv4', doc: 'ipv4, ipv6, inet, arp, bridge or netdev' }),
      table: p.string({ default: 'filter', doc: 'the table' }),
      chain: p.string({ doc: 'the chain' }),
      position: p.scalar({ default: null, doc: 'handle of a rule' }),
      save: p.truthy({ default: null, doc: 'save all rules' }),
      kwargs: p.kwargs({ doc: 'the parts of the rule: proto, dport, jump, …' }),
    },
    async run({ name, family, table, chain, position, save, kwargs }, ctx) {
      const parts = newDict([['family', family], ...Object.entries({ table, chain }), ...Object.entries(kwargs)]);
      const built = textKeyed(await ctx.callWith('nftables.build_rule', [], parts));
      if (built['result'] !== true) return ctx.fail(pyStr(built['comment'] ?? ''));
      const asked = { name, family, table, chain, position, rule: pyStr(built['rule'] ?? '').trim() };
      const there = worked(await ctx.call('nftables.check', table, chain, asked.rule, family));
      if (there !== (verb === 'delete'))
        return ctx.ok(`nftables rule for ${name} already ${there ? 'set' : 'absent'} ${about(verb, asked)}`);
      const changes = newDict([['locale', name]]);
      return ctx.change(changes, success(verb, asked, false), {
        test: `nftables rule for ${name} needs to be ${verb === 'delete' ? 'deleted' : 'set'} ${about(verb, asked)}`,
        testChanges: newDict(),
        async apply() {
          const done = await carryOut(verb, asked, ctx);
          if (!worked(done)) return ctx.fail(failure(verb, asked, pyStr(textKeyed(done)['comment'] ?? '')));
          if (!save) return undefined;
          await ctx.callWith('nftables.save', [], newDict(Object.entries({ filename: null, family })));
          return ctx.ok(success(verb, asked, true), { changes });
        },
      });
    },
  });
