// Shared code of the SQL pillars: options, sequential queries, and error handling.
import { type Dict, dictEntries, isDict, messageOf, type PillarContext, PyFloat, p, type Value } from 'halite/sdk';
import { queriesOf, SqlTree } from './sql-rows.ts';

export interface SqlAnswer {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

export interface SqlSession {
  /** The minion's id is the only parameter of a query. */
  query(text: string, minionId: string): Promise<SqlAnswer>;
  close(): Promise<void>;
}

export const sqlParams = {
  queries: p.rest({ doc: 'queries whose rows are merged at the root' }),
  named: p.kwargs({ doc: 'queries by the key for their rows' }),
};

/** The options of a source, a map in the master's configuration. */
export function optionsOf(ctx: PillarContext, name: string): ReadonlyMap<Value, Value> {
  const given = ctx.opts[name];
  return new Map(given !== undefined && isDict(given) ? dictEntries(given) : []);
}

/** Converts Python's placeholders to those of a database: `%s` is the value, `%%` a per cent sign. */
export const translateMarks = (query: string, mark: string): string =>
  query.replace(/%([s%])/g, (_all, kind: string) => (kind === '%' ? '%' : mark));

/** A floating point number, also without a fraction. */
export const floatOf = (value: number): Value => (Number.isInteger(value) ? new PyFloat(value) : value);

/** An integer from its digits. */
export const integerOf = (digits: string): Value => {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
};

/** Runs all queries; the first failing query stops it, and the data so far is used, as in Salt. */
export async function sqlPillar(
  source: string,
  open: () => Promise<SqlSession>,
  args: { queries: Value[]; named: Dict },
  ctx: PillarContext,
): Promise<Dict> {
  const tree = new SqlTree();
  const queries = queriesOf(args.queries, args.named);
  if (queries.length === 0) return tree.value;
  const session = await open();
  try {
    for (const query of queries) {
      const { names, rows } = await session.query(query.query, ctx.minionId);
      tree.add(query, names, rows);
    }
  } catch (error) {
    ctx.log.error(`Error in ext_pillar ${source}: ${messageOf(error)}`, { minion: ctx.minionId });
  } finally {
    await session.close();
  }
  return tree.value;
}
