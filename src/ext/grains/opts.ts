// The minion's options as a grain, when the configuration asks for it.
import { defineGrain, newDict } from 'halite/sdk';

export default defineGrain({
  name: 'opts',
  doc: 'All options of the minion as the grain `opts`, when grain_opts is on.',
  priority: 90,
  proxies: ['*'],
  collect: (ctx) => (ctx.opts['grain_opts'] ? newDict([['opts', newDict(Object.entries(ctx.opts))]]) : newDict()),
});
