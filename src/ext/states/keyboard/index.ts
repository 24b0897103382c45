// State module `keyboard`: the layout of the keyboard.
import { defineState, needsFunction, newDict, p, type StateFunction, state } from 'halite/sdk';

const layout = (kind: 'sys' | 'x', shown: string, doc: string): StateFunction =>
  state({
    doc,
    examples: [`us:\n  keyboard.${kind === 'x' ? 'xorg' : 'system'}`],
    params: { name: p.string({ doc: 'the layout' }) },
    async run({ name }, ctx) {
      const title = kind === 'x' ? 'XOrg' : 'System';
      if ((await ctx.call(`keyboard.get_${kind}`)) === name) return ctx.ok(`${title} layout ${name} already set`);
      return ctx.change(newDict([['layout', name]]), `Set ${shown} keyboard layout ${name}`, {
        test: `${title} layout ${name} needs to be set`,
        testChanges: newDict(),
        apply: async () =>
          (await ctx.call(`keyboard.set_${kind}`, name))
            ? undefined
            : ctx.fail(`Failed to set ${shown} keyboard layout`),
      });
    },
  });

export default defineState({
  name: 'keyboard',
  doc: 'The layout of the keyboard.',
  available: needsFunction('keyboard.get_sys', 'keyboard module could not be loaded'),
  functions: {
    system: layout('sys', 'system', 'The layout of the console.'),
    xorg: layout('x', 'XOrg', 'The layout of the graphical session.'),
  },
});
