// Functions that fail on purpose, to test how failures on the master are handled.
import { masterFn, newDict, p } from 'halite/sdk';

export const errorFunctions = {
  error: masterFn({
    doc: 'Fails with the named kind of error; without a name it returns an empty map.',
    examples: ['salt-run error.error', 'salt-run error.error name=Exception message="on purpose"'],
    params: {
      name: p.string({ default: null, doc: 'the kind of error' }),
      message: p.string({ default: '', doc: 'the message' }),
    },
    run({ name, message }) {
      if (name === null) return newDict();
      const error = new Error(message);
      error.name = name;
      throw error;
    },
  }),
};
