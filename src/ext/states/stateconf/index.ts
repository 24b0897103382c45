// State module `stateconf`: functions that do nothing; the stateconf renderer uses their arguments.
import { defineState, p, state } from 'halite/sdk';

const nothing = (doc: string) =>
  state({
    doc,
    examples: ['.params:\n  stateconf.set:\n    - port: 80'],
    params: { name: p.string({ doc: 'a name' }), kwargs: p.kwargs({ doc: 'names and values' }) },
    run: (_, ctx) => ctx.ok(''),
  });

export default defineState({
  name: 'stateconf',
  doc: 'Functions that do nothing; the stateconf renderer uses their arguments.',
  functions: { set: nothing('Names with defaults.'), context: nothing('Names.') },
});
