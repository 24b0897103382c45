// State module `postgres_schema`: schemas in databases of PostgreSQL.
import { defineState, isDict, needsFunction, newDict, p, state, type Value } from 'halite/sdk';
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
      doc: 'A schema that shall exist.',
      examples: ['reports:\n  postgres_schema.present:\n    - dbname: shop'],
      params: { ...names, owner: p.scalar({ default: null, doc: 'who it belongs to' }), ...connection },
      async run(args, ctx) {
        const { dbname, name, owner } = args;
        const extra = { dbname };
        if (isDict(await ctx.callWith('postgres.schema_get', [dbname, name], at(args))))
          return ctx.ok(`Schema ${name} already exists in database ${dbname}`, extra);
        return ctx.change(newDict([[name, 'Present']]), `Schema ${name} has been created in database ${dbname}`, {
          test: `Schema ${name} is set to be created in database ${dbname}.`,
          testChanges: newDict(),
          async apply() {
            const fine = await ctx.callWith('postgres.schema_create', [dbname, name], { owner, ...at(args) });
            return fine ? undefined : ctx.fail(`Failed to create schema ${name} in database ${dbname}`, extra);
          },
        });
      },
    }),
    absent: state({
      doc: 'A schema that shall not exist.',
      examples: ['reports:\n  postgres_schema.absent:\n    - dbname: shop'],
      params: { ...names, ...connection },
      async run(args, ctx) {
        const { dbname, name } = args;
        if (!(await ctx.callWith('postgres.schema_exists', [dbname, name], at(args))))
          return ctx.ok(`Schema ${name} is not present in database ${dbname}, so it cannot be removed`);
        return ctx.change(newDict([[name, 'Absent']]), `Schema ${name} has been removed from database ${dbname}`, {
          test: `Schema ${name} is set to be removed from database ${dbname}`,
          testChanges: newDict(),
          async apply() {
            const fine = await ctx.callWith('postgres.schema_remove', [dbname, name], at(args));
            return fine ? undefined : ctx.fail(`Schema ${name} failed to be removed`);
          },
        });
      },
    }),
  },
});
