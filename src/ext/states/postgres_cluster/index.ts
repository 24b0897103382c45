// State module `postgres_cluster`: clusters of PostgreSQL, as Debian has them.
import {
  defineState,
  isTruthy,
  needsFunction,
  newDict,
  p,
  pyEquals,
  pyStr,
  resource,
  state,
  textKeyed,
} from 'halite/sdk';

const version = p.scalar({ nullable: true, doc: 'version of the server' });
const name = p.string({ doc: 'the cluster' });

const present = state({
  doc: 'A cluster.',
  examples: ["main:\n  postgres_cluster.present:\n    - version: '15'\n    - port: 5433"],
  params: {
    version,
    name,
    port: p.scalar({ default: null, doc: 'its port' }),
    encoding: p.scalar({ default: null, doc: 'encoding of databases' }),
    locale: p.scalar({ default: null, doc: 'locale of databases' }),
    datadir: p.scalar({ default: null, doc: 'folder of the data' }),
    allow_group_access: p.scalar({ default: null, doc: 'the group may read the folder' }),
    data_checksums: p.scalar({ default: null, doc: 'with checksums' }),
    wal_segsize: p.scalar({ default: null, doc: 'size of a log segment, in megabytes' }),
  },
  run(args, ctx) {
    const full = `${pyStr(args.version)}/${args.name}`;
    return resource(ctx, {
      async find() {
        if (!isTruthy(await ctx.call('postgres.cluster_exists', args.version, args.name))) return null;
        return textKeyed(textKeyed(await ctx.callWith('postgres.cluster_list', [], { verbose: true }))[full]);
      },
      compare: (info) => info === null,
      refuse: (info) =>
        info !== null &&
        (['port', 'datadir'] as const).some((key) => isTruthy(args[key]) && !pyEquals(args[key], info[key] ?? null))
          ? `Cluster ${full} has wrong parameters which couldn't be changed on fly.`
          : undefined,
      change: () => ctx.callWith('postgres.cluster_create', [], args),
      changes: () => ({ [full]: 'Present' }),
      right: `Cluster ${full} is already present`,
      would: `Cluster ${full} is set to be created`,
      done: `The cluster ${full} has been created`,
      failed: `Failed to create cluster ${full}`,
    });
  },
});

const absent = state({
  doc: 'A cluster that must not exist; its data is removed.',
  examples: ["main:\n  postgres_cluster.absent:\n    - version: '13'"],
  params: { version, name },
  run(args, ctx) {
    const full = `${pyStr(args.version)}/${args.name}`;
    const gone = `Cluster ${full} is not present, so it cannot be removed`;
    return resource(ctx, {
      find: () => ctx.call('postgres.cluster_exists', args.version, args.name),
      wanted: false,
      async change() {
        const done = await ctx.call('postgres.cluster_remove', args.version, args.name, true);
        if (!isTruthy(done)) return ctx.ok(gone);
        const changes = newDict([[args.name, 'Absent']]);
        const failed = isTruthy(textKeyed(done)['retcode']);
        return failed
          ? ctx.fail(`Failed to remove cluster ${full}`)
          : ctx.ok(`Cluster ${full} has been removed`, { changes });
      },
      right: gone,
      would: `Cluster ${full} is set to be removed`,
    });
  },
});

export default defineState({
  name: 'postgres_cluster',
  doc: 'Clusters of PostgreSQL, as Debian has them.',
  available: needsFunction(
    'postgres.cluster_exists',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: { present, absent },
});
