// State module `rabbitmq_policy`: policies of a message server.
import {
  defineState,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { which } from 'halite/sdk/system';

const name = p.string({ doc: 'the policy' });
const vhost = p.string({ default: '/', doc: 'its virtual host' });
const runas = p.scalar({ default: null, doc: 'as this user' });

const meaning = (definition: Value | undefined): Value =>
  isTruthy(definition) ? loadJson(pyStr(definition ?? '')) : '';

interface Wanted {
  readonly pattern: string;
  readonly definition: string;
  readonly priority: number;
  readonly apply_to: Value;
}

/** The changes of an existing policy. */
function updates(policy: PlainDict, wanted: Wanted): string[] {
  const changed: [string, boolean][] = [
    ['Pattern', policy['pattern'] !== wanted.pattern],
    ['Definition', !pyEquals(meaning(policy['definition']), meaning(wanted.definition))],
    // Both spellings: Salt reads one and the server returns the other, so Salt would set it again each time.
    ['Applyto', isTruthy(wanted.apply_to) && (policy['apply_to'] ?? policy['apply-to']) !== wanted.apply_to],
    ['Priority', Number(policy['priority']) !== wanted.priority],
  ];
  return changed.filter(([, differs]) => differs).map(([what]) => what);
}

const present = state({
  doc: 'A policy for queues or exchanges.',
  examples: ['ha:\n  rabbitmq_policy.present:\n    - pattern: \'.*\'\n    - definition: \'{"ha-mode": "all"}\''],
  params: {
    name,
    pattern: p.string({ doc: 'pattern of queue or exchange names' }),
    definition: p.string({ doc: 'JSON text' }),
    priority: p.int({ default: 0, doc: 'priority; the highest wins' }),
    vhost,
    runas,
    apply_to: p.scalar({ default: null, doc: 'queues, exchanges or all' }),
  },
  async run(args, ctx) {
    const { name: policy, vhost: host, pattern, definition, priority, apply_to } = args;
    const all = textKeyed(await ctx.callWith('rabbitmq.list_policies', [], { vhost: host, runas: args.runas }));
    const found = textKeyed(textKeyed(all[host])[policy]);
    const there = Object.keys(found).length > 0;
    const changed = there ? updates(found, args) : [];
    if (there && changed.length === 0) return ctx.ok(`Policy ${host} ${policy} is already present`);
    const changes = newDict(Object.entries(there ? { old: found, new: changed } : { old: newDict(), new: policy }));
    return ctx.change(changes, '', {
      test: `Policy ${host} ${policy} is set to be ${there ? 'updated' : 'created'}`,
      async apply() {
        const kwargs = { priority, runas: args.runas, apply_to };
        const said = textKeyed(await ctx.callWith('rabbitmq.set_policy', [host, policy, pattern, definition], kwargs));
        if ('Error' in said) return ctx.fail(pyStr(said['Error'] ?? ''), { changes });
        return ctx.ok(pyStr(said['Set'] ?? ''), { changes });
      },
    });
  },
});

const absent = state({
  doc: 'A policy that must not exist.',
  examples: ['ha:\n  rabbitmq_policy.absent'],
  params: { name, vhost, runas },
  async run(args, ctx) {
    const as = newDict([['runas', args.runas]]);
    if (!(await ctx.callWith('rabbitmq.policy_exists', [args.vhost, args.name], as)))
      return ctx.ok(`Policy '${args.vhost} ${args.name}' is not present.`);
    return ctx.change(newDict(Object.entries({ new: '', old: args.name })), 'Deleted', {
      test: `Policy '${args.vhost} ${args.name}' will be removed.`,
      async apply() {
        const said = textKeyed(await ctx.callWith('rabbitmq.delete_policy', [args.vhost, args.name], as));
        return 'Error' in said ? ctx.fail(pyStr(said['Error'] ?? '')) : undefined;
      },
    });
  },
});

export default defineState({
  name: 'rabbitmq_policy',
  doc: 'Policies of a message server.',
  available: () => which('rabbitmqctl') !== null || 'Command not found: rabbitmqctl',
  functions: { present, absent },
});
