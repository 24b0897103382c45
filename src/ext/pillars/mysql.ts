// External pillar `mysql`: rows of queries to MySQL or MariaDB, with the minion's id as parameter.
import { definePillar, dictEntries, isDict, type PillarContext, type Value } from 'halite/sdk';
import { loadDriver } from '../shared/sql/sql-client.ts';
import {
  floatOf,
  integerOf,
  optionsOf,
  type SqlSession,
  sqlParams,
  sqlPillar,
  translateMarks,
} from './shared/sql-pillar.ts';

/** The protocol's numbers of FLOAT and DOUBLE. */
const floats = new Set([4, 5]);

/** A cell as Python's driver gives it; dates, decimals and JSON stay text. */
function cellOf(cell: unknown, type: number | undefined): Value {
  if (typeof cell === 'number') return type !== undefined && floats.has(type) ? floatOf(cell) : cell;
  // Type 8 is a 64-bit integer: text when it exceeds the range of a number.
  if (typeof cell === 'string' && type === 8) return integerOf(cell);
  return cell instanceof Uint8Array ? new Uint8Array(cell) : (cell as Value);
}

async function open(ctx: PillarContext): Promise<SqlSession> {
  const options = optionsOf(ctx, 'mysql');
  const text = (name: string, usual: string): string => String(options.get(name) ?? usual);
  const { createConnection } = await loadDriver('mysql2', () => import('mysql2/promise'));
  const socket = options.get('unix_socket');
  const ssl = options.get('ssl');
  const secured =
    ssl !== undefined && isDict(ssl) ? Object.fromEntries(dictEntries(ssl).map(([k, v]) => [String(k), v])) : {};
  const connection = await createConnection({
    ...(typeof socket === 'string' ? { socketPath: socket } : { host: text('host', 'localhost') }),
    ...{ port: Number(options.get('port') ?? 3306), user: text('user', 'salt'), password: text('pass', 'salt') },
    ...{ database: text('db', 'salt'), connectTimeout: 10_000, charset: 'utf8mb4_general_ci' },
    ...{ dateStrings: true, jsonStrings: true, supportBigNumbers: true },
    ...(Object.keys(secured).length > 0 ? { ssl: secured as Record<string, string> } : {}),
  });
  return {
    async query(query, minionId) {
      // Prepared on the server, so that the id never becomes part of the statement.
      const values = (query.match(/%[s%]/g) ?? []).filter((mark) => mark === '%s').map(() => minionId);
      const [rows, fields] = await connection.execute({ sql: translateMarks(query, '?'), values, rowsAsArray: true });
      const types = fields.map(({ columnType }) => columnType);
      return {
        names: fields.map(({ name }) => name),
        rows: (rows as unknown[][]).map((row) => row.map((cell, at) => cellOf(cell, types[at]))),
      };
    },
    close: () => connection.end(),
  };
}

export default definePillar({
  name: 'mysql',
  doc: 'Queries MySQL or MariaDB: each query has %s for the minion’s id. Settings of the server are under mysql in the master’s configuration.',
  params: sqlParams,
  compile: (args, ctx) => sqlPillar('MySQL', () => open(ctx), args, ctx),
});
