// State module `grains`: grains that operators set.
import {
  changeSet,
  defineState,
  dictHas,
  isTruthy,
  newDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { traverse } from 'halite/sdk/data';
import { pyRegexSearch } from 'halite/sdk/text';

const delimiter = p.string({ default: ':', doc: 'separator of the levels of a name' });
const name = p.string({ doc: 'the grain' });

/** Salt uses the delimiter as a regular expression. */
function keyOf(given: string, separator: string): string {
  return separator === ':' ? given : given.replace(new RegExp(pyRegexSearch(separator).source, 'gv'), ':');
}
const has = (list: readonly Value[], value: Value): boolean => list.some((item) => pyEquals(item, value));

const exists = state({
  doc: 'Fails when a grain does not exist.',
  examples: ['role:\n  grains.exists'],
  params: { name, delimiter },
  run(args, ctx) {
    const key = keyOf(args.name, args.delimiter);
    return traverse(ctx.grains, key) === undefined
      ? ctx.fail('Grain does not exist', { name: key })
      : ctx.ok('Grain exists', { name: key });
  },
});

/** The answer of `grains.set` as a result. */
async function setGrain(
  key: string,
  value: Value,
  options: { force: boolean; destructive?: boolean },
  ctx: StateContext,
): Promise<StateResult> {
  const answer = textKeyed(await ctx.callWith('grains.set', [key, value], { ...options }));
  return ctx.result({ ...answer, name: key });
}

const present = state({
  doc: 'A grain with a value.',
  examples: ['cheese:\n  grains.present:\n    - value: edam'],
  params: {
    name,
    value: p.any({ doc: 'its value' }),
    delimiter,
    force: p.bool({ default: false, doc: 'also replace lists and dictionaries' }),
  },
  async run(args, ctx) {
    const key = keyOf(args.name, args.delimiter);
    const now = traverse(ctx.grains, key);
    if (now !== undefined && pyEquals(now, args.value)) return ctx.ok('Grain is already set', { name: key });
    const testChanges =
      now === undefined ? newDict([['new', key]]) : newDict([['changed', newDict([[key, args.value]])]]);
    const done = await ctx.change(newDict(), '', {
      test: `Grain ${key} is set to be ${now === undefined ? 'added' : 'changed'}`,
      testChanges,
      async apply() {
        const made = await setGrain(key, args.value, { force: args.force }, ctx);
        if (made.result === true && Object.keys(textKeyed(made.changes)).length > 0)
          made.comment = `Set grain ${key} to ${pyStr(args.value)}`;
        return made;
      },
    });
    return Object.assign(done, { name: key });
  },
});

const list_present = state({
  doc: 'A value that is in a grain that is a list.',
  examples: ['roles:\n  grains.list_present:\n    - value: web'],
  params: { name, value: p.any({ doc: 'value, or list of values' }), delimiter },
  async run(args, ctx) {
    const key = keyOf(args.name, args.delimiter);
    const { value } = args;
    const grain = await ctx.call('grains.get', key);
    const values = Array.isArray(value) ? value : [value];
    if (isTruthy(grain)) {
      if (!Array.isArray(grain)) return ctx.fail(`Grain ${key} is not a valid list`, { name: key });
      if (values.every((item) => has(grain, item)))
        return ctx.ok(`Value ${pyStr(value)} is already in grain ${key}`, { name: key });
    }
    const missing = Array.isArray(value) ? value.filter((item) => !Array.isArray(grain) || !has(grain, item)) : value;
    const done = await ctx.change(newDict(), '', {
      test: isTruthy(grain)
        ? `Value ${pyStr(value)} is set to be appended to grain ${key}`
        : `Grain ${key} is set to be added`,
      testChanges: newDict([['new', grain]]),
      async apply() {
        const answer = await ctx.call('grains.append', key, missing);
        const now = await ctx.call('grains.get', key);
        if (!Array.isArray(now) || !values.every((item) => has(now, item)))
          return ctx.fail(`Failed append value ${pyStr(value)} to grain ${key}`);
        return ctx.ok(`Append value ${pyStr(value)} to grain ${key}`, { changes: newDict([['new', answer]]) });
      },
    });
    return Object.assign(done, { name: key });
  },
});

const list_absent = state({
  doc: 'A value that must not be in a grain that is a list.',
  examples: ['roles:\n  grains.list_absent:\n    - value: db'],
  params: { name, value: p.any({ doc: 'value, or list of values' }), delimiter },
  async run(args, ctx) {
    const key = keyOf(args.name, args.delimiter);
    const grain = traverse(ctx.grains, key) ?? null;
    if (!isTruthy(grain)) return ctx.ok(`Grain ${key} does not exist`, { name: key });
    if (!Array.isArray(grain)) return ctx.fail(`Grain ${key} is not a valid list`, { name: key });
    return changeSet(ctx, {
      async each(set) {
        const deleted: Value[] = [];
        for (const value of Array.isArray(args.value) ? args.value : [args.value]) {
          const shown = pyStr(value);
          if (!has(grain, value)) {
            set.comments.push(`Value ${shown} is absent from grain ${key}`);
            continue;
          }
          deleted.push(value);
          await set.part({
            changes: { deleted },
            change: () => ctx.call('grains.remove', key, value),
            would: `Value ${shown} in grain ${key} is set to be deleted`,
            done: `Value ${shown} was deleted from grain ${key}`,
          });
        }
      },
      extra: { name: key },
    });
  },
});

const absent = state({
  doc: 'A grain without value; with `destructive`, no such grain.',
  examples: ['grain_name:\n  grains.absent'],
  params: {
    name,
    destructive: p.bool({ default: false, doc: 'remove the grain instead of emptying it' }),
    delimiter,
    force: p.bool({ default: false, doc: 'also when it is a list or dictionary' }),
  },
  async run(args, ctx) {
    const key = keyOf(args.name, args.delimiter);
    const grain = traverse(ctx.grains, key);
    if (grain === undefined) return ctx.ok(`Grain ${key} does not exist`, { name: key });
    const { destructive, force } = args;
    if (grain === null && !destructive) return ctx.ok('', { name: key });
    const changes = destructive
      ? newDict([['deleted', key]])
      : newDict([
          ['grain', key],
          ['value', null],
        ]);
    const done = await ctx.change(changes, '', {
      test: destructive ? `Grain ${key} is set to be deleted` : `Value for grain ${key} is set to be deleted (None)`,
      async apply() {
        const made = await setGrain(key, null, { force, destructive }, ctx);
        if (!made.result) return made;
        return ctx.ok(destructive ? `Grain ${key} was deleted` : `Value for grain ${key} was set to None`, { changes });
      },
    });
    return Object.assign(done, { name: key });
  },
});

const append = state({
  doc: 'A value added to a grain that is a list.',
  examples: ['grain_name:\n  grains.append:\n    - value: to_be_added'],
  params: {
    name,
    value: p.any({ doc: 'the value' }),
    convert: p.bool({ default: false, doc: 'convert a single value to a list first' }),
    delimiter,
  },
  async run(args, ctx) {
    const key = keyOf(args.name, args.delimiter);
    const { value } = args;
    const shown = pyStr(value);
    const grain = traverse(ctx.grains, key) ?? null;
    if (!isTruthy(grain) && !dictHas(ctx.grains, key)) return ctx.fail(`Grain ${key} does not exist`, { name: key });
    const isList = Array.isArray(grain);
    if (isList && has(grain, value))
      return ctx.ok(`Value ${shown} is already in the list for grain ${key}`, { name: key });
    if (!isList && !args.convert) return ctx.fail(`Grain ${key} is not a valid list`, { name: key });
    const done = await ctx.change(newDict([['added', value]]), `Value ${shown} was added to grain ${key}`, {
      test: isList
        ? `Value ${shown} in grain ${key} is set to be added`
        : `Grain ${key} is set to be converted to list and value ${shown} will be added`,
      apply: () =>
        isList
          ? ctx.call('grains.append', key, value)
          : ctx.call('grains.setval', key, [...(grain === null ? [] : [grain]), value]),
    });
    return Object.assign(done, { name: key });
  },
});

export default defineState({
  name: 'grains',
  doc: 'Grains that operators set.',
  functions: { exists, present, list_present, list_absent, absent, append },
});
