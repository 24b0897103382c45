// State module `postgres_privileges`: what roles of PostgreSQL may do with objects.
import { defineState, needsFunction, newDict, p, pyStr, state, type Value } from 'halite/sdk';
import { dbArgs, dbParams } from '../shared/postgres.ts';

const { maintenance_db, ...connection } = dbParams;
const params = {
  name: p.string({ doc: 'the role' }),
  object_name: p.string({ doc: 'the object, or ALL tables or sequences of a schema' }),
  object_type: p.string({ doc: 'table, sequence, schema, database, tablespace, language, function or group' }),
  privileges: p.oneOf(['list', 'string'], { default: null, doc: 'list of privileges' }),
};
const place = { prepend: p.string({ default: 'public', doc: 'the schema' }), maintenance_db, ...connection };

const joined = (privileges: Value): string | null =>
  Array.isArray(privileges) && privileges.length > 0
    ? privileges.map(pyStr).join(',')
    : privileges
      ? pyStr(privileges)
      : null;

export default defineState({
  name: 'postgres_privileges',
  doc: 'What roles of PostgreSQL may do with objects.',
  available: needsFunction(
    'postgres.privileges_grant',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'Privileges a role shall have.',
      examples: [
        'shop:\n  postgres_privileges.present:\n    - object_name: orders\n    - object_type: table\n    - privileges: [SELECT, INSERT]\n    - maintenance_db: shop',
      ],
      params: { ...params, grant_option: p.scalar({ default: null, doc: 'may pass them on' }), ...place },
      async run(args, ctx) {
        const privileges = joined(args.privileges);
        const kwargs = { privileges, grant_option: args.grant_option, prepend: args.prepend, ...dbArgs(args) };
        const target = [args.name, args.object_name, args.object_type];
        if (await ctx.callWith('postgres.has_privileges', target, kwargs))
          return ctx.ok('The requested privilege(s) are already set');
        const shown = pyStr(args.object_type === 'group' ? args.object_name : privileges);
        const done = `The privilege(s): ${shown} have been granted to ${args.name}`;
        return ctx.change(newDict([[args.name, 'Present']]), done, {
          test: `The privilege(s): ${shown} are set to be granted to ${args.name}`,
          testChanges: newDict(),
          apply: async () =>
            (await ctx.callWith('postgres.privileges_grant', target, kwargs))
              ? undefined
              : ctx.fail(`Failed to grant privilege(s): ${shown} to ${args.name}`),
        });
      },
    }),
    absent: state({
      doc: 'Privileges a role shall not have.',
      examples: [
        'shop:\n  postgres_privileges.absent:\n    - object_name: orders\n    - object_type: table\n    - privileges: [DELETE]\n    - maintenance_db: shop',
      ],
      params: { ...params, ...place },
      async run(args, ctx) {
        const privileges = joined(args.privileges);
        const kwargs = { privileges, prepend: args.prepend, ...dbArgs(args) };
        const target = [args.name, args.object_name, args.object_type];
        if (!(await ctx.callWith('postgres.has_privileges', target, kwargs)))
          return ctx.ok('The requested privilege(s) are not set so cannot be revoked');
        const shown = pyStr(args.object_type === 'group' ? args.object_name : privileges);
        const done = `The privilege(s): ${shown} have been revoked from ${args.name}`;
        return ctx.change(newDict([[args.name, 'Absent']]), done, {
          test: `The privilege(s): ${shown} are set to be revoked from ${args.name}`,
          testChanges: newDict(),
          apply: async () =>
            (await ctx.callWith('postgres.privileges_revoke', target, kwargs))
              ? undefined
              : ctx.fail(`Failed to revoke privilege(s): ${shown} from ${args.name}`),
        });
      },
    }),
  },
});
