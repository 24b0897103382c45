// State module `mysql_database`: databases of MySQL and MariaDB.
import {
  defineState,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { connection, lastError, reason } from '../shared/mysql.ts';

interface Wanted {
  readonly name: string;
  readonly character_set: Value;
  readonly collate: Value;
}

/** What differs, in words. */
function differences(wanted: Wanted, now: PlainDict): string[] {
  const about = (label: string, want: Value, have: Value | undefined): string[] =>
    want && want !== pyStr(have ?? null)
      ? [`Database ${label} ${pyStr(want)} != ${pyStr(have ?? null)} needs to be updated`]
      : [];
  return [
    ...about('character set', wanted.character_set, now['character_set']),
    ...about('collate', wanted.collate, now['collate']),
  ];
}

async function adjust(wanted: Wanted, now: PlainDict, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  const differing = differences(wanted, now);
  const first = `Database ${wanted.name} is already present`;
  if (differing.length === 0) return ctx.ok(first);
  // The text about the character set replaces the first sentence, the text about the collation follows it.
  const charset = differing[0]?.startsWith('Database character set') ?? false;
  const comment = [...(charset ? [] : [first]), ...differing].join('\n');
  const collates = differing.some((text) => text.startsWith('Database collate'));
  const { character_set, collate } = wanted;
  return ctx.change(newDict(), comment, {
    test: collates ? comment : `${comment}\nDatabase ${wanted.name} is going to be updated`,
    async apply() {
      await ctx.callWith('mysql.alter_db', [wanted.name], { character_set, collate, ...kwargs });
      const after = textKeyed(await ctx.callWith('mysql.db_get', [wanted.name], kwargs));
      const changes = newDict();
      for (const key of ['collate', 'character_set']) {
        if (now[key] === after[key]) continue;
        changes[key] = newDict([
          ['before', now[key] ?? null],
          ['now', after[key] ?? null],
        ]);
      }
      return ctx.ok(comment, { changes });
    },
  });
}

async function present(wanted: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  const now = textKeyed(await ctx.callWith('mysql.db_get', [wanted.name], kwargs));
  if (Object.keys(now).length > 0) return adjust(wanted, now, kwargs, ctx);
  const error = lastError(ctx);
  if (error !== undefined) return ctx.fail(error);
  const { name, character_set, collate } = wanted;
  return resource(ctx, {
    change: () => ctx.callWith('mysql.db_create', [name], { character_set, collate, ...kwargs }),
    changes: () => ({ [name]: 'Present' }),
    would: `Database ${name} is not present and needs to be created`,
    done: `The database ${name} has been created`,
    failed: () => `Failed to create database ${name}${reason(ctx)}`,
  });
}

const name = p.string({ doc: 'the database' });

export default defineState({
  name: 'mysql_database',
  doc: 'Databases of MySQL and MariaDB.',
  functions: {
    present: state({
      doc: 'A database that must exist.',
      examples: ['shop:\n  mysql_database.present:\n    - character_set: utf8mb4\n    - connection_user: admin'],
      params: {
        name,
        character_set: p.scalar({ default: null, doc: 'character set' }),
        collate: p.scalar({ default: null, doc: 'collation' }),
        connection_args: connection,
      },
      run: ({ connection_args, ...wanted }, ctx) => present(wanted, connection_args, ctx),
    }),
    absent: state({
      doc: 'A database that must not exist.',
      examples: ['test:\n  mysql_database.absent'],
      params: { name, connection_args: connection },
      run: ({ name, connection_args: at }, ctx) =>
        resource(ctx, {
          find: () => ctx.callWith('mysql.db_exists', [name], at),
          wanted: false,
          refuse: (found) => (found ? undefined : lastError(ctx)),
          change: () => ctx.callWith('mysql.db_remove', [name], at),
          changes: () => ({ [name]: 'Absent' }),
          right: `Database ${name} is not present, so it cannot be removed`,
          would: `Database ${name} is present and needs to be removed`,
          done: `Database ${name} has been removed`,
          // Without an error the name is a database of the server itself.
          failed: () => `Unable to remove database ${name}${reason(ctx)}`,
        }),
    }),
  },
});
