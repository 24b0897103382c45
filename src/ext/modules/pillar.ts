// Execution module `pillar`: reads the pillar of this minion.
import { join } from 'node:path';
import {
  type ArgsOf,
  commandError,
  type Dict,
  defineModule,
  dictEntries,
  dictGet,
  dictKeys,
  dictOf,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  pyTypeName,
  pythonError,
  type Value,
} from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { defaultDelimiter, mergeRecurse, traverse } from 'halite/sdk/data';
import { isFile } from 'halite/sdk/fs';
import { filterBy, valuesAt } from './shared/data.ts';

const notSet = '<Constant.NOT_SET>';
const optionalText = (value: Value | undefined): string | undefined =>
  value === null || value === undefined ? undefined : pyStr(value);

/** The pillar compiled again by the master, not the one in memory. */
function compile(kwargs: PlainDict, ctx: ModuleContext): Promise<Dict> {
  if (isTruthy(kwargs['pillar']) && isTruthy(kwargs['pillar_enc'])) {
    throw commandError('Failed to decrypt pillar override: decrypting renderers are not available');
  }
  const saltenv = optionalText(kwargs['saltenv']);
  const fromSaltenv = ctx.opts['pillarenv_from_saltenv'] ? (saltenv ?? ctx.opts['saltenv']) : ctx.opts['pillarenv'];
  const override = kwargs['pillar'];
  return ctx.minion.compilePillar({
    override: isDict(override) ? override : undefined,
    pillarenv: optionalText(kwargs['pillarenv'] ?? fromSaltenv),
    saltenv,
  });
}

async function chosen(pillarenv: string | null, saltenv: string | null, ctx: ModuleContext): Promise<Dict> {
  if (pillarenv === null && saltenv === null) return ctx.pillar;
  return compile(
    newDict([
      ['pillarenv', pillarenv],
      ['saltenv', saltenv],
    ]),
    ctx,
  );
}

type GetArgs = ArgsOf<typeof getParams>;

/** The default merged with the pillar's value, when both are dictionaries or both are lists. */
function merged(args: GetArgs, pillar: Dict, ctx: ModuleContext): Value | undefined {
  const found = traverse(pillar, args.key, args.delimiter);
  const lists = isTruthy(args.merge_nested_lists ?? ctx.opts['pillar_merge_lists'] ?? false);
  if (isDict(args.default) && (found === undefined || isDict(found)))
    return mergeRecurse(args.default, found ?? newDict(), lists);
  const start = args.default;
  if (Array.isArray(start) && (found === undefined || Array.isArray(found))) {
    return [...start, ...(found ?? []).filter((item) => !start.some((known) => pyEquals(known, item)))];
  }
  ctx.log.error('pillar.get: merge skipped, default and value are not of one kind', {
    key: args.key,
    default: pyTypeName(start),
    value: found === undefined ? 'nothing' : pyTypeName(found),
  });
  return undefined;
}

function get(args: GetArgs, pillar: Dict, ctx: ModuleContext): Value {
  const joined = args.merge ? merged(args, pillar, ctx) : undefined;
  const found = joined ?? traverse(pillar, args.key, args.delimiter);
  if (found !== undefined) return found;
  if (args.default !== notSet) return args.default;
  if (ctx.opts['pillar_raise_on_missing'] === true)
    throw pythonError('KeyError', pyQuoted(`Pillar key not found: ${args.key}`));
  return '';
}
const pyQuoted = (text: string): string => `'${text}'`;

function obfuscated(value: Value): Value {
  if (isDict(value)) return dictOf(dictEntries(value).map(([key, item]) => [key, obfuscated(item)] as const));
  return Array.isArray(value) ? value.map(obfuscated) : `<${pyTypeName(value)}>`;
}

async function item(args: readonly Value[], kwargs: PlainDict, ctx: ModuleContext): Promise<Dict> {
  const pillar = await chosen(optionalText(kwargs['pillarenv']) ?? null, optionalText(kwargs['saltenv']) ?? null, ctx);
  const delimiter = pyStr(kwargs['delimiter'] ?? defaultDelimiter);
  const fallback = kwargs['default'] ?? '';
  return dictOf(args.map((name): [Value, Value] => [name, traverse(pillar, pyStr(name), delimiter) ?? fallback]));
}

const items = async (args: readonly Value[], kwargs: PlainDict, ctx: ModuleContext): Promise<Dict> =>
  args.length > 0 ? item(args, newDict(), ctx) : compile(kwargs, ctx);

const anything = {
  args: p.rest({ doc: 'keys to show instead of everything' }),
  kwargs: p.kwargs({ doc: 'pillar (override), pillarenv, saltenv' }),
};

const getParams = {
  key: p.string(),
  default: p.any({ default: notSet, doc: 'returned when the key does not exist' }),
  merge: p.bool({ default: false, doc: 'merge default and value' }),
  merge_nested_lists: p.truthy({ default: null, nullable: true, doc: 'also merge nested lists' }),
  delimiter: p.string({ default: defaultDelimiter }),
  pillarenv: p.string({ default: null, doc: 'request the pillar of that environment from the master' }),
  saltenv: p.string({ default: null }),
};

const getter = (name: string) =>
  fn({
    doc: 'The value of a pillar key, also of a nested one, or the default. With merge the default is completed by the pillar.',
    examples: [`salt '*' pillar.${name} pkg:apache`, `salt '*' pillar.${name} abc::def|ghi delimiter='|'`],
    params: getParams,
    inline: true,
    run: async (args, ctx) => get(args, await chosen(args.pillarenv, args.saltenv, ctx), ctx),
  });
const allItems = (name: string) =>
  fn({
    doc: 'The pillar as the master compiles it now; with arguments only those keys of the pillar in memory.',
    examples: [`salt '*' pillar.${name}`, `salt '*' pillar.${name} pillar='{extra: 1}'`],
    params: anything,
    run: ({ args, kwargs }, ctx) => items(args, kwargs, ctx),
  });

export default defineModule({
  name: 'pillar',
  doc: 'Reads the pillar of this minion.',
  reads: ['get', 'fetch', 'items', 'data', 'item', 'ls', 'raw', 'keys', 'obfuscate', 'ext', 'file_exists', 'filter_by'],
  functions: {
    get: getter('get'),
    fetch: getter('fetch'),
    items: allItems('items'),
    data: allItems('data'),
    item: fn({
      doc: 'The values of several pillar keys.',
      examples: ["salt '*' pillar.item foo", "salt '*' pillar.item foo:bar", "salt '*' pillar.item foo bar baz"],
      params: { args: p.rest(), kwargs: p.kwargs({ doc: 'default, delimiter, pillarenv, saltenv' }) },
      inline: true,
      run: ({ args, kwargs }, ctx) => item(args, kwargs, ctx),
    }),
    ls: fn({
      doc: 'The names of the top-level keys.',
      examples: ["salt '*' pillar.ls"],
      params: { args: p.rest() },
      run: async ({ args }, ctx) => dictKeys(await items(args, newDict(), ctx)),
    }),
    raw: fn({
      doc: 'The pillar in memory, or one of its top-level keys.',
      examples: ["salt '*' pillar.raw", "salt '*' pillar.raw key='roles'"],
      params: { key: p.string({ default: null, falsy: null }) },
      inline: true,
      run: ({ key }, ctx) => (isTruthy(key) ? (dictGet(ctx.pillar, key) ?? newDict()) : ctx.pillar),
    }),
    keys: fn({
      doc: 'The keys below a pillar key.',
      examples: ["salt '*' pillar.keys web:sites"],
      params: { key: p.string(), delimiter: p.string({ default: defaultDelimiter }) },
      inline: true,
      run({ key, delimiter }, ctx) {
        const found = traverse(ctx.pillar, key, delimiter);
        if (found === undefined) throw pythonError('KeyError', pyQuoted(`Pillar key not found: ${key}`));
        if (!isDict(found)) throw pythonError('ValueError', `Pillar value in key ${key} is not a dict`);
        return dictKeys(found);
      },
    }),
    obfuscate: fn({
      doc: 'The pillar with every value replaced by its type, to show the structure without the secrets.',
      examples: ["salt '*' pillar.obfuscate"],
      params: anything,
      run: async ({ args, kwargs }, ctx) => obfuscated(await items(args, kwargs, ctx)),
    }),
    ext: fn({
      doc: 'Compiles the pillar with one additional external source; the option on_demand_ext_pillar of the master lists the allowed ones.',
      examples: [`salt '*' pillar.ext '{libvirt: _}'`],
      params: {
        external: p.oneOf(['string', 'dict'], { doc: 'one entry of ext_pillar' }),
        pillar: p.dict({ default: null, falsy: null, doc: 'values that override all others' }),
      },
      run: ({ external, pillar }, ctx) =>
        ctx.minion.compilePillar({
          ext: typeof external === 'string' ? loadYaml(external) : external,
          ...(isDict(pillar) ? { override: pillar } : {}),
        }),
    }),
    file_exists: fn({
      doc: 'Whether a file is in the pillar roots. Only where those are local: on the master or without one.',
      examples: ["salt '*' pillar.file_exists foo/bar.sls"],
      params: { path: p.path(), saltenv: p.string({ default: null }) },
      run({ path, saltenv }, ctx) {
        const roots = ctx.opts['pillar_roots'];
        if (!isDict(roots) || !isTruthy(roots))
          throw commandError('No pillar_roots found. Are you running this on the master?');
        const folders = dictEntries(roots).filter(([env]) => saltenv === null || pyStr(env) === saltenv);
        return folders.some(
          ([, list]) => Array.isArray(list) && list.some((folder) => isFile(join(pyStr(folder), path))),
        );
      },
    }),
    filter_by: fn({
      doc: 'Chooses an entry of a dictionary by the value of a pillar key; keys may be globs. `base` is merged below and `merge` above it.',
      examples: [`salt '*' pillar.filter_by '{web: nginx, db: postgresql, default: none}' role`],
      params: {
        lookup_dict: p.dict(),
        pillar: p.string({ doc: 'the key' }),
        merge: p.dict({ default: null, falsy: null }),
        default: p.string({ default: 'default' }),
        base: p.string({ default: null }),
      },
      run: (args, ctx) => filterBy(args.lookup_dict, valuesAt(ctx.pillar, args.pillar), args),
    }),
  },
});
