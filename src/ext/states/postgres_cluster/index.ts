// State module `postgres_cluster`: clusters of PostgreSQL, as Debian has them.
import { defineState, isTruthy, needsFunction, newDict, p, pyEquals, pyStr, state } from 'halite/sdk';
import { plain } from '../shared/calls.ts';

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
    wal_segsize: p.scalar({ default: null, doc: 'size of a piece of the log, in megabytes' }),
  },
  async run(args, ctx) {
    const { port, datadir } = args;
    const full = `${pyStr(args.version)}/${args.name}`;
    if (isTruthy(await ctx.call('postgres.cluster_exists', args.version, args.name))) {
      const all = plain(await ctx.callWith('postgres.cluster_list', [], newDict([['verbose', true]])));
      const info = plain(all[full]);
      const other = (wanted: typeof port, key: string): boolean =>
        isTruthy(wanted) && !pyEquals(wanted, info[key] ?? null);
      return other(port, 'port') || other(datadir, 'datadir')
        ? ctx.fail(`Cluster ${full} has wrong parameters which couldn't be changed on fly.`)
        : ctx.ok(`Cluster ${full} is already present`);
    }
    return ctx.change(newDict([[full, 'Present']]), `The cluster ${full} has been created`, {
      test: `Cluster ${full} is set to be created`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.callWith('postgres.cluster_create', [], args))
          ? undefined
          : ctx.fail(`Failed to create cluster ${full}`),
    });
  },
});

const absent = state({
  doc: 'A cluster that shall not be there; its data goes with it.',
  examples: ["main:\n  postgres_cluster.absent:\n    - version: '13'"],
  params: { version, name },
  async run(args, ctx) {
    const full = `${pyStr(args.version)}/${args.name}`;
    const gone = `Cluster ${full} is not present, so it cannot be removed`;
    if (!isTruthy(await ctx.call('postgres.cluster_exists', args.version, args.name))) return ctx.ok(gone);
    return ctx.change(newDict([[args.name, 'Absent']]), `Cluster ${full} has been removed`, {
      test: `Cluster ${full} is set to be removed`,
      testChanges: newDict(),
      async apply() {
        const done = await ctx.call('postgres.cluster_remove', args.version, args.name, true);
        const status = plain(done)['retcode'];
        if (!isTruthy(done)) return ctx.ok(gone);
        return status === undefined || status === 0 ? undefined : ctx.fail(`Failed to remove cluster ${full}`);
      },
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
