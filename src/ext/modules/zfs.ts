// Execution module `zfs`: file systems, volumes and snapshots of ZFS.
import {
  cleanKwargs,
  defineModule,
  dictEntries,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { fromProperty, isSnapshot } from '../shared/zfs/properties.ts';
import { type Answer, command } from './shared/command.ts';

/** A value as zfs reads it. */
function toProperty(value: Value): string {
  if (value === null) return 'none';
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : pyStr(value);
}

const zfs = (ctx: ModuleContext, ...argv: string[]): Promise<Answer> => command(ctx, ['zfs', ...argv]);

/** Whether it worked, under the given key, and the error message of zfs in Salt's form. */
function outcome(answer: Answer, word?: string): PlainDict {
  const found = newDict(word === undefined ? [] : [[word, answer.retcode === 0]]);
  if (answer.retcode === 0) return found;
  const said = lines(answer.stderr);
  const usage = said.findIndex((line) => line.toLowerCase().startsWith('usage:'));
  const kept = (usage < 0 ? said : said.slice(0, usage)).map((line) =>
    line.replace(/^(use ')-f/i, '$1force=True').replace(/^(use ')-r/i, '$1recursive=True'),
  );
  if (kept.length > 0) found['error'] = kept.join('\n');
  return found;
}

const flag = (given: PlainDict, key: string, option: string): string[] => (isTruthy(given[key]) ? [option] : []);
const properties = (given: PlainDict): string[] => {
  const wanted = given['properties'] ?? null;
  const pairs = isDict(wanted) ? dictEntries(wanted).map(([key, value]) => `${pyStr(key)}=${toProperty(value)}`) : [];
  return pairs.sort().flatMap((pair) => ['-o', pair]);
};

/** Options with a value, where one is given, in a fixed order. */
const options = (given: Readonly<Record<string, Value | undefined>>): string[] =>
  Object.entries(given)
    .filter(([, value]) => isTruthy(value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([option, value]) => [option, pyStr(value ?? '')]);

const name = p.string({ doc: 'the data set' });
const kwargs = (doc: string) => p.kwargs({ doc });
const snapshots = p.rest({ doc: 'the snapshots' });

async function get(datasets: readonly Value[], given: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const asked = pyStr(given['fields'] ?? 'value,source').split(',');
  const fields = ['name', 'property', ...asked.filter((field) => field !== 'name' && field !== 'property')];
  const wanted = given['properties'] ?? 'all';
  const depth = isTruthy(given['depth']);
  const argv = [
    ...['get', '-H', ...(depth ? [] : flag(given, 'recursive', '-r'))],
    ...options({ '-d': given['depth'], '-o': fields.join(','), '-t': given['type'], '-s': given['source'] }),
    Array.isArray(wanted) ? wanted.map(pyStr).join(',') : pyStr(wanted),
    ...datasets.map(pyStr),
  ];
  const done = await zfs(ctx, ...argv);
  const found = outcome(done);
  if (done.retcode !== 0) return found;
  for (const line of lines(done.stdout)) {
    const cells = line.split('\t');
    const row = newDict(fields.map((field, index) => [field, cells[index] ?? '']));
    const { name: dataset, property, ...rest } = row;
    const key = pyStr(property ?? '');
    if (rest['value'] !== undefined && given['parsable'] !== false) rest['value'] = fromProperty(key, rest['value']);
    const before = (found[pyStr(dataset ?? '')] ?? newDict()) as PlainDict;
    found[pyStr(dataset ?? '')] = newDict([...Object.entries(before), [key, newDict(Object.entries(rest))]]);
  }
  return found;
}

async function list(dataset: string | null, given: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const asked = given['properties'] ?? 'used,avail,refer,mountpoint';
  const wanted = (Array.isArray(asked) ? asked.map(pyStr) : pyStr(asked).split(',')).filter((one) => one !== 'name');
  const sort = given['sort'];
  const ascending = pyStr(given['order'] ?? 'ascending').startsWith('a');
  const sorted = ['name', ...wanted].includes(pyStr(sort ?? '')) ? sort : undefined;
  const argv = [
    ...['list', '-H', ...flag(given, 'recursive', '-r')],
    ...options({
      '-d': isTruthy(given['recursive']) ? given['depth'] : undefined,
      '-t': given['type'],
      [ascending ? '-s' : '-S']: sorted,
      '-o': ['name', ...wanted].join(','),
    }),
    ...(dataset === null ? [] : [pyStr(dataset)]),
  ];
  const done = await zfs(ctx, ...argv);
  if (done.retcode !== 0) return outcome(done);
  return newDict(
    lines(done.stdout).map((line) => {
      const [own = '', ...cells] = line.split('\t');
      const value = (key: string, index: number): Value =>
        given['parsable'] === false ? (cells[index] ?? '') : fromProperty(key, cells[index] ?? '');
      return [own, newDict(wanted.map((key, index) => [key, value(key, index)]))];
    }),
  );
}

const simple = (fun: string, doc: string, word: string, flags: readonly (readonly [string, string])[]) =>
  fn({
    doc,
    examples: [`salt '*' zfs.${fun} tank/data`],
    params: { name, kwargs: kwargs(flags.map(([key]) => key).join(', ')) },
    run: async (args, ctx) =>
      outcome(
        await zfs(ctx, fun, ...flags.flatMap(([key, option]) => flag(args.kwargs, key, option)), args.name),
        word,
      ),
  });

const tagged = (fun: string, doc: string, word: string) =>
  fn({
    doc,
    examples: [`salt '*' zfs.${fun} keep tank/data@daily`],
    params: { tag: p.string({ doc: 'the tag' }), snapshot: snapshots, kwargs: kwargs('recursive') },
    run: async (args, ctx) =>
      outcome(
        await zfs(ctx, fun, ...flag(args.kwargs, 'recursive', '-r'), args.tag, ...args.snapshot.map(pyStr)),
        word,
      ),
  });

const functions = {
  exists: fn({
    doc: 'Whether a data set exists.',
    examples: ["salt '*' zfs.exists tank/data"],
    params: { name, kwargs: kwargs('type') },
    async run(args, ctx) {
      const kind = isTruthy(args.kwargs['type']) ? ['-t', pyStr(args.kwargs['type'] ?? '')] : [];
      return (await command(ctx, ['zfs', 'list', ...kind, args.name], { ignore_retcode: true })).retcode === 0;
    },
  }),
  create: fn({
    doc: 'Creates a file system, or a volume when a size is given.',
    examples: ["salt '*' zfs.create tank/data create_parent=True properties='{compression: lz4}'"],
    params: { name, kwargs: kwargs('create_parent, sparse, volume_size, properties') },
    async run({ name: dataset, kwargs: given }, ctx) {
      const size = given['volume_size'] ?? null;
      const argv = [
        ...flag(given, 'create_parent', '-p'),
        ...(isTruthy(size) ? [...flag(given, 'sparse', '-s'), '-V', toProperty(fromProperty('volsize', size))] : []),
        ...properties(given),
      ];
      return outcome(await zfs(ctx, 'create', ...argv, dataset), 'created');
    },
  }),
  destroy: simple('destroy', 'Removes a data set.', 'destroyed', [
    ['force', '-f'],
    ['recursive_all', '-R'],
    ['recursive', '-r'],
  ]),
  rename: fn({
    doc: 'Renames a data set.',
    examples: ["salt '*' zfs.rename tank/old tank/new"],
    params: { name, new_name: p.string({ doc: 'the new name' }), kwargs: kwargs('create_parent, force, recursive') },
    async run({ name: from, new_name: to, kwargs: given }, ctx) {
      const flags = isSnapshot(from)
        ? flag(given, 'recursive', '-r')
        : [...flag(given, 'create_parent', '-p'), ...flag(given, 'force', '-f')];
      return outcome(await zfs(ctx, 'rename', ...flags, from, to), 'renamed');
    },
  }),
  list: fn({
    doc: 'Data sets and some of their properties.',
    examples: ["salt '*' zfs.list tank recursive=True"],
    params: {
      name: p.string({ default: null, doc: 'the data set' }),
      kwargs: kwargs('recursive, depth, type, properties, sort, order, parsable'),
    },
    run: (args, ctx) => list(args.name, args.kwargs, ctx),
  }),
  get: fn({
    doc: 'Properties of data sets.',
    examples: ["salt '*' zfs.get tank/data properties=compression"],
    params: {
      dataset: p.rest({ doc: 'the data sets' }),
      kwargs: kwargs('properties, fields, type, source, recursive, depth, parsable'),
    },
    run: (args, ctx) => get(args.dataset, args.kwargs, ctx),
  }),
  set: fn({
    doc: 'Sets properties of data sets.',
    examples: ["salt '*' zfs.set tank/data compression=lz4"],
    params: { dataset: p.rest({ doc: 'the data sets' }), kwargs: kwargs('properties') },
    async run(args, ctx) {
      const pairs = Object.entries(cleanKwargs(args.kwargs)).map(([key, value]) => `${key}=${toProperty(value)}`);
      return outcome(await zfs(ctx, 'set', ...pairs, ...args.dataset.map(pyStr)), 'set');
    },
  }),
  clone: fn({
    doc: 'Creates a data set from a snapshot.',
    examples: ["salt '*' zfs.clone tank/data@daily tank/copy"],
    params: { name_a: p.string({ doc: 'the snapshot' }), name_b: name, kwargs: kwargs('create_parent, properties') },
    async run({ name_a: from, name_b: to, kwargs: given }, ctx) {
      const argv = [...flag(given, 'create_parent', '-p'), ...properties(given)];
      return outcome(await zfs(ctx, 'clone', ...argv, from, to), 'cloned');
    },
  }),
  promote: simple('promote', 'Makes a clone independent of its snapshot.', 'promoted', []),
  mount: fn({
    doc: 'Mounts a file system; `-a` means all of them.',
    examples: ["salt '*' zfs.mount tank/data"],
    params: { name: p.string({ default: null, doc: 'the file system' }), kwargs: kwargs('overlay, options') },
    async run({ name: dataset, kwargs: given }, ctx) {
      const argv = [...flag(given, 'overlay', '-O'), ...options({ '-o': given['options'] })];
      return outcome(await zfs(ctx, 'mount', ...argv, ...(dataset === null ? [] : [dataset])), 'mounted');
    },
  }),
  unmount: simple('unmount', 'Unmounts a file system.', 'unmounted', [['force', '-f']]),
  rollback: simple('rollback', 'Goes back to a snapshot.', 'rolledback', [
    ['recursive_all', '-R'],
    ['recursive', '-r'],
    ['force', '-f'],
  ]),
  inherit: fn({
    doc: 'Resets a property to the inherited value.',
    examples: ["salt '*' zfs.inherit compression tank/data"],
    params: { prop: p.string({ doc: 'the property' }), name, kwargs: kwargs('recursive, revert') },
    async run({ prop, name: dataset, kwargs: given }, ctx) {
      const flags = [...flag(given, 'recursive', '-r'), ...flag(given, 'revert', '-S')];
      return outcome(await zfs(ctx, 'inherit', ...flags, prop, dataset), 'inherited');
    },
  }),
  snapshot: fn({
    doc: 'Takes snapshots.',
    examples: ["salt '*' zfs.snapshot tank/data@daily"],
    params: { snapshot: snapshots, kwargs: kwargs('recursive, properties') },
    async run(args, ctx) {
      const argv = [...flag(args.kwargs, 'recursive', '-r'), ...properties(args.kwargs)];
      return outcome(await zfs(ctx, 'snapshot', ...argv, ...args.snapshot.map(pyStr)), 'snapshotted');
    },
  }),
  bookmark: fn({
    doc: 'Creates a bookmark of a snapshot.',
    examples: ["salt '*' zfs.bookmark tank/data@daily tank/data#daily"],
    params: { snapshot: p.string({ doc: 'the snapshot' }), bookmark: p.string({ doc: 'the bookmark' }) },
    run: async (args, ctx) => outcome(await zfs(ctx, 'bookmark', args.snapshot, args.bookmark), 'bookmarked'),
  }),
  holds: fn({
    doc: 'Tags that hold a snapshot.',
    examples: ["salt '*' zfs.holds tank/data@daily"],
    params: { snapshot: p.string({ doc: 'the snapshot' }), kwargs: kwargs('accepted') },
    async run(args, ctx) {
      const done = await zfs(ctx, 'holds', '-H', args.snapshot);
      if (done.retcode !== 0) return outcome(done);
      const rows = lines(done.stdout).map((line) => line.split('\t'));
      return newDict(rows.map(([, tag = '', since = '']) => [tag, since]));
    },
  }),
  hold: tagged('hold', 'Keeps snapshots from being removed.', 'held'),
  release: tagged('release', 'Lets snapshots be removed again.', 'released'),
};

export default defineModule({
  name: 'zfs',
  doc: 'File systems, volumes and snapshots of ZFS.',
  available: () => which('zfs') !== null || 'The zfs module cannot be loaded: zfs not supported',
  reads: ['exists', 'list', 'get', 'holds'],
  functions,
});
