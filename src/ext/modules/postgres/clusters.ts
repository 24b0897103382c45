// Functions of `postgres` for Debian's clusters: several servers on one machine.
import { fn, isTruthy, type ModuleContext, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import { lines, words } from 'halite/sdk/text';

const version = p.string({ doc: 'version of the server' });
const name = p.string({ default: 'main', doc: 'the cluster' });

const run = async (ctx: ModuleContext, argv: string[]): Promise<PlainDict> =>
  (await ctx.callWith('cmd.run_all', [argv], newDict([['python_shell', false]]))) as PlainDict;

async function clusters(ctx: ModuleContext): Promise<PlainDict> {
  const done = await run(ctx, ['pg_lsclusters', '--no-header']);
  if (done['retcode'] !== 0) ctx.log.error('Error listing clusters');
  return newDict(
    lines(pyStr(done['stdout'] ?? '')).map((line) => {
      const [release = '', own = '', port = '', status = '', user = '', datadir = '', log = ''] = words(line);
      return [`${release}/${own}`, newDict(Object.entries({ port: Number(port), status, user, datadir, log }))];
    }),
  );
}

const option = (flag: string, value: string | null): string[] => (isTruthy(value) ? [flag, pyStr(value)] : []);

export const clusterFunctions = {
  cluster_create: fn({
    doc: 'Creates a cluster.',
    examples: ["salt '*' postgres.cluster_create 15 main port=5433"],
    params: {
      version,
      name,
      port: p.string({ default: null, falsy: null, doc: 'its port' }),
      locale: p.string({ default: null, falsy: null, doc: 'locale of databases' }),
      encoding: p.string({ default: null, falsy: null, doc: 'encoding of databases' }),
      datadir: p.string({ default: null, falsy: null, doc: 'folder of the data' }),
      allow_group_access: p.bool({ default: null, doc: 'the group may read the folder' }),
      data_checksums: p.bool({ default: null, doc: 'with checksums' }),
      wal_segsize: p.string({ default: null, falsy: null, doc: 'size of a log segment, in megabytes' }),
    },
    async run(args, ctx) {
      const server = [
        ...(args.allow_group_access === true ? ['--allow-group-access'] : []),
        ...(args.data_checksums === true ? ['--data-checksums'] : []),
        ...option('--wal-segsize', args.wal_segsize),
      ];
      const argv = [
        'pg_createcluster',
        ...[option('--port', args.port), option('--locale', args.locale), option('--encoding', args.encoding)].flat(),
        ...[...option('--datadir', args.datadir), args.version, args.name],
        ...(server.length > 0 ? ['--', ...server] : []),
      ];
      const done = await run(ctx, argv);
      if (done['retcode'] === 0) return done;
      ctx.log.error(`Error creating a Postgresql cluster ${args.version}/${args.name}`);
      return false;
    },
  }),
  cluster_list: fn({
    doc: 'Clusters, as version/name.',
    examples: ["salt '*' postgres.cluster_list verbose=True"],
    params: { verbose: p.bool({ default: false, doc: 'with port, state, user and folders' }) },
    async run(args, ctx) {
      const found = await clusters(ctx);
      return args.verbose ? found : Object.keys(found);
    },
  }),
  cluster_exists: fn({
    doc: 'Whether a cluster exists.',
    examples: ["salt '*' postgres.cluster_exists 15 main"],
    params: { version, name },
    run: async (args, ctx) => `${args.version}/${args.name}` in (await clusters(ctx)),
  }),
  cluster_remove: fn({
    doc: 'Removes a cluster with its data.',
    examples: ["salt '*' postgres.cluster_remove 15 main stop=True"],
    params: { version, name, stop: p.bool({ default: false, doc: 'stop it first' }) },
    async run(args, ctx) {
      const done = await run(ctx, ['pg_dropcluster', ...(args.stop ? ['--stop'] : []), args.version, args.name]);
      if (done['retcode'] !== 0) ctx.log.error(`Error removing a Postgresql cluster ${args.version}/${args.name}`);
      else done['changes'] = `Successfully removed cluster ${args.version}/${args.name}`;
      return done;
    },
  }),
};
