// State module `postgres_user`: users of PostgreSQL.
import { defineState, needsFunction, p, state } from 'halite/sdk';
import { dbArgs, dbParams, removal } from '../shared/postgres.ts';
import { roleParams, rolePresent } from '../shared/postgres-roles.ts';

const name = p.string({ doc: 'the user' });
const { password, refresh_password, groups, ...rights } = roleParams;

export default defineState({
  name: 'postgres_user',
  doc: 'Users of PostgreSQL.',
  available: needsFunction(
    'postgres.user_exists',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'A user that must exist, with these rights.',
      examples: [
        'shop:\n  postgres_user.present:\n    - password: secret\n    - encrypted: scram-sha-256\n    - createdb: true',
      ],
      params: {
        name,
        ...rights,
        password,
        default_password: p.scalar({ default: null, doc: 'password for a new user' }),
        refresh_password,
        valid_until: p.scalar({ default: null, doc: 'expiry of the password' }),
        groups,
        ...dbParams,
      },
      run: (args, ctx) => rolePresent('user', args, ctx),
    }),
    absent: state({
      doc: 'A user that must not exist.',
      examples: ['shop:\n  postgres_user.absent'],
      params: { name, ...dbParams },
      run: (args, ctx) =>
        removal(
          {
            what: `User ${args.name}`,
            name: args.name,
            exists: () => ctx.callWith('postgres.user_exists', [args.name], dbArgs(args)),
            remove: () => ctx.callWith('postgres.user_remove', [args.name], dbArgs(args)),
          },
          ctx,
        ),
    }),
  },
});
