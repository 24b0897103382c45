// State module `rabbitmq_plugin`: plugins of a message server.
import { defineState, p, resource, type StateFunction, state } from 'halite/sdk';
import { which } from 'halite/sdk/system';

const plugin = (wanted: boolean): StateFunction => {
  const word = wanted ? 'enabled' : 'disabled';
  return state({
    doc: `A plugin that must be ${wanted ? 'on' : 'off'}.`,
    examples: [`rabbitmq_management:\n  rabbitmq_plugin.${word}`],
    params: { name: p.string({ doc: 'the plugin' }), runas: p.scalar({ default: null, doc: 'as this user' }) },
    run: ({ name, runas }, ctx) =>
      resource(ctx, {
        find: () => ctx.callWith('rabbitmq.plugin_is_enabled', [name], { runas }),
        wanted,
        change: () => ctx.callWith(`rabbitmq.${wanted ? 'enable' : 'disable'}_plugin`, [name], { runas }),
        changes: wanted ? { old: '', new: name } : { old: name, new: '' },
        right: `Plugin '${name}' is already ${word}.`,
        would: `Plugin '${name}' is set to be ${word}.`,
        done: `Plugin '${name}' was ${word}.`,
        error: (message) => `Error: ${message}`,
      }),
  });
};

export default defineState({
  name: 'rabbitmq_plugin',
  doc: 'Plugins of a message server.',
  available: () => which('rabbitmqctl') !== null || 'Command not found: rabbitmqctl',
  functions: { enabled: plugin(true), disabled: plugin(false) },
});
