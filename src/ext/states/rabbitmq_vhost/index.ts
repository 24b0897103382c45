// State module `rabbitmq_vhost`: virtual hosts of a message server.
import { defineState, p, pyStr, resource, type StateFunction, state, textKeyed } from 'halite/sdk';
import { which } from 'halite/sdk/system';

const host = (wanted: boolean): StateFunction =>
  state({
    doc: wanted ? 'A virtual host.' : 'A virtual host that shall not be there.',
    examples: [`/web:\n  rabbitmq_vhost.${wanted ? 'present' : 'absent'}`],
    params: { name: p.string({ doc: 'the virtual host' }) },
    run: ({ name }, ctx) =>
      resource(ctx, {
        find: () => ctx.call('rabbitmq.vhost_exists', name),
        wanted,
        change: async () => textKeyed(await ctx.call(`rabbitmq.${wanted ? 'add' : 'delete'}_vhost`, name)),
        problem: (said) => ('Error' in said ? pyStr(said['Error'] ?? '') : undefined),
        changes: wanted ? { old: '', new: name } : { new: '', old: name },
        right: `Virtual Host '${name}' ${wanted ? 'already exists' : 'is not present'}.`,
        would: `Virtual Host '${name}' will be ${wanted ? 'created' : 'removed'}.`,
        done: ({ answer }) => pyStr(answer[wanted ? 'Added' : 'Deleted'] ?? ''),
      }),
  });

export default defineState({
  name: 'rabbitmq_vhost',
  doc: 'Virtual hosts of a message server.',
  available: () => which('rabbitmqctl') !== null || 'Command not found: rabbitmqctl',
  functions: { present: host(true), absent: host(false) },
});
