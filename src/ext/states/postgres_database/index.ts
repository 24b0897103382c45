// State module `postgres_database`: databases of PostgreSQL.
import {
  type ArgsOf,
  defineState,
  needsFunction,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { dbArgs, dbParams, removal } from '../shared/postgres.ts';

type Wanted = ArgsOf<typeof wantedParams>;

function present(args: Wanted, ctx: StateContext): Promise<StateResult> {
  const { name, tablespace, encoding, lc_collate, lc_ctype, owner, owner_recurse, template } = args;
  const at = dbArgs(args);
  const differs = (want: Value, have: Value | undefined): boolean => Boolean(want) && have !== want;
  const lower = (value: Value | undefined): string => pyStr(value ?? '').toLowerCase();
  return resource(ctx, {
    async find() {
      const found = textKeyed(await ctx.callWith('postgres.db_list', [], at))[name];
      return found === undefined ? null : textKeyed(found);
    },
    refuse: (now) =>
      now !== null &&
      ((Boolean(encoding) && lower(now['Encoding']) !== lower(encoding)) ||
        differs(lc_collate, now['Collate']) ||
        differs(lc_ctype, now['Ctype']))
        ? `Database ${name} has wrong parameters which couldn't be changed on fly.`
        : undefined,
    compare: (now) => now === null || differs(tablespace, now['Tablespace']) || differs(owner, now['Owner']),
    change: ({ found: now }) =>
      now === null
        ? ctx.callWith('postgres.db_create', [name], {
            ...{ tablespace, encoding, lc_collate, lc_ctype, owner, template },
            ...at,
          })
        : ctx.callWith('postgres.db_alter', [name], { tablespace, owner, owner_recurse, ...at }),
    changes: ({ found: now }) => ({ [name]: now === null ? 'Present' : 'Parameters changed' }),
    right: `Database ${name} is already present`,
    would: ({ found: now }) =>
      now === null
        ? `Database ${name} is set to be created`
        : `Database ${name} exists, but parameters need to be changed`,
    done: ({ found: now }) =>
      now === null ? `The database ${name} has been created` : `Parameters for database ${name} have been changed`,
    failed: ({ found: now }) =>
      now === null ? `Failed to create database ${name}` : `Failed to change parameters for database ${name}`,
  });
}

const name = p.string({ doc: 'the database' });

const wantedParams = {
  name,
  tablespace: p.scalar({ default: null, doc: 'its tablespace' }),
  encoding: p.scalar({ default: null, doc: 'encoding' }),
  lc_collate: p.scalar({ default: null, doc: 'collation' }),
  lc_ctype: p.scalar({ default: null, doc: 'character classification (LC_CTYPE)' }),
  owner: p.scalar({ default: null, doc: 'the owner' }),
  owner_recurse: p.bool({ default: false, doc: 'also its content' }),
  template: p.scalar({ default: null, doc: 'database to copy' }),
  ...dbParams,
};

export default defineState({
  name: 'postgres_database',
  doc: 'Databases of PostgreSQL.',
  available: needsFunction(
    'postgres.user_exists',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'A database that must exist.',
      examples: [
        'shop:\n  postgres_database.present:\n    - owner: shop\n    - encoding: UTF8\n    - template: template0',
      ],
      params: wantedParams,
      run: present,
    }),
    absent: state({
      doc: 'A database that must not exist.',
      examples: ['shop:\n  postgres_database.absent'],
      params: { name, ...dbParams },
      run: (args, ctx) =>
        removal(
          {
            what: `Database ${args.name}`,
            name: args.name,
            exists: () => ctx.callWith('postgres.db_exists', [args.name], dbArgs(args)),
            remove: () => ctx.callWith('postgres.db_remove', [args.name], dbArgs(args)),
          },
          ctx,
        ),
    }),
  },
});
