// State module `postgres_schema`: schemas in databases of PostgreSQL.
import { defineState, isDict, needsFunction, p, resource, state, type Value } from 'halite/sdk';
import { dbParams } from '../shared/postgres.ts';

const { user, db_user, db_password, db_host, db_port } = dbParams;
const connection = { user, db_user, db_password, db_host, db_port };
const names = { dbname: p.string({ doc: 'the database' }), name: p.string({ doc: 'the schema' }) };

type Connection = Readonly<Record<keyof typeof connection, Value>>;
const at = (args: Connection) => ({
  db_user: args.db_user,
  db_password: args.db_password,
  db_host: args.db_host,
  db_port: args.db_port,
  user: args.user,
});

export default defineState({
  name: 'postgres_schema',
  doc: 'Schemas in databases of PostgreSQL.',
  available: needsFunction(
    'postgres.schema_exists',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'A schema that must exist.',
      examples: ['reports:\n  postgres_schema.present:\n    - dbname: shop'],
      params: { ...names, owner: p.scalar({ default: null, doc: 'the owner' }), ...connection },
      run(args, ctx) {
        const { dbname, name, owner } = args;
        return resource(ctx, {
          find: async () => isDict(await ctx.callWith('postgres.schema_get', [dbname, name], at(args))),
          change: () => ctx.callWith('postgres.schema_create', [dbname, name], { owner, ...at(args) }),
          changes: () => ({ [name]: 'Present' }),
          right: `Schema ${name} already exists in database ${dbname}`,
          would: `Schema ${name} is set to be created in database ${dbname}.`,
          done: `Schema ${name} has been created in database ${dbname}`,
          failed: `Failed to create schema ${name} in database ${dbname}`,
          extra: { dbname },
        });
      },
    }),
    absent: state({
      doc: 'A schema that must not exist.',
      examples: ['reports:\n  postgres_schema.absent:\n    - dbname: shop'],
      params: { ...names, ...connection },
      run(args, ctx) {
        const { dbname, name } = args;
        return resource(ctx, {
          find: () => ctx.callWith('postgres.schema_exists', [dbname, name], at(args)),
          wanted: false,
          change: () => ctx.callWith('postgres.schema_remove', [dbname, name], at(args)),
          changes: () => ({ [name]: 'Absent' }),
          right: `Schema ${name} is not present in database ${dbname}, so it cannot be removed`,
          would: `Schema ${name} is set to be removed from database ${dbname}`,
          done: `Schema ${name} has been removed from database ${dbname}`,
          failed: `Schema ${name} failed to be removed`,
        });
      },
    }),
  },
});
