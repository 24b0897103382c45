// State module `locale`: languages and encodings of the system.
import { defineState, newDict, p, type StateResult, state } from 'halite/sdk';
import { failureOf, isExpected } from '../shared/calls.ts';

const params = { name: p.string({ doc: 'de_DE.UTF-8' }) };

const system = state({
  doc: 'The language and encoding of the system.',
  examples: ['en_US.UTF-8:\n  locale.system'],
  params,
  async run({ name }, ctx) {
    const failed = (error: unknown): StateResult => {
      if (!isExpected(error)) throw error;
      return ctx.fail(`Failed to set system locale: ${failureOf(error).message}`);
    };
    try {
      if ((await ctx.call('locale.get_locale')) === name) return ctx.ok(`System locale ${name} already set`);
    } catch (error) {
      return failed(error);
    }
    return ctx.change(newDict([['locale', name]]), `Set system locale ${name}`, {
      test: `System locale ${name} needs to be set`,
      testChanges: newDict(),
      async apply() {
        try {
          return (await ctx.call('locale.set_locale', name))
            ? undefined
            : ctx.fail(`Failed to set system locale to ${name}`);
        } catch (error) {
          return failed(error);
        }
      },
    });
  },
});

const present = state({
  doc: 'A language and encoding that can be used.',
  examples: ['en_US.UTF-8:\n  locale.present'],
  params,
  async run({ name }, ctx) {
    if (await ctx.call('locale.avail', name)) return ctx.ok(`Locale ${name} is already present`);
    return ctx.change(newDict([['locale', name]]), `Generated locale ${name}`, {
      test: `Locale ${name} needs to be generated`,
      testChanges: newDict(),
      async apply() {
        return (await ctx.call('locale.gen_locale', name)) ? undefined : ctx.fail(`Failed to generate locale ${name}`);
      },
    });
  },
});

export default defineState({ name: 'locale', doc: 'Languages and encodings.', functions: { system, present } });
