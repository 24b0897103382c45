// Databases and tables of MySQL.
import { fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { asDicts, connectionArgs, quoteIdentifier, withSession } from '../../shared/mysql/connect.ts';

const name = p.string({ doc: 'the database' });
const charset = {
  character_set: p.string({ default: null, doc: 'character set' }),
  collate: p.string({ default: null, doc: 'collation' }),
};
const table = p.string({ default: null, doc: 'only this table' });

async function dbExists(database: string, args: PlainDict, ctx: ModuleContext): Promise<boolean> {
  return withSession(args, false, ctx, async (session) => {
    const sql = 'SELECT SCHEMA_NAME FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = ?';
    return (await session.run(sql, [database])).rows.length === 1;
  });
}

async function dbGet(database: string, args: PlainDict, ctx: ModuleContext): Promise<Value> {
  return withSession<Value>(args, [], ctx, async (session) => {
    const sql =
      'SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = ?';
    const [row] = (await session.run(sql, [database])).rows;
    if (!row) return newDict();
    return newDict([
      ['character_set', row[0] ?? null],
      ['collate', row[1] ?? null],
    ]);
  });
}

async function tablesOf(database: string, args: PlainDict, ctx: ModuleContext): Promise<string[] | false> {
  if (!(await dbExists(database, args, ctx))) return false;
  return withSession<string[]>(args, [], ctx, async (session) =>
    (await session.run(`SHOW TABLES IN ${quoteIdentifier(database)}`)).rows.map((row) => row[0] ?? ''),
  );
}

/** CHECK, REPAIR or OPTIMIZE of one table, or of all. */
function maintenance(verb: 'CHECK' | 'REPAIR' | 'OPTIMIZE', doc: string, example: string) {
  return fn({
    doc,
    examples: [`salt '*' mysql.${example} dbname dbtable`],
    params: { name, table, connection_args: connectionArgs },
    async run(args, ctx) {
      const one = (which: string): Promise<Value> =>
        withSession<Value>(args.connection_args, newDict(), ctx, async (session) =>
          asDicts(await session.run(`${verb} TABLE ${quoteIdentifier(args.name)}.${quoteIdentifier(which)}`)),
        );
      if (args.table !== null) return one(pyStr(args.table));
      const found: Value[] = [];
      for (const each of (await tablesOf(args.name, args.connection_args, ctx)) || []) found.push(await one(each));
      return found;
    },
  });
}

async function create(
  args: { name: string; character_set: Value; collate: Value },
  given: PlainDict,
  ctx: ModuleContext,
): Promise<boolean> {
  if (await dbExists(args.name, given, ctx)) return false;
  return withSession(given, false, ctx, async (session) => {
    const values = [args.character_set, args.collate].filter((value) => value !== null);
    const set = args.character_set === null ? '' : ' CHARACTER SET ?';
    const collate = args.collate === null ? '' : ' COLLATE ?';
    await session.run(`CREATE DATABASE IF NOT EXISTS ${quoteIdentifier(args.name)}${set}${collate}`, values);
    return true;
  });
}

async function remove(database: string, args: PlainDict, ctx: ModuleContext): Promise<boolean> {
  if (!(await dbExists(database, args, ctx))) return false;
  if (database === 'mysql' || database === 'information_schema') return false;
  const done = await withSession(args, false, ctx, async (session) => {
    await session.run(`DROP DATABASE ${quoteIdentifier(database)}`);
    return true;
  });
  return done && !(await dbExists(database, args, ctx));
}

export const databaseFunctions = {
  db_list: fn({
    doc: 'The databases.',
    examples: ["salt '*' mysql.db_list"],
    params: { connection_args: connectionArgs },
    run: (args, ctx) =>
      withSession<string[]>(args.connection_args, [], ctx, async (session) =>
        (await session.run('SHOW DATABASES')).rows.map((row) => row[0] ?? ''),
      ),
  }),
  db_get: fn({
    doc: 'Character set and collation of a database; empty when there is none of that name.',
    examples: ["salt '*' mysql.db_get dbname"],
    params: { name, connection_args: connectionArgs },
    run: (args, ctx) => dbGet(args.name, args.connection_args, ctx),
  }),
  db_exists: fn({
    doc: 'Whether there is a database of this name.',
    examples: ["salt '*' mysql.db_exists dbname"],
    params: { name, connection_args: connectionArgs },
    run: (args, ctx) => dbExists(args.name, args.connection_args, ctx),
  }),
  db_tables: fn({
    doc: 'The tables of a database.',
    examples: ["salt '*' mysql.db_tables dbname"],
    params: { name, connection_args: connectionArgs },
    run: (args, ctx) => tablesOf(args.name, args.connection_args, ctx),
  }),
  db_create: fn({
    doc: 'Creates a database; returns whether it was created.',
    examples: ["salt '*' mysql.db_create dbname utf8mb4 utf8mb4_general_ci"],
    params: { name, ...charset, connection_args: connectionArgs },
    run: (args, ctx) => create(args, args.connection_args, ctx),
  }),
  alter_db: fn({
    doc: 'Changes character set and collation of a database.',
    examples: ["salt '*' mysql.alter_db dbname utf8mb4"],
    params: { name, ...charset, connection_args: connectionArgs },
    async run(args, ctx) {
      const given = args.connection_args;
      const now = (await dbGet(args.name, given, ctx)) as PlainDict;
      return withSession<Value>(given, [], ctx, async (session) => {
        const collate = args.collate ?? (args.character_set === null ? (now['collate'] ?? null) : null);
        const sql = `ALTER DATABASE ${quoteIdentifier(args.name)} CHARACTER SET ?${collate === null ? '' : ' COLLATE ?'}`;
        const values = [args.character_set ?? now['character_set'] ?? '', ...(collate === null ? [] : [collate])];
        await session.run(sql, values);
        return true;
      });
    },
  }),
  db_remove: fn({
    doc: 'Removes a database; returns whether it was removed.',
    examples: ["salt '*' mysql.db_remove dbname"],
    params: { name, connection_args: connectionArgs },
    run: (args, ctx) => remove(args.name, args.connection_args, ctx),
  }),
  db_check: maintenance('CHECK', 'Checks one table, or every table of a database.', 'db_check'),
  db_repair: maintenance('REPAIR', 'Repairs one table, or every table of a database.', 'db_repair'),
  db_optimize: maintenance('OPTIMIZE', 'Optimizes one table, or every table of a database.', 'db_optimize'),
};
