// State module `rabbitmq_vhost`: virtual hosts of a message server.
import { defineState, newDict, p, pyStr, type StateFunction, state } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { plain } from '../shared/calls.ts';

const host = (wanted: boolean): StateFunction =>
  state({
    doc: wanted ? 'A virtual host.' : 'A virtual host that shall not be there.',
    examples: [`/web:\n  rabbitmq_vhost.${wanted ? 'present' : 'absent'}`],
    params: { name: p.string({ doc: 'the virtual host' }) },
    async run({ name }, ctx) {
      if (Boolean(await ctx.call('rabbitmq.vhost_exists', name)) === wanted)
        return ctx.ok(`Virtual Host '${name}' ${wanted ? 'already exists' : 'is not present'}.`);
      const changes = newDict(Object.entries(wanted ? { old: '', new: name } : { new: '', old: name }));
      return ctx.change(changes, '', {
        test: `Virtual Host '${name}' will be ${wanted ? 'created' : 'removed'}.`,
        async apply() {
          const said = plain(await ctx.call(`rabbitmq.${wanted ? 'add' : 'delete'}_vhost`, name));
          if ('Error' in said) return ctx.fail(pyStr(said['Error'] ?? ''));
          return ctx.ok(pyStr(said[wanted ? 'Added' : 'Deleted'] ?? ''), { changes });
        },
      });
    },
  });

export default defineState({
  name: 'rabbitmq_vhost',
  doc: 'Virtual hosts of a message server.',
  available: () => which('rabbitmqctl') !== null || 'Command not found: rabbitmqctl',
  functions: { present: host(true), absent: host(false) },
});
