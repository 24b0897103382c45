// Execution module `defaults`: a formula's default values, and merging over them.

import {
  defineModule,
  dictEntries,
  dictOf,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  p,
  pythonError,
  type Value,
} from 'halite/sdk';
import { loadJson, loadYaml } from 'halite/sdk/codec';
import { deepCopy, traverse } from 'halite/sdk/data';
import { isFile, readFile } from 'halite/sdk/fs';
import { dictSet, updateInPlace } from './shared/data.ts';

/** `defaults.yaml` or `defaults.json` of a formula, from the file server. */
async function load(formula: string, ctx: ModuleContext): Promise<Value> {
  for (const [ending, read] of [
    ['yaml', loadYaml],
    ['json', loadJson],
  ] as const) {
    const path = await ctx.call('cp.cache_file', `salt://${formula}/defaults.${ending}`);
    if (typeof path !== 'string' || !isFile(path)) continue;
    const value = read(await readFile(path, 'utf8'));
    return isTruthy(value) ? value : newDict();
  }
  return null;
}

interface MergeArgs {
  readonly merge_lists: boolean;
  readonly in_place: boolean;
  readonly convert_none: boolean;
}

function merge(dest: Value, src: Value, args: MergeArgs): Value {
  const over = src === null && args.convert_none ? newDict() : src;
  let base = dest;
  if (base === null && args.convert_none) {
    if (args.in_place) throw pythonError('TypeError', "Can't perform in-place merge into NoneType");
    base = newDict();
  }
  if (!isDict(base) || !isDict(over))
    throw pythonError('TypeError', 'Cannot update using non-dict types in dictupdate.update()');
  const target = args.in_place ? base : deepCopy(base);
  return isDict(target) ? updateInPlace(target, over, args.merge_lists) : target;
}

const shared = {
  in_place: p.bool({ default: true, doc: 'change the first argument itself' }),
  convert_none: p.bool({ default: true, doc: 'treat None as an empty dictionary' }),
};

export default defineModule({
  name: 'defaults',
  doc: 'Default values of formulas, and merging over them.',
  functions: {
    get: fn({
      doc: 'A value from defaults.yaml (or defaults.json) of a formula on the file server.',
      examples: ["salt '*' defaults.get core:users:root"],
      params: {
        key: p.string({ doc: 'formula, colon, path of the value' }),
        default: p.any({ default: '', doc: 'returned when there is no value; any type' }),
      },
      async run(args, ctx) {
        const at = args.key.indexOf(':');
        const values = await load(at < 0 ? args.key : args.key.slice(0, at), ctx);
        if (at < 0) return values;
        return traverse(values, args.key.slice(at + 1)) ?? args.default;
      },
    }),
    merge: fn({
      doc: 'Merges one dictionary over another, level by level.',
      examples: ["salt '*' defaults.merge '{a: b}' '{d: e}'"],
      params: {
        dest: p.dict({ nullable: true }),
        src: p.dict({ nullable: true }),
        merge_lists: p.bool({ default: false, doc: 'concatenate lists' }),
        ...shared,
      },
      run: (args) => merge(args.dest, args.src, args),
    }),
    deepcopy: fn({
      doc: 'A copy that shares nothing with the original.',
      examples: ["salt '*' defaults.deepcopy '{a: [1, 2]}'"],
      params: { source: p.any({ doc: 'data of any kind' }) },
      run: ({ source }) => deepCopy(source),
    }),
    update: fn({
      doc: 'Completes every entry of a dictionary with the same default values.',
      examples: ["salt '*' defaults.update '{node1: {a: 1}}' '{b: 2}'"],
      params: {
        dest: p.dict({ nullable: true }),
        defaults: p.dict({ nullable: true }),
        merge_lists: p.bool({ default: true, doc: 'concatenate lists' }),
        ...shared,
      },
      run(args) {
        if (args.dest === null && args.in_place)
          throw pythonError('TypeError', "Can't perform in-place update into NoneType");
        const nodes = args.dest === null && args.convert_none ? newDict() : args.dest;
        if (!isDict(nodes)) throw pythonError('AttributeError', 'dest must be a dictionary');
        const fill = (value: Value): Value =>
          merge(deepCopy(args.defaults ?? newDict()), value, { ...args, in_place: true });
        if (!args.in_place)
          return dictOf(dictEntries(nodes).map(([key, value]) => [key, fill(deepCopy(value))] as const));
        for (const [key, value] of dictEntries(nodes)) dictSet(nodes, key, fill(value));
        return nodes;
      },
    }),
  },
});
