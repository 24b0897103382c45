// State module `environ`: variables in the environment of the process that applies states.
import { defineState, isDict, newDict, type PlainDict, p, state, textKeyed, type Value } from 'halite/sdk';

interface EnvironmentChange {
  readonly environ: PlainDict;
  readonly falseUnsets: boolean;
  readonly clearAll: boolean;
}

/** The changes that will be made. */
function differences({ environ, falseUnsets, clearAll }: EnvironmentChange): PlainDict {
  const changes = newDict();
  const nothing: Value = falseUnsets ? null : '';
  if (clearAll) for (const key of Object.keys(process.env)) if (!(key in environ)) changes[key] = nothing;
  for (const [key, value] of Object.entries(environ)) {
    const now = process.env[key];
    if (value === false) {
      if (now === undefined ? !falseUnsets : falseUnsets || now !== '') changes[key] = nothing;
    } else if ((now ?? '') !== value) changes[key] = value;
  }
  return changes;
}

const setenv = state({
  doc: 'Variables in the environment of the process that applies states, and of the commands it runs afterwards.',
  examples: ['set-it:\n  environ.setenv:\n    - name: foo\n    - value: bar'],
  params: {
    name: p.string({ doc: 'the variable' }),
    value: p.any({ doc: 'its value; a dictionary sets several; false empties or removes' }),
    false_unsets: p.bool({ default: false, doc: 'false removes the variable' }),
    clear_all: p.bool({ default: false, doc: 'also empty or remove all others' }),
    update_minion: p.bool({ default: false, doc: 'also in the minion itself' }),
    permanent: p.ignored({ default: false, doc: 'Windows only' }),
  },
  async run({ name, value, false_unsets, clear_all, update_minion, permanent }, ctx) {
    if (typeof value !== 'string' && value !== false && !isDict(value))
      return ctx.fail('Environ value must be string, dict or False');
    const environ = isDict(value) ? textKeyed(value) : newDict([[name, value]]);
    const changes = differences({ environ, falseUnsets: false_unsets, clearAll: clear_all });
    if (Object.keys(changes).length === 0)
      // Salt has two versions of this text.
      return ctx.ok(`Environ values ${ctx.test ? 'are' : 'were'} already set with the correct values`);
    return ctx.change(changes, 'Environ values were set', {
      test: 'Environ values will be changed',
      async apply() {
        const done = await ctx.call('environ.setenv', environ, false_unsets, clear_all, update_minion, permanent);
        return isDict(done)
          ? ctx.ok('Environ values were set', { changes: done })
          : ctx.fail('Failed to set environ variables', { changes });
      },
    });
  },
});

export default defineState({ name: 'environ', doc: 'Variables in the environment.', functions: { setenv } });
