// State module `event`: fires an event to the master.
import { defineState, newDict, p, state } from 'halite/sdk';

const params = {
  name: p.string({ doc: 'tag of the event' }),
  data: p.any({ default: null, doc: 'data of the event' }),
  preload: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'fields beside the data' }),
  with_env: p.oneOf(['bool', 'list', 'string'], {
    default: false,
    nullable: true,
    doc: 'add variables of the environment',
  }),
  with_grains: p.oneOf(['bool', 'list', 'string'], { default: false, nullable: true, doc: 'add grains' }),
  with_pillar: p.oneOf(['bool', 'list', 'string'], { default: false, nullable: true, doc: 'add pillar' }),
  show_changed: p.bool({ default: true, doc: 'show the event as a change' }),
  kwargs: p.kwargs({ doc: 'further data' }),
};

const send = state({
  doc: 'Fires an event to the master.',
  examples: ['mycompany/app/deployed:\n  event.send:\n    - data:\n        status: Done'],
  params,
  async run({ name, data, preload, with_env, with_grains, with_pillar, show_changed, kwargs }, ctx) {
    const { sfun: _, ...more } = kwargs;
    const changes = show_changed
      ? newDict([
          ['tag', name],
          ['data', data],
        ])
      : newDict();
    return ctx.change(changes, 'Event fired', {
      test: 'Event would have been fired',
      async apply() {
        const done = await ctx.callWith('event.send', [name], {
          ...more,
          data,
          preload,
          with_env,
          with_grains,
          with_pillar,
        });
        return ctx.result({ result: Boolean(done), comment: 'Event fired', changes });
      },
    });
  },
});

const wait = state({
  doc: 'Fires an event only when a watched state changed.',
  examples: ['app/changed:\n  event.wait:\n    - watch:\n      - file: /etc/app.conf'],
  params: { name: params.name, sfun: p.ignored({ default: null }), data: params.data },
  run: (_, ctx) => ctx.ok(''),
});

export default defineState({
  name: 'event',
  doc: 'Events to the master.',
  functions: { send, fire_master: send, wait },
  modWatch: send,
});
