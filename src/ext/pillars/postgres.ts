// External pillar `postgres`: rows of queries to PostgreSQL, with the minion's id as parameter.
import { definePillar, type PillarContext, type Value } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
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

type Parser = (text: string) => unknown;

/** Types by their numbers in PostgreSQL; others (dates, decimals) stay text. */
const parsers = new Map<number, Parser>([
  [16, (text) => text === 't'],
  [17, (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))],
  ...[20, 21, 23, 26].map((type): [number, Parser] => [type, integerOf]),
  ...[700, 701].map((type): [number, Parser] => [type, (text) => floatOf(Number(text))]),
  ...[114, 3802].map((type): [number, Parser] => [type, (text) => loadJson(text)]),
]);
/** Arrays of integers, texts and booleans. */
const lists = new Map<number, number>([
  [1000, 16],
  [1005, 21],
  [1007, 23],
  [1016, 20],
  [1009, 25],
  [1015, 1043],
  [1022, 701],
]);

/** The type number of a text array, which the driver's types do not name. */
const textList = 1009 as 25;

async function open(ctx: PillarContext): Promise<SqlSession> {
  const options = optionsOf(ctx, 'postgres');
  const text = (name: string, usual: string): string => String(options.get(name) ?? usual);
  const { default: pg } = await loadDriver('pg', () => import('pg'));
  const asText: Parser = (cell) => cell;
  const parserOf = (type: number): Parser => {
    const inner = lists.get(type);
    const parse = parsers.get(inner ?? type) ?? asText;
    if (inner === undefined) return parse;
    const split = pg.types.getTypeParser(textList) as (cell: string) => (string | null)[];
    return (cell) => split(cell).map((item) => (item === null ? null : parse(item)));
  };
  const client = new pg.Client({
    ...{ host: text('host', 'localhost'), port: Number(options.get('port') ?? 5432), user: text('user', 'salt') },
    ...{ password: text('pass', 'salt'), database: text('db', 'salt'), connectionTimeoutMillis: 10_000 },
    types: { getTypeParser: (type: number) => parserOf(type) },
  });
  client.on('error', () => undefined);
  await client.connect();
  return {
    async query(query, minionId) {
      const sql = translateMarks(query, client.escapeLiteral(minionId));
      const { fields, rows } = await client.query({ text: sql, rowMode: 'array' });
      return { names: fields.map(({ name }) => name), rows: rows as Value[][] };
    },
    close: () => client.end(),
  };
}

export default definePillar({
  name: 'postgres',
  doc: 'Queries PostgreSQL: each query has %s for the minion’s id. Settings of the server are under postgres in the master’s configuration.',
  params: sqlParams,
  compile: (args, ctx) => sqlPillar('POSTGRES', () => open(ctx), args, ctx),
});
