// State module `keyboard`: the layout of the keyboard.
import { defineState, needsFunction, p, resource, type StateFunction, state } from 'halite/sdk';

const layout = (kind: 'sys' | 'x', shown: string, doc: string): StateFunction =>
  state({
    doc,
    examples: [`us:\n  keyboard.${kind === 'x' ? 'xorg' : 'system'}`],
    params: { name: p.string({ doc: 'the layout' }) },
    run({ name }, ctx) {
      const title = kind === 'x' ? 'XOrg' : 'System';
      return resource(ctx, {
        find: () => ctx.call(`keyboard.get_${kind}`),
        compare: (now) => now !== name,
        change: () => ctx.call(`keyboard.set_${kind}`, name),
        changes: () => ({ layout: name }),
        right: `${title} layout ${name} already set`,
        would: `${title} layout ${name} needs to be set`,
        done: `Set ${shown} keyboard layout ${name}`,
        failed: `Failed to set ${shown} keyboard layout`,
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
