// Extensions of PostgreSQL.
import { fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { installedState, notInstalled, toMove, toUpgrade } from '../../shared/postgres/extension-actions.ts';
import { type Conn, conn, execute, ident, literal, query, runas } from './psql.ts';

async function available(at: Conn, ctx: ModuleContext): Promise<PlainDict> {
  const rows = await query('SELECT * FROM pg_available_extensions()', at, ctx);
  return newDict(rows.map((row) => [row['name'] ?? '', newDict(Object.entries(row))]));
}

async function installed(at: Conn, ctx: ModuleContext): Promise<PlainDict> {
  const sql = 'SELECT a.*, b.nspname AS schema_name FROM pg_extension a JOIN pg_namespace b ON a.extnamespace = b.oid';
  const rows = await query(sql, at, ctx);
  return newDict(rows.map((row) => [row['extname'] ?? '', newDict(Object.entries(row))]));
}

/** Whether a version is lower than another: numbers by value, words alphabetically. */
function isOlder(a: string, b: string): boolean {
  const parts = (text: string): string[] => text.split(/(\d+|[a-z]+)/i).filter((part) => /[\da-z]/i.test(part));
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x, y] = [left[i] ?? '', right[i] ?? ''];
    if (x === y) continue;
    const [m, n] = [Number(x), Number(y)];
    return Number.isNaN(m) || Number.isNaN(n) ? x < y : m < n;
  }
  return false;
}

interface Wanted {
  readonly name: string;
  readonly ext_version: Value;
  readonly schema: Value;
}

async function metadata(wanted: Wanted, at: Conn, ctx: ModuleContext): Promise<string[]> {
  const now = (await installed(at, ctx))[wanted.name] as Record<string, string> | undefined;
  if (!now) return [notInstalled];
  const { ext_version: version, schema } = wanted;
  const older = version !== null && isOlder(now['extversion'] ?? '', pyStr(version));
  const elsewhere = schema !== null && now['extrelocatable'] === 't' && now['schema_name'] !== schema;
  return [installedState, ...(older ? [toUpgrade] : []), ...(elsewhere ? [toMove] : [])];
}

/** The statements that create or change an extension as requested. */
function statements(
  wanted: Wanted & { readonly if_not_exists: Value; readonly from_version: Value },
  state: readonly string[],
): string[] {
  const { name, ext_version: version, schema, from_version: from } = wanted;
  if (!state.includes(notInstalled))
    return [
      ...(schema && state.includes(toMove) ? [`ALTER EXTENSION ${ident(name)} SET SCHEMA ${ident(schema)}`] : []),
      ...(version && state.includes(toUpgrade) ? [`ALTER EXTENSION ${ident(name)} UPDATE TO ${literal(version)}`] : []),
    ];
  const more = [
    ...(schema ? [`SCHEMA ${ident(schema)}`] : []),
    ...(version ? [`VERSION ${literal(version)}`] : []),
    ...(from ? [`FROM ${literal(from)}`] : []),
  ];
  const careful = wanted.if_not_exists === null || wanted.if_not_exists ? 'IF NOT EXISTS ' : '';
  return [`CREATE EXTENSION ${careful}${ident(name)}${more.length > 0 ? ` WITH ${more.join(' ')}` : ''}`];
}

const name = p.string({ doc: 'the extension' });
const wantedParams = {
  schema: p.string({ default: null, doc: 'schema it is in' }),
  ext_version: p.string({ default: null, falsy: null, doc: 'its version' }),
};

export const extensionFunctions = {
  available_extensions: fn({
    doc: 'The available extensions.',
    examples: ["salt '*' postgres.available_extensions"],
    params: { ...conn, runas },
    run: (args, ctx) => available(args, ctx),
  }),
  installed_extensions: fn({
    doc: 'The extensions that are installed in a database.',
    examples: ["salt '*' postgres.installed_extensions"],
    params: { ...conn, runas },
    run: (args, ctx) => installed(args, ctx),
  }),
  get_available_extension: fn({
    doc: 'One available extension.',
    examples: ["salt '*' postgres.get_available_extension plpgsql"],
    params: { name, ...conn, runas },
    run: async (args, ctx) => (await available(args, ctx))[args.name] ?? null,
  }),
  get_installed_extension: fn({
    doc: 'One extension that is installed.',
    examples: ["salt '*' postgres.get_installed_extension plpgsql"],
    params: { name, ...conn, runas },
    run: async (args, ctx) => (await installed(args, ctx))[args.name] ?? null,
  }),
  is_available_extension: fn({
    doc: 'Whether an extension is available.',
    examples: ["salt '*' postgres.is_available_extension plpgsql"],
    params: { name, ...conn, runas },
    run: async (args, ctx) =>
      Object.keys(await available(args, ctx)).some((one) => one.toLowerCase() === args.name.toLowerCase()),
  }),
  is_installed_extension: fn({
    doc: 'Whether an extension is installed in a database.',
    examples: ["salt '*' postgres.is_installed_extension plpgsql"],
    params: { name, ...conn, runas },
    run: async (args, ctx) => args.name in (await installed(args, ctx)),
  }),
  create_metadata: fn({
    doc: 'The actions needed to have an extension in a version and schema.',
    examples: ["salt '*' postgres.create_metadata adminpack"],
    params: { name, ext_version: wantedParams.ext_version, schema: wantedParams.schema, ...conn, runas },
    run: (args, ctx) => metadata(args, args, ctx),
  }),
  create_extension: fn({
    doc: 'Installs an extension, or moves or upgrades it.',
    examples: ["salt '*' postgres.create_extension 'adminpack'"],
    params: {
      name,
      if_not_exists: p.truthy({ default: null, nullable: true, doc: 'no failure if it is there' }),
      ...wantedParams,
      from_version: p.string({
        default: null,
        falsy: null,
        doc: 'version that was installed without the extension mechanism',
      }),
      ...conn,
      runas,
    },
    async run(args, ctx) {
      const known = Object.keys(await available(args, ctx));
      if (known.some((one) => one.toLowerCase() === args.name.toLowerCase())) {
        const sql = statements(args, await metadata(args, args, ctx));
        if (sql.length > 0) await execute(sql, args, ctx);
      }
      const state = await metadata(args, args, ctx);
      return state.length === 1 && state[0] === installedState;
    },
  }),
  drop_extension: fn({
    doc: 'Removes an extension from a database.',
    examples: ["salt '*' postgres.drop_extension 'adminpack'"],
    params: {
      name,
      if_exists: p.truthy({ default: null, doc: 'no failure if it is not there' }),
      restrict: p.truthy({ default: null, doc: 'refuse if something depends on it' }),
      cascade: p.truthy({ default: null, nullable: true, doc: 'with everything that depends on it' }),
      ...conn,
      runas,
    },
    async run(args, ctx) {
      if (args.name in (await installed(args, ctx))) {
        const careful = args.if_exists ? 'IF EXISTS ' : '';
        const rest = args.restrict ? ' RESTRICT' : args.cascade === null || args.cascade ? ' CASCADE' : '';
        await execute(`DROP EXTENSION ${careful}${ident(args.name)}${rest}`, args, ctx);
      }
      return !(args.name in (await installed(args, ctx)));
    },
  }),
};
