// State module `zfs`: file systems, volumes and snapshots of ZFS.
import {
  changeSet,
  defineState,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { fromProperties, fromProperty, isBookmark, isSnapshot } from '../../shared/zfs/properties.ts';

const name = p.string({ doc: 'the data set' });
const create_parent = p.bool({ default: false, doc: 'create its parents' });
const propertiesParam = p.oneOf(['dict', 'list'], { default: null, doc: 'property → value' });
const cloned_from = p.scalar({ default: null, doc: 'a snapshot to begin with' });
const removal = {
  name,
  force: p.bool({ default: false, doc: 'also when it is in use' }),
  recursive: p.bool({ default: false, doc: 'with its children' }),
};

type Kind = 'filesystem' | 'volume' | 'snapshot' | 'bookmark';
const isDataset = (text: string): boolean => !isSnapshot(text) && !isBookmark(text);

/** Properties that are there with another value. */
async function stale(kind: Kind, dataset: string, wanted: PlainDict, ctx: StateContext): Promise<PlainDict> {
  const kwargs = {
    properties: Object.keys(wanted).sort().join(','),
    type: kind,
    fields: 'value',
    depth: 0,
    parsable: true,
  };
  const current = textKeyed(textKeyed(await ctx.callWith('zfs.get', [dataset], kwargs))[dataset]);
  const differing = Object.entries(wanted).filter(
    ([key, value]) => key in current && !pyEquals(textKeyed(current[key])['value'] ?? null, value),
  );
  return newDict(differing);
}

async function update(kind: Kind, dataset: string, wanted: PlainDict, ctx: StateContext): Promise<StateResult> {
  const differing = Object.keys(wanted).length > 0 ? await stale(kind, dataset, wanted, ctx) : newDict();
  if (Object.keys(differing).length === 0) return ctx.ok(`${kind} ${dataset} is uptodate`);
  const done = newDict();
  return changeSet(ctx, {
    async each(set) {
      for (const [key, value] of Object.entries(differing)) {
        const change = async (): Promise<boolean> =>
          textKeyed(await ctx.callWith('zfs.set', [dataset], newDict([[key, value]])))['set'] === true;
        if (!(await set.part({ change, failed: '' }))) continue;
        done[key] = value;
        set.changes[dataset] = done;
      }
    },
    would: `${kind} ${dataset} was updated`,
    done: `${kind} ${dataset} was updated`,
    failed: `${kind} ${dataset} failed to be updated`,
  });
}

interface Wanted {
  readonly name: string;
  readonly create_parent: boolean;
  readonly properties: Value;
  readonly cloned_from: Value;
  readonly volume_size?: Value;
  readonly sparse?: boolean;
}

async function present(kind: 'filesystem' | 'volume', args: Wanted, ctx: StateContext): Promise<StateResult> {
  const { name: dataset, create_parent: parents, cloned_from: origin } = args;
  const size = isTruthy(args.volume_size) ? fromProperty('volsize', args.volume_size ?? null) : null;
  const wanted = newDict([
    ...Object.entries(fromProperties(args.properties)),
    ...(size === null ? [] : [['volsize', size] as [string, Value]]),
  ]);
  if (!isDataset(dataset)) return ctx.fail(`invalid dataset name: ${dataset}`);
  if (isTruthy(origin) && !isSnapshot(pyStr(origin))) return ctx.fail(`${pyStr(origin)} is not a snapshot`);
  if (isTruthy(await ctx.callWith('zfs.exists', [dataset], newDict([['type', kind]]))))
    return update(kind, dataset, wanted, ctx);
  const word = isTruthy(origin) ? 'cloned' : 'created';
  const changes = newDict([[dataset, Object.keys(wanted).length > 0 ? wanted : word]]);
  return ctx.change(changes, `${kind} ${dataset} was ${word}`, {
    test: `${kind} ${dataset} was ${word}`,
    async apply() {
      const common = { create_parent: parents, properties: wanted };
      const said = textKeyed(
        isTruthy(origin)
          ? await ctx.callWith('zfs.clone', [origin, dataset], common)
          : await ctx.callWith('zfs.create', [dataset], { ...common, volume_size: size, sparse: args.sparse ?? false }),
      );
      if (said[word] === true) return undefined;
      return ctx.fail(pyStr(said['error'] ?? `failed to ${word.slice(0, -1)} ${kind} ${dataset}`));
    },
  });
}

const fits: Readonly<Record<Kind, (text: string) => boolean>> = {
  filesystem: isDataset,
  volume: isDataset,
  snapshot: isSnapshot,
  bookmark: isBookmark,
};

const absent = (kind: Kind) =>
  state({
    doc: `A ${kind} that must not exist.`,
    examples: [`tank/data:\n  zfs.${kind}_absent`],
    params: removal,
    run({ name: dataset, force, recursive }, ctx) {
      const noun = kind === 'filesystem' || kind === 'volume' ? 'dataset' : kind;
      if (!fits[kind](dataset)) return ctx.fail(`invalid ${noun} name: ${dataset}`);
      return resource(ctx, {
        find: () => ctx.callWith('zfs.exists', [dataset], { type: kind }),
        wanted: false,
        change: async () => textKeyed(await ctx.callWith('zfs.destroy', [dataset], { force, recursive })),
        problem: (said) =>
          said['destroyed'] === true ? undefined : pyStr(said['error'] ?? `failed to destroy ${kind} ${dataset}`),
        changes: { [dataset]: 'destroyed' },
        right: `${kind} ${dataset} is absent`,
        would: `${kind} ${dataset} was destroyed`,
        done: `${kind} ${dataset} was destroyed`,
      });
    },
  });

const snapshot_present = state({
  doc: 'A snapshot.',
  examples: ['tank/data@daily:\n  zfs.snapshot_present'],
  params: { name, recursive: p.bool({ default: false, doc: 'also of children' }), properties: propertiesParam },
  run({ name: snapshot, recursive, properties }, ctx) {
    if (!isSnapshot(snapshot)) return ctx.fail(`invalid snapshot name: ${snapshot}`);
    const wanted = fromProperties(properties);
    return resource(ctx, {
      find: () => ctx.callWith('zfs.exists', [snapshot], { type: 'snapshot' }),
      change: async () => textKeyed(await ctx.callWith('zfs.snapshot', [snapshot], { recursive, properties: wanted })),
      problem: (said) =>
        said['snapshotted'] === true ? undefined : pyStr(said['error'] ?? `failed to create snapshot ${snapshot}`),
      changes: { [snapshot]: Object.keys(wanted).length > 0 ? wanted : 'snapshotted' },
      right: 'snapshot is present',
      would: `snapshot ${snapshot} was created`,
      done: `snapshot ${snapshot} was created`,
    });
  },
});

export default defineState({
  name: 'zfs',
  doc: 'File systems, volumes and snapshots of ZFS.',
  available: () => which('zfs') !== null || 'The zfs state cannot be loaded: zfs not supported',
  functions: {
    filesystem_present: state({
      doc: 'A file system with properties.',
      examples: [
        'tank/data:\n  zfs.filesystem_present:\n    - create_parent: true\n    - properties:\n        compression: lz4',
      ],
      params: { name, create_parent, properties: propertiesParam, cloned_from },
      run: (args, ctx) => present('filesystem', args, ctx),
    }),
    volume_present: state({
      doc: 'A volume with properties.',
      examples: ['tank/swap:\n  zfs.volume_present:\n    - volume_size: 4G'],
      params: {
        name,
        volume_size: p.scalar({ nullable: true, doc: 'its size' }),
        sparse: p.bool({ default: false, doc: 'allocate space on demand' }),
        create_parent,
        properties: propertiesParam,
        cloned_from,
      },
      run: (args, ctx) => present('volume', args, ctx),
    }),
    snapshot_present,
    filesystem_absent: absent('filesystem'),
    volume_absent: absent('volume'),
    snapshot_absent: absent('snapshot'),
    bookmark_absent: absent('bookmark'),
  },
});
