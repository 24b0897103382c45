// State module `postgres_group`: groups of PostgreSQL.
import { defineState, needsFunction, p, state } from 'halite/sdk';
import { dbArgs, dbParams, removal } from '../shared/postgres.ts';
import { roleParams, rolePresent } from '../shared/postgres-roles.ts';

const name = p.string({ doc: 'the group' });
const { createdb, createroles, encrypted, superuser, inherit, login, replication, ...rest } = roleParams;

export default defineState({
  name: 'postgres_group',
  doc: 'Groups of PostgreSQL.',
  available: needsFunction(
    'postgres.group_create',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'A group that must exist, with these rights.',
      examples: ['readers:\n  postgres_group.present:\n    - createdb: false'],
      params: {
        name,
        ...{ createdb, createroles, encrypted, superuser, inherit, login, replication },
        ...rest,
        ...dbParams,
      },
      run: (args, ctx) => rolePresent('group', args, ctx),
    }),
    absent: state({
      doc: 'A group that must not exist.',
      examples: ['readers:\n  postgres_group.absent'],
      params: { name, ...dbParams },
      run: (args, ctx) =>
        removal(
          {
            what: `Group ${args.name}`,
            name: args.name,
            exists: () => ctx.callWith('postgres.user_exists', [args.name], dbArgs(args)),
            remove: () => ctx.callWith('postgres.group_remove', [args.name], dbArgs(args)),
          },
          ctx,
        ),
    }),
  },
});
