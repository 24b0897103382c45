// State module `debconf`: answers to the questions Debian packages ask.
import {
  changeSet,
  defineState,
  dictEntries,
  dictGet,
  isDict,
  isTruthy,
  needsFunction,
  newDict,
  p,
  pyEquals,
  pyStr,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const set_file = state({
  doc: 'Sets the answers of a file.',
  examples: ['vim-answers:\n  debconf.set_file:\n    - source: salt://pathto/pkg.selections'],
  params: {
    name: p.string({ doc: 'any name' }),
    source: p.string({ doc: 'the file' }),
    template: p.scalar({ default: null, doc: 'engine it is rendered with' }),
    context: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'variables for the template' }),
    defaults: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'variables with lower precedence' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  run({ source, template, context, defaults, kwargs }, ctx) {
    if (context !== null && !isDict(context)) return ctx.fail('Context must be formed as a dict');
    if (defaults !== null && !isDict(defaults)) return ctx.fail('Defaults must be formed as a dict');
    return ctx.change(newDict(), 'Debconf selections were set.', {
      test: 'Debconf selections would have been set.',
      async apply() {
        const done = template
          ? await ctx.callWith(
              'debconf.set_template',
              [source, template, context ?? newDict(), defaults ?? newDict()],
              kwargs,
            )
          : await ctx.callWith('debconf.set_file', [source], kwargs);
        return done ? undefined : ctx.fail('Unable to set debconf selections from file.');
      },
    });
  },
});

const set = state({
  doc: 'Answers to the questions of a package.',
  examples: ["tzdata:\n  debconf.set:\n    - data:\n        'tzdata/Areas': {'type': 'select', 'value': 'Europe'}"],
  params: {
    name: p.string({ doc: 'the package' }),
    data: p.dict({ doc: 'question → {type, value}' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run({ name, data }, ctx) {
    const current = await ctx.call('debconf.show', name);
    let comment = '';
    return changeSet(ctx, {
      async each(set) {
        for (const [question, answer] of dictEntries(data)) {
          const key = pyStr(question);
          const type = pyStr(dictGet(textKeyed(answer), 'type') ?? '');
          const given: Value = dictGet(textKeyed(answer), 'value') ?? '';
          const value = type === 'boolean' ? (isTruthy(given) ? 'true' : 'false') : given;
          if (Array.isArray(current) && current.some((row) => pyEquals(row, [key, type, pyStr(value)]))) {
            comment = `${comment === '' ? 'Unchanged answers: ' : comment}${key} `;
            continue;
          }
          const done = await set.part({
            changes: { [key]: type === 'password' ? '(password hidden)' : pyStr(value) },
            testChanges: { [key]: `New value: ${pyStr(value)}` },
            change: () => ctx.call('debconf.set', name, key, type, value),
            failed: '',
          });
          if (done) continue;
          comment = 'Some settings failed to be applied.';
          set.changes[key] = 'Failed to set!';
        }
        set.comments.push(Object.keys(set.changes).length > 0 ? comment : 'All specified answers are already set');
      },
    });
  },
});

export default defineState({
  name: 'debconf',
  doc: 'Answers to the questions Debian packages ask.',
  available: (system) =>
    dictGet(system.grains, 'os_family') === 'Debian'
      ? needsFunction('debconf.show', 'debconf module could not be loaded')(system)
      : 'debconf state only runs on Debian systems',
  functions: { set, set_file },
});
