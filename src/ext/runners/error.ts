// Runner `error`: fails on purpose, to try how failures of runners are handled.
import { defineRunner, masterFn, newDict, p } from 'halite/sdk';

export default defineRunner({
  name: 'error',
  doc: 'Fail on purpose.',
  functions: {
    error: masterFn({
      doc: 'Fails with the named kind of error; without a name it gives an empty map.',
      examples: ['salt-run error.error', 'salt-run error.error name=Exception message="on purpose"'],
      params: {
        name: p.string({ default: null, doc: 'the kind of error' }),
        message: p.string({ default: '', doc: 'what it says' }),
      },
      run({ name, message }) {
        if (name === null) return newDict();
        const error = new Error(message);
        error.name = name;
        throw error;
      },
    }),
  },
});
