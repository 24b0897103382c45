// State module `locale`: languages and encodings of the system.
import { defineState, p, resource, state } from 'halite/sdk';

const params = { name: p.string({ doc: 'de_DE.UTF-8' }) };

const system = state({
  doc: 'The locale of the system.',
  examples: ['en_US.UTF-8:\n  locale.system'],
  params,
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('locale.get_locale'),
      compare: (now) => now !== name,
      change: () => ctx.call('locale.set_locale', name),
      changes: () => ({ locale: name }),
      right: `System locale ${name} already set`,
      would: `System locale ${name} needs to be set`,
      done: `Set system locale ${name}`,
      failed: `Failed to set system locale to ${name}`,
      error: (message) => `Failed to set system locale: ${message}`,
    }),
});

const present = state({
  doc: 'A locale that must be available.',
  examples: ['en_US.UTF-8:\n  locale.present'],
  params,
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('locale.avail', name),
      change: () => ctx.call('locale.gen_locale', name),
      changes: () => ({ locale: name }),
      right: `Locale ${name} is already present`,
      would: `Locale ${name} needs to be generated`,
      done: `Generated locale ${name}`,
      failed: `Failed to generate locale ${name}`,
    }),
});

export default defineState({ name: 'locale', doc: 'Languages and encodings.', functions: { system, present } });
