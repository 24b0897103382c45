// State module `saltutil`: synchronizes extension modules from the master.
import {
  defineState,
  isTruthy,
  messageOf,
  newDict,
  p,
  type StateFunction,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const kinds =
  'beacons clouds engines grains executors log_handlers modules output outputters pillar proxymodules matchers renderers returners sdb states thorium utils serializers'.split(
    ' ',
  );

const syncState = (kind: string): StateFunction =>
  state({
    doc: kind === 'all' ? 'Brings all kinds of extension modules over.' : `Brings ${kind} over.`,
    examples: [`sync:\n  saltutil.sync_${kind}:\n    - refresh: true`],
    params: { name: p.string({ doc: 'a name' }), kwargs: p.kwargs({ doc: 'as for the execution function' }) },
    run: ({ kwargs }, ctx) =>
      ctx.change(newDict(), '', {
        test: `saltutil.sync_${kind} would have been run`,
        async apply() {
          let answer: Value;
          try {
            answer = await ctx.callWith(`saltutil.sync_${kind}`, [], kwargs);
          } catch (error) {
            return ctx.fail(`Failed to run sync_${kind}: ${messageOf(error)}`);
          }
          const found = kind === 'all' ? Object.entries(textKeyed(answer)) : [[kind, answer] as const];
          const changes = newDict(found.filter(([, value]) => isTruthy(value)).map(([key, value]) => [key, value]));
          const any = Object.keys(changes).length > 0;
          const done = kind === 'all' ? 'Sync performed' : `Updated ${kind}.`;
          return ctx.ok(any ? done : 'No updates to sync', { changes });
        },
      }),
  });

export default defineState({
  name: 'saltutil',
  doc: 'Synchronizes extension modules from the master.',
  functions: Object.fromEntries(['all', ...kinds].map((kind) => [`sync_${kind}`, syncState(kind)])),
});
