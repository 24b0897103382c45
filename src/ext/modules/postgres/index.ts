// Execution module `postgres`: databases, roles and privileges of PostgreSQL, through psql.
import { type ArgsOf, defineModule, fn, type ModuleContext, p, pyStr, type Value } from 'halite/sdk';
import { isFile, joinPath } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { clusterFunctions } from './clusters.ts';
import { databaseFunctions, languageFunctions, schemaFunctions, tablespaceFunctions } from './databases.ts';
import { extensionFunctions } from './extensions.ts';
import { privilegeFunctions } from './privileges.ts';
import { type Answer, conn, findBinary, ownerAccount, query, runas } from './psql.ts';
import { roleFunctions, serverVersion } from './roles.ts';

type Cluster = ArgsOf<typeof clusterParams>;

const folderExists = (name: string): boolean =>
  isFile(joinPath(name, 'PG_VERSION')) && isFile(joinPath(name, 'postgresql.conf'));

async function initdb(args: Cluster, ctx: ModuleContext): Promise<boolean> {
  const account = args.runas ? pyStr(args.runas) : ownerAccount(ctx);
  const command = [
    await findBinary('initdb', ctx),
    `--pgdata=${args.name}`,
    `--username=${args.user ? pyStr(args.user) : account}`,
    `--auth=${args.auth}`,
    `--encoding=${args.encoding}`,
    ...(args.locale === null ? [] : [`--locale=${pyStr(args.locale)}`]),
    ...(args.waldir === null ? [] : ['-X', pyStr(args.waldir)]),
    ...(args.checksums ? ['--data-checksums'] : []),
    // The password comes through standard input, not through a file that could be left behind.
    ...(args.password === null ? [] : ['--pwfile=/dev/stdin']),
  ];
  const said = (await ctx.callWith('cmd.run_all', [command], {
    python_shell: false,
    runas: account,
    clean_env: true,
    ...(args.password === null ? {} : { stdin: `${pyStr(args.password)}\n` }),
  })) as unknown as Answer;
  if (said.retcode !== 0) ctx.log.error(`initdb: ${said.stderr}`);
  return said.retcode === 0;
}

const clusterParams = {
  name: p.string({ doc: 'the folder' }),
  auth: p.string({ default: 'password', doc: 'authentication method' }),
  user: p.string({ default: null, falsy: null, doc: 'first user of the database' }),
  password: p.string({ default: null, doc: 'password of that user' }),
  encoding: p.string({ default: 'UTF8', doc: 'encoding of databases' }),
  locale: p.string({ default: null, doc: 'locale of databases' }),
  waldir: p.string({ default: null, doc: 'folder of the log' }),
  checksums: p.bool({ default: false, doc: 'with checksums' }),
  runas,
};

export default defineModule({
  name: 'postgres',
  doc: 'Databases, roles and privileges of PostgreSQL, with psql.',
  available: ({ opts }) => which('psql') !== null || opts['postgres.bins_dir'] !== undefined || 'psql was not found',
  reads: [
    'version',
    'db_list',
    'db_exists',
    'tablespace_list',
    'tablespace_exists',
    'schema_list',
    'schema_get',
    'schema_exists',
    'language_list',
    'language_exists',
    'user_list',
    'role_get',
    'user_exists',
    'available_extensions',
    'installed_extensions',
    'get_available_extension',
    'get_installed_extension',
    'is_available_extension',
    'is_installed_extension',
    'create_metadata',
    'privileges_list',
    'has_privileges',
    'cluster_list',
    'cluster_exists',
    'datadir_exists',
  ],
  functions: {
    version: fn({
      doc: 'The version of the server.',
      examples: ["salt '*' postgres.version"],
      params: { ...conn, runas },
      run: (args, ctx) => serverVersion(args, ctx),
    }),
    psql_query: fn({
      doc: 'The rows of a SELECT (or of another statement that returns rows); all values are text.',
      examples: ["salt '*' postgres.psql_query 'select * from pg_stat_activity'"],
      params: {
        query: p.string({ doc: 'the statement' }),
        ...conn,
        runas,
        write: p.bool({ default: false, doc: 'it changes something (INSERT … RETURNING)' }),
      },
      run: async (args, ctx) => (await query(args.query, args, ctx, args.write)) as Value,
    }),
    ...databaseFunctions,
    ...tablespaceFunctions,
    ...schemaFunctions,
    ...languageFunctions,
    ...roleFunctions,
    ...extensionFunctions,
    ...privilegeFunctions,
    ...clusterFunctions,
    datadir_init: fn({
      doc: 'Creates the folder of a new server.',
      examples: ["salt '*' postgres.datadir_init /var/lib/pgsql/data"],
      params: clusterParams,
      run: (args, ctx) => (folderExists(args.name) ? false : initdb(args, ctx)),
    }),
    datadir_exists: fn({
      doc: 'Whether a folder is the data folder of a server.',
      examples: ["salt '*' postgres.datadir_exists /var/lib/pgsql/data"],
      params: { name: p.string({ doc: 'the folder' }) },
      run: (args) => folderExists(args.name),
    }),
  },
});
