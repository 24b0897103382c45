// Runner `event`: puts events on the master's bus.
import { defineRunner, masterFn, newDict, p } from 'halite/sdk';

export default defineRunner({
  name: 'event',
  doc: 'Fire events on the master.',
  functions: {
    send: masterFn({
      doc: 'Fires an event; reactors and `state.event` receive it.',
      examples: ["salt-run event.send my/custom/event '{foo: bar}'"],
      params: { tag: p.text({ doc: 'its tag' }), data: p.dict({ default: null, doc: 'its data' }) },
      async run({ tag, data }, ctx) {
        await ctx.master.fire(tag, data ?? newDict());
        return true;
      },
    }),
  },
});
