// Execution module `slsutil`: merges, serializes and looks up data for SLS files.
import { posix } from 'node:path';
import {
  cleanKwargs,
  commandError,
  defineModule,
  fn,
  invocationError,
  isDict,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { type MergeStrategy, mergeDicts, mergeStrategies } from 'halite/sdk/data';
import { anySerializerFor } from '../../shared/serializers/serializers.ts';
import { updateInPlace } from '../shared/data.ts';
import { banner } from './banner.ts';
import { renderSource } from './render.ts';

interface MergeArgs {
  readonly strategy: string;
  readonly renderer: string;
  readonly merge_lists: boolean;
}

function merge(a: Value, b: Value, args: MergeArgs, ctx: ModuleContext): Value {
  if (!isDict(a) || !isDict(b))
    throw pythonError('TypeError', 'Cannot update using non-dict types in dictupdate.update()');
  const known = (mergeStrategies as readonly string[]).includes(args.strategy);
  if (!known) ctx.log.warn(`Unknown merging strategy '${args.strategy}', fallback to recurse`);
  const strategy = known ? (args.strategy as MergeStrategy) : 'none';
  return mergeDicts(a, b, { strategy, renderer: args.renderer, mergeLists: args.merge_lists });
}

const fileExists = async (path: string, saltenv: string, ctx: ModuleContext): Promise<boolean> =>
  (await ctx.files.list('files', saltenv)).includes(path);
const dirExists = async (path: string, saltenv: string, ctx: ModuleContext): Promise<boolean> =>
  (await ctx.files.list('dirs', saltenv)).includes(path);
const pathExists = async (path: string, saltenv: string, ctx: ModuleContext): Promise<boolean> =>
  (await fileExists(path, saltenv, ctx)) || dirExists(path, saltenv, ctx);

async function findUp(start: string, names: readonly string[], saltenv: string, ctx: ModuleContext): Promise<string> {
  let folder = start === '' ? '' : posix.normalize(start).replace(/\/$/, '');
  if (folder !== '' && !(await pathExists(folder, saltenv, ctx))) {
    throw invocationError(`Starting path not found in the state tree: ${folder}`);
  }
  for (;;) {
    for (const name of names) {
      const full = posix.join(folder, name);
      if (await pathExists(full, saltenv, ctx)) return full;
    }
    if (folder === '') throw commandError('File pattern(s) not found in path ancestry');
    const above = posix.dirname(folder);
    folder = above === '.' || above === folder ? '' : above;
  }
}

const mergeParams = {
  strategy: p.string({ default: 'smart', doc: 'smart, recurse, aggregate, overwrite, list or none' }),
  renderer: p.string({ default: 'yaml', doc: 'determines the strategy of smart' }),
  merge_lists: p.bool({ default: false, doc: 'concatenate lists' }),
};
const path = p.string({ doc: 'path on the file server, without salt://' });
const saltenv = p.string({ default: 'base' });
const existence = (doc: string, name: string, check: typeof fileExists) =>
  fn({
    doc,
    examples: [`salt '*' slsutil.${name} path/to/it`],
    params: { path, saltenv },
    run: (args, ctx) => check(args.path, args.saltenv, ctx),
  });

export default defineModule({
  name: 'slsutil',
  doc: 'Merges, serializes and looks up data for SLS files.',
  reads: [
    'merge',
    'merge_all',
    'update',
    'serialize',
    'deserialize',
    'renderer',
    'banner',
    'boolstr',
    'file_exists',
    'dir_exists',
    'path_exists',
    'findup',
  ],
  functions: {
    merge: fn({
      doc: 'Two dictionaries merged into a new one.',
      examples: [`salt '*' slsutil.merge '{foo: Foo}' '{bar: Bar}'`],
      params: {
        obj_a: p.any({ doc: 'data of any kind' }),
        obj_b: p.any({ doc: 'data to merge over it' }),
        ...mergeParams,
      },
      run: (args, ctx) => merge(args.obj_a, args.obj_b, args, ctx),
    }),
    merge_all: fn({
      doc: 'A list of dictionaries merged one after another.',
      examples: [`salt '*' slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'`],
      params: { lst: p.list(), ...mergeParams },
      run: (args, ctx) => args.lst.reduce<Value>((all, next) => merge(all, next, args, ctx), newDict()),
    }),
    update: fn({
      doc: 'Merges one dictionary into another, which is changed.',
      examples: [`salt '*' slsutil.update '{foo: Foo}' '{bar: Bar}'`],
      params: {
        dest: p.any({ doc: 'data that is changed; other kinds are refused as Salt does' }),
        upd: p.any({ doc: 'data to merge into it' }),
        recursive_update: p.bool({ default: true }),
        merge_lists: p.bool({ default: false }),
      },
      run({ dest, upd, recursive_update, merge_lists }) {
        if (!isDict(dest) || !isDict(upd))
          throw pythonError('TypeError', 'Cannot update using non-dict types in dictupdate.update()');
        return updateInPlace(dest, upd, merge_lists, recursive_update);
      },
    }),
    serialize: fn({
      doc: 'Data as text: json, yaml, python, configparser, keyvalue or msgpack. Other keyword arguments go to the serializer.',
      examples: [`salt '*' slsutil.serialize 'json' obj="{'foo': 'Foo!'}"`],
      params: { serializer: p.string(), obj: p.any({ doc: 'data of any kind' }), mod_kwargs: p.kwargs() },
      async run({ serializer, obj, mod_kwargs }, ctx) {
        const write = await anySerializerFor(serializer, 'serialize', ctx);
        return write(obj, cleanKwargs(mod_kwargs));
      },
    }),
    deserialize: fn({
      doc: 'Data from text: json, yaml, configparser, keyvalue or msgpack.',
      examples: [`salt '*' slsutil.deserialize 'json' '{"foo": "Foo!"}'`],
      params: {
        serializer: p.string(),
        stream_or_string: p.any({ doc: 'what the serializer reads: text, bytes or data' }),
        mod_kwargs: p.kwargs(),
      },
      async run({ serializer, stream_or_string, mod_kwargs }, ctx) {
        const read = await anySerializerFor(serializer, 'deserialize', ctx);
        return read(stream_or_string, cleanKwargs(mod_kwargs));
      },
    }),
    renderer: fn({
      doc: 'Renders a text or a file of the file server. Other keyword arguments are variables of templates.',
      examples: [
        "salt '*' slsutil.renderer salt://path/to/file",
        "salt '*' slsutil.renderer salt://path/to/file default_renderer='jinja'",
        "salt '*' slsutil.renderer string='Inline template! {{ saltenv }}'",
      ],
      params: {
        path: p.string({ default: null }),
        string: p.string({ default: null }),
        default_renderer: p.string({ default: 'jinja|yaml', doc: 'used unless the text begins with `#!`' }),
        kwargs: p.kwargs(),
      },
      run: (args, ctx) => renderSource({ ...args, kwargs: cleanKwargs(args.kwargs) }, ctx),
    }),
    banner: fn({
      doc: 'A comment block that marks a file as managed.',
      examples: ["salt '*' slsutil.banner", `salt '*' slsutil.banner commentchar='//' borderchar='*'`],
      params: {
        width: p.int({ default: 72 }),
        commentchar: p.string({ default: '#' }),
        borderchar: p.string({ default: '#' }),
        blockstart: p.string({ default: null, doc: 'line that opens a block comment' }),
        blockend: p.string({ default: null, doc: 'line that closes a block comment' }),
        title: p.string({ default: null }),
        text: p.string({ default: null }),
        newline: p.bool({ default: false, doc: 'end with a line break' }),
      },
      run(args) {
        const title = args.title ?? 'THIS FILE IS MANAGED BY SALT - DO NOT EDIT';
        const standard =
          'The contents of this file are managed by Salt. Any changes to this file may be overwritten automatically and without warning.';
        const made = banner({ ...args, title, text: args.text ?? standard });
        if (made === undefined) throw pythonError('ArgumentValueError', 'Width is too small to render banner');
        return made;
      },
    }),
    boolstr: fn({
      doc: 'One of two texts, by whether a value is true.',
      examples: ["salt '*' slsutil.boolstr true yes no"],
      params: {
        value: p.truthy(),
        true: p.any({ default: 'true', doc: 'returned for a true value; any type' }),
        false: p.any({ default: 'false', doc: 'returned for a false value; any type' }),
      },
      run: (args) => (args.value ? args.true : args.false),
    }),
    file_exists: existence('Whether a file is on the file server.', 'file_exists', fileExists),
    dir_exists: existence('Whether a folder is on the file server.', 'dir_exists', dirExists),
    path_exists: existence('Whether a file or folder is on the file server.', 'path_exists', pathExists),
    findup: fn({
      doc: 'The first of several names found in a folder of the file server or in those above it.',
      examples: ["salt '*' slsutil.findup formulas/shared/nfs map.jinja"],
      params: {
        startpath: p.string({ doc: 'where to begin' }),
        filenames: p.oneOf(['string', 'list'], { doc: 'one name or a list' }),
        saltenv,
      },
      run(args, ctx) {
        const names = typeof args.filenames === 'string' ? [args.filenames] : args.filenames;
        if (!Array.isArray(names)) throw invocationError('Filenames argument must be a string or list of strings');
        return findUp(args.startpath, names.map(pyStr), args.saltenv, ctx);
      },
    }),
  },
});
