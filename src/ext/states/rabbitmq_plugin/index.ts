// State module `rabbitmq_plugin`: plugins of a message server.
import { defineState, isTruthy, messageOf, newDict, p, type StateFunction, state } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { isExpected } from '../shared/calls.ts';

const plugin = (wanted: boolean): StateFunction => {
  const word = wanted ? 'enabled' : 'disabled';
  return state({
    doc: `A plugin that shall be ${wanted ? 'on' : 'off'}.`,
    examples: [`rabbitmq_management:\n  rabbitmq_plugin.${word}`],
    params: { name: p.string({ doc: 'the plugin' }), runas: p.scalar({ default: null, doc: 'as this user' }) },
    async run({ name, runas }, ctx) {
      const as = newDict([['runas', runas]]);
      try {
        if (isTruthy(await ctx.callWith('rabbitmq.plugin_is_enabled', [name], as)) === wanted)
          return ctx.ok(`Plugin '${name}' is already ${word}.`);
        const changes = newDict(Object.entries(wanted ? { old: '', new: name } : { old: name, new: '' }));
        return await ctx.change(changes, `Plugin '${name}' was ${word}.`, {
          test: `Plugin '${name}' is set to be ${word}.`,
          async apply() {
            await ctx.callWith(`rabbitmq.${wanted ? 'enable' : 'disable'}_plugin`, [name], as);
          },
        });
      } catch (error) {
        if (!isExpected(error)) throw error;
        return ctx.fail(`Error: ${messageOf(error)}`);
      }
    },
  });
};

export default defineState({
  name: 'rabbitmq_plugin',
  doc: 'Plugins of a message server.',
  available: () => which('rabbitmqctl') !== null || 'Command not found: rabbitmqctl',
  functions: { enabled: plugin(true), disabled: plugin(false) },
});
