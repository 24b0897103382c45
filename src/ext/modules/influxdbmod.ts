// Execution module `influxdb`: databases, users, retention policies and queries of InfluxDB 1.x.
import {
  type ArgsOf,
  commandError,
  defineModule,
  fn,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { basicAuth, hostPort, httpCall } from '../shared/http/request.ts';

interface Series {
  readonly name?: string;
  readonly tags?: PlainDict;
  readonly columns?: readonly string[];
  readonly values?: readonly (readonly Value[])[];
}

const named = (text: string): string => `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
const literal = (text: string): string => `'${text.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`;

/** Sends a query to the server given by arguments (`influxdb_host`, …) or options (`influxdb.host`, …). */
async function query(text: string, client: PlainDict, ctx: ModuleContext, db?: string): Promise<Series[][]> {
  const option = async (name: string, otherwise: Value): Promise<string> => {
    const given = client[`influxdb_${name}`];
    return pyStr(isTruthy(given) ? (given ?? null) : await ctx.call('config.option', `influxdb.${name}`, otherwise));
  };
  const [user, password] = [await option('user', 'root'), await option('password', 'root')];
  const server = hostPort(await option('host', 'localhost'), Number(await option('port', 8086)));
  const params = new URLSearchParams({ q: text, ...(db === undefined ? {} : { db }) });
  const reads = /^\s*(SHOW|SELECT)\b/i.test(text);
  const answer = await httpCall({
    service: 'influxdb',
    url: `${isTruthy(client['ssl']) ? 'https' : 'http'}://${server}/query?${params}`,
    method: reads ? 'GET' : 'POST',
    headers: { authorization: basicAuth(user, password) },
    tls: { verify: isTruthy(client['verify_ssl']) },
    accept: [400],
    secrets: [password],
    signal: ctx.signal,
  });
  const body = loadJson(answer.text) as { error?: Value; results?: { error?: Value; series?: Series[] }[] };
  const failure = body.error ?? body.results?.find(({ error }) => error !== undefined)?.error;
  if (failure !== undefined) throw commandError(pyStr(failure));
  return (body.results ?? []).map(({ series }) => series ?? []);
}

const rowsOf = ({ columns = [], values = [] }: Series): PlainDict[] =>
  values.map((row) => newDict(columns.map((name, index) => [name, row[index] ?? null])));

async function rows(text: string, client: PlainDict, ctx: ModuleContext): Promise<PlainDict[]> {
  return (await query(text, client, ctx)).flat().flatMap(rowsOf);
}

/** Runs a query and returns true. */
async function done(text: string, client: PlainDict, ctx: ModuleContext): Promise<true> {
  await query(text, client, ctx);
  return true;
}

const databases = (client: PlainDict, ctx: ModuleContext) => rows('SHOW DATABASES', client, ctx);
const hasDatabase = async (name: string, client: PlainDict, ctx: ModuleContext): Promise<boolean> =>
  (await databases(client, ctx)).some((row) => row['name'] === name);
const users = (client: PlainDict, ctx: ModuleContext) => rows('SHOW USERS', client, ctx);
const userInfo = async (name: string, client: PlainDict, ctx: ModuleContext): Promise<PlainDict | undefined> =>
  (await users(client, ctx)).find((row) => row['user'] === name);
const policy = async (db: string, name: string, client: PlainDict, ctx: ModuleContext): Promise<PlainDict> =>
  (await rows(`SHOW RETENTION POLICIES ON ${named(db)}`, client, ctx)).find((row) => row['name'] === name) ?? newDict();

async function continuous(db: string, name: string, client: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const series = (await query('SHOW CONTINUOUS QUERIES', client, ctx)).flat().filter((one) => one.name === db);
  return series.flatMap(rowsOf).find((row) => row['name'] === name) ?? newDict();
}

const name = p.string({ doc: 'its name' });
const database = p.string({ doc: 'the database' });
const username = p.string({ doc: 'the user' });
const passwd = p.string({ doc: 'the password' });
const privilege = p.string({ doc: 'read, write or all' });
const client_args = p.kwargs({
  doc: 'influxdb_user, influxdb_password, influxdb_host, influxdb_port, ssl, verify_ssl',
});
const rule = {
  database,
  name,
  duration: p.string({ doc: 'how long data is kept: 7d' }),
  replication: p.string({ doc: 'how many copies' }),
  default: p.bool({ default: false, doc: 'for data that names no policy' }),
  client_args,
};

/** A function that creates or removes one object, depending on whether it exists. */
const guarded = (example: string, doc: string, there: boolean, what: 'db' | 'user', text: (name: string) => string) =>
  fn({
    doc,
    examples: [`salt '*' influxdb.${example}`],
    params: { name, client_args },
    async run(args, ctx) {
      const found =
        what === 'db'
          ? await hasDatabase(args.name, args.client_args, ctx)
          : (await userInfo(args.name, args.client_args, ctx)) !== undefined;
      if (found !== there) return false;
      return done(text(args.name), args.client_args, ctx);
    },
  });

const databaseFunctions = {
  list_dbs: fn({
    doc: 'Databases.',
    examples: ["salt '*' influxdb.list_dbs"],
    params: { client_args },
    run: (args, ctx) => databases(args.client_args, ctx),
  }),
  db_exists: fn({
    doc: 'Whether a database exists.',
    examples: ["salt '*' influxdb.db_exists telegraf"],
    params: { name, client_args },
    run: (args, ctx) => hasDatabase(args.name, args.client_args, ctx),
  }),
  create_db: guarded('create_db telegraf', 'Makes a database.', false, 'db', (db) => `CREATE DATABASE ${named(db)}`),
  drop_db: guarded('drop_db telegraf', 'Removes a database.', true, 'db', (db) => `DROP DATABASE ${named(db)}`),
};

const userFunctions = {
  list_users: fn({
    doc: 'Users, and whether they are administrators.',
    examples: ["salt '*' influxdb.list_users"],
    params: { client_args },
    run: (args, ctx) => users(args.client_args, ctx),
  }),
  user_exists: fn({
    doc: 'Whether a user exists.',
    examples: ["salt '*' influxdb.user_exists larry"],
    params: { name, client_args },
    run: async (args, ctx) => (await userInfo(args.name, args.client_args, ctx)) !== undefined,
  }),
  user_info: fn({
    doc: 'Details of a user.',
    examples: ["salt '*' influxdb.user_info larry"],
    params: { name, client_args },
    run: async (args, ctx) => (await userInfo(args.name, args.client_args, ctx)) ?? null,
  }),
  create_user: fn({
    doc: 'Creates a user.',
    examples: ["salt '*' influxdb.create_user larry secret"],
    params: { name, passwd, admin: p.bool({ default: false, doc: 'an administrator' }), client_args },
    async run(args, ctx) {
      if (await userInfo(args.name, args.client_args, ctx)) return false;
      const all = args.admin ? ' WITH ALL PRIVILEGES' : '';
      return done(`CREATE USER ${named(args.name)} WITH PASSWORD ${literal(args.passwd)}${all}`, args.client_args, ctx);
    },
  }),
  set_user_password: fn({
    doc: 'Sets the password of a user.',
    examples: ["salt '*' influxdb.set_user_password larry secret"],
    params: { name, passwd, client_args },
    async run(args, ctx) {
      if (!(await userInfo(args.name, args.client_args, ctx))) return false;
      return done(`SET PASSWORD FOR ${named(args.name)} = ${literal(args.passwd)}`, args.client_args, ctx);
    },
  }),
  grant_admin_privileges: fn({
    doc: 'Makes a user an administrator.',
    examples: ["salt '*' influxdb.grant_admin_privileges larry"],
    params: { name, client_args },
    run: (args, ctx) => done(`GRANT ALL PRIVILEGES TO ${named(args.name)}`, args.client_args, ctx),
  }),
  revoke_admin_privileges: fn({
    doc: 'Removes administrator rights from a user.',
    examples: ["salt '*' influxdb.revoke_admin_privileges larry"],
    params: { name, client_args },
    run: (args, ctx) => done(`REVOKE ALL PRIVILEGES FROM ${named(args.name)}`, args.client_args, ctx),
  }),
  remove_user: guarded('remove_user larry', 'Removes a user.', true, 'user', (user) => `DROP USER ${named(user)}`),
  list_privileges: fn({
    doc: 'The rights of a user, by database.',
    examples: ["salt '*' influxdb.list_privileges larry"],
    params: { name, client_args },
    async run(args, ctx) {
      const found = await rows(`SHOW GRANTS FOR ${named(args.name)}`, args.client_args, ctx);
      return newDict(
        found.map((row) => [
          pyStr(row['database'] ?? ''),
          pyStr(row['privilege'] ?? '')
            .split(' ')[0]
            ?.toLowerCase() ?? '',
        ]),
      );
    },
  }),
  grant_privilege: fn({
    doc: 'Grants a user a right on a database.',
    examples: ["salt '*' influxdb.grant_privilege telegraf read larry"],
    params: { database, privilege, username, client_args },
    run: (args, ctx) =>
      done(`GRANT ${args.privilege} ON ${named(args.database)} TO ${named(args.username)}`, args.client_args, ctx),
  }),
  revoke_privilege: fn({
    doc: 'Revokes a right on a database from a user.',
    examples: ["salt '*' influxdb.revoke_privilege telegraf read larry"],
    params: { database, privilege, username, client_args },
    run: (args, ctx) =>
      done(`REVOKE ${args.privilege} ON ${named(args.database)} FROM ${named(args.username)}`, args.client_args, ctx),
  }),
};

const policyFunctions = {
  get_retention_policy: fn({
    doc: 'A retention policy.',
    examples: ["salt '*' influxdb.get_retention_policy telegraf week"],
    params: { database, name, client_args },
    run: (args, ctx) => policy(args.database, args.name, args.client_args, ctx),
  }),
  retention_policy_exists: fn({
    doc: 'Whether a retention policy exists.',
    examples: ["salt '*' influxdb.retention_policy_exists telegraf week"],
    params: { database, name, client_args },
    run: async (args, ctx) => isTruthy(await policy(args.database, args.name, args.client_args, ctx)),
  }),
  drop_retention_policy: fn({
    doc: 'Removes a retention policy.',
    examples: ["salt '*' influxdb.drop_retention_policy telegraf week"],
    params: { database, name, client_args },
    run: (args, ctx) =>
      done(`DROP RETENTION POLICY ${named(args.name)} ON ${named(args.database)}`, args.client_args, ctx),
  }),
  create_retention_policy: fn({
    doc: 'Creates a retention policy.',
    examples: ["salt '*' influxdb.create_retention_policy telegraf week 7d 1"],
    params: rule,
    run: (args, ctx) => done(ruleText('CREATE', args), args.client_args, ctx),
  }),
  alter_retention_policy: fn({
    doc: 'Changes a retention policy.',
    examples: ["salt '*' influxdb.alter_retention_policy telegraf week 14d 1"],
    params: rule,
    run: (args, ctx) => done(ruleText('ALTER', args), args.client_args, ctx),
  }),
};

type Rule = ArgsOf<typeof rule>;

function ruleText(verb: string, rule: Rule): string {
  const head = `${verb} RETENTION POLICY ${named(rule.name)} ON ${named(rule.database)}`;
  return `${head} DURATION ${rule.duration} REPLICATION ${pyStr(rule.replication)}${rule.default ? ' DEFAULT' : ''}`;
}

const queryFunctions = {
  continuous_query_exists: fn({
    doc: 'Whether a continuous query exists.',
    examples: ["salt '*' influxdb.continuous_query_exists telegraf means"],
    params: { database, name, client_args },
    run: async (args, ctx) => isTruthy(await continuous(args.database, args.name, args.client_args, ctx)),
  }),
  get_continuous_query: fn({
    doc: 'A continuous query.',
    examples: ["salt '*' influxdb.get_continuous_query telegraf means"],
    params: { database, name, client_args },
    run: (args, ctx) => continuous(args.database, args.name, args.client_args, ctx),
  }),
  create_continuous_query: fn({
    doc: 'Creates a continuous query.',
    examples: [
      "salt '*' influxdb.create_continuous_query telegraf means 'SELECT mean(*) INTO x FROM y GROUP BY time(1h)'",
    ],
    params: {
      database,
      name,
      query: p.string({ doc: 'what it runs' }),
      resample_time: p.string({ default: null, doc: 'how often' }),
      coverage_period: p.string({ default: null, doc: 'over how much' }),
      client_args,
    },
    run(args, ctx) {
      const every = args.resample_time ? ` RESAMPLE EVERY ${args.resample_time}` : '';
      const over = args.coverage_period ? ` FOR ${args.coverage_period}` : '';
      const head = `CREATE CONTINUOUS QUERY ${named(args.name)} ON ${named(args.database)}`;
      return done(`${head}${every}${over} BEGIN ${args.query} END`, args.client_args, ctx);
    },
  }),
  drop_continuous_query: fn({
    doc: 'Removes a continuous query.',
    examples: ["salt '*' influxdb.drop_continuous_query telegraf means"],
    params: { database, name, client_args },
    run: (args, ctx) =>
      done(`DROP CONTINUOUS QUERY ${named(args.name)} ON ${named(args.database)}`, args.client_args, ctx),
  }),
  query: fn({
    doc: 'Runs a query; points by series.',
    examples: ["salt '*' influxdb.query telegraf 'SELECT * FROM cpu LIMIT 1'"],
    params: { database, query: p.string({ doc: 'the query' }), client_args },
    async run(args, ctx) {
      return (await query(args.query, args.client_args, ctx, args.database)).map((series) => {
        const found = newDict();
        for (const one of series) {
          const key = one.name ?? 'results';
          if (one.tags) {
            const before = (found[key] ?? newDict()) as PlainDict;
            found[key] = newDict([...Object.entries(before), [dumpJson(one.tags), rowsOf(one)]]);
          } else found[key] = rowsOf(one);
        }
        return found;
      });
    },
  }),
};

export default defineModule({
  name: 'influxdbmod',
  virtualName: 'influxdb',
  doc: 'Databases, users, retention policies and queries of InfluxDB 1.x.',
  reads: [
    'list_dbs',
    'db_exists',
    'list_users',
    'user_exists',
    'user_info',
    'list_privileges',
    'get_retention_policy',
    'retention_policy_exists',
    'continuous_query_exists',
    'get_continuous_query',
  ],
  functions: { ...databaseFunctions, ...userFunctions, ...policyFunctions, ...queryFunctions },
});
