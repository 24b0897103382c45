// External pillar `sqlite3`: rows of queries to a SQLite file of the master, with the minion's id as parameter.
import { definePillar, type PillarContext, type Value } from 'halite/sdk';
import { loadDriver } from '../shared/sql/sql-client.ts';
import { floatOf, optionsOf, type SqlSession, sqlParams, sqlPillar } from './shared/sql-pillar.ts';

function cellOf(cell: unknown): Value {
  if (typeof cell === 'bigint') return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
  if (typeof cell === 'number') return floatOf(cell);
  return cell instanceof Uint8Array ? new Uint8Array(cell) : (cell as Value);
}

async function open(ctx: PillarContext): Promise<SqlSession> {
  const options = optionsOf(ctx, 'sqlite3');
  const file = String(options.get('database') ?? '/var/lib/salt/pillar.db');
  const { default: Database } = await loadDriver('better-sqlite3', () => import('better-sqlite3'));
  const database = new Database(file, { fileMustExist: true, timeout: Number(options.get('timeout') ?? 5) * 1000 });
  return {
    async query(query, minionId) {
      const statement = database.prepare(query).safeIntegers(true).raw(true);
      const rows = (statement.all(minionId) as unknown[][]).map((row) => row.map(cellOf));
      return { names: statement.columns().map(({ name }) => name), rows };
    },
    async close() {
      database.close();
    },
  };
}

export default definePillar({
  name: 'sqlite3',
  doc: 'Queries a SQLite file: each query has ? for the minion’s id. The file is sqlite3: database in the master’s configuration.',
  params: sqlParams,
  compile: (args, ctx) => sqlPillar('SQLite3', () => open(ctx), args, ctx),
});
