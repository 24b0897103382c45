// Authentication module `mysql`: name and password are accepted when a query finds exactly one row.
import { asDict, type Dict, defineAuth, dictGet, HaliteError, isDict, textField } from 'halite/sdk';
import type { Connection } from 'mysql2/promise';

const timeoutMs = 10_000;

interface Query {
  readonly text: string;
  /** Which of name (0) and password (1) each question mark is. */
  readonly order: readonly number[];
}

/** The query of Salt's option with bound parameters: `"{0}"`, `'{0}'` and `{0}` mean the name, `{1}` the password. */
export function boundQuery(sql: string): Query {
  const order: number[] = [];
  const text = sql.replace(
    /(["'])\{([01])\}\1|\{([01])\}/g,
    (_whole, _quote, quoted: string | undefined, bare: string) => {
      order.push(Number(quoted ?? bare));
      return '?';
    },
  );
  const wrong = (why: string): never => {
    throw new HaliteError('config.value', `mysql_auth: auth_sql ${why}`, {
      hint: 'Write {0} for the name and {1} for the password, each alone or in quotes, and nothing else in the same quotes.',
    });
  };
  if (/[{}]/.test(text)) wrong('contains braces that are not {0} or {1}');
  if (!order.includes(0) || !order.includes(1))
    wrong('must contain {0} and {1}: otherwise every password would be right');
  // A question mark inside other quotes would be text, not a parameter.
  for (const [quoted] of text.matchAll(/"[^"]*"|'[^']*'/g))
    if (quoted.includes('?')) wrong('has a parameter inside quotes');
  return { text, order };
}

async function rowsOf(settings: Dict, { text, order }: Query, given: readonly [string, string]): Promise<number> {
  const { createConnection } = await import('mysql2/promise');
  const [host, port] = [textField(settings, 'hostname') ?? 'localhost', Number(dictGet(settings, 'port') ?? 3306)];
  const connection: Connection = await createConnection({
    ...{ host, port, connectTimeout: timeoutMs },
    user: textField(settings, 'username') ?? '',
    password: textField(settings, 'password') ?? '',
    database: textField(settings, 'database') ?? '',
  });
  try {
    const values = order.map((index) => given[index] ?? '');
    const [rows] = await connection.execute({ sql: text, values, timeout: timeoutMs });
    return Array.isArray(rows) ? rows.length : 0;
  } finally {
    await connection.end().catch(() => connection.destroy());
  }
}

export default defineAuth({
  name: 'mysql',
  doc: 'A query to MySQL or MariaDB. Option `mysql_auth`: `hostname`, `port`, `username`, `password`, `database`, `auth_sql`.',
  open(_settings, { opts }) {
    const settings = asDict(opts['mysql_auth'] ?? null);
    if (!settings || !isDict(settings)) throw new HaliteError('config.value', 'the option mysql_auth must be a map');
    const sql = textField(settings, 'auth_sql');
    if (!sql) throw new HaliteError('config.value', 'mysql_auth lacks auth_sql');
    const query = boundQuery(sql);
    return {
      check: async ({ username, password }) =>
        username !== '' && (await rowsOf(settings, query, [username, password])) === 1 ? {} : undefined,
    };
  },
});
