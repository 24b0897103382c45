// Runner `config`: the master's own options.
import { defineRunner, masterFn, p, type Value } from 'halite/sdk';
import { traverse } from 'halite/sdk/data';

export default defineRunner({
  name: 'config',
  doc: 'Read the options of the running master.',
  functions: {
    get: masterFn({
      doc: 'One option; colons separate the levels of maps.',
      examples: ['salt-run config.get timeout', 'salt-run config.get file_roots:base'],
      params: {
        key: p.string({ doc: 'the option' }),
        default: p.any({ default: '', doc: 'returned when it is not set' }),
        delimiter: p.string({ default: ':', doc: 'separator of levels' }),
      },
      run: ({ key, default: fallback, delimiter }, ctx) => {
        const found = traverse(ctx.opts as Record<string, Value>, key, delimiter);
        return found === undefined ? fallback : found;
      },
    }),
  },
});
