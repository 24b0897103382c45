// State module `postgres_privileges`: what roles of PostgreSQL may do with objects.
import {
  defineState,
  needsFunction,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { type DbArgs, dbArgs, dbParams } from '../shared/postgres.ts';

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

interface Asked extends DbArgs {
  readonly name: string;
  readonly object_name: string;
  readonly object_type: string;
  readonly privileges: Value;
  readonly prepend: string;
}

function privilege(args: Asked, more: PlainDict, wanted: boolean, ctx: StateContext): Promise<StateResult> {
  const { name } = args;
  const privileges = joined(args.privileges);
  const kwargs = { privileges, ...more, prepend: args.prepend, ...dbArgs(args) };
  const target = [name, args.object_name, args.object_type];
  const shown = `privilege(s): ${pyStr(args.object_type === 'group' ? args.object_name : privileges)}`;
  const [verb, done, to] = wanted ? ['grant', 'granted', 'to'] : ['revoke', 'revoked', 'from'];
  return resource(ctx, {
    find: () => ctx.callWith('postgres.has_privileges', target, kwargs),
    wanted,
    change: () => ctx.callWith(`postgres.privileges_${verb}`, target, kwargs),
    changes: () => ({ [name]: wanted ? 'Present' : 'Absent' }),
    right: wanted
      ? 'The requested privilege(s) are already set'
      : 'The requested privilege(s) are not set so cannot be revoked',
    would: `The ${shown} are set to be ${done} ${to} ${name}`,
    done: `The ${shown} have been ${done} ${to} ${name}`,
    failed: `Failed to ${verb} ${shown} ${to} ${name}`,
  });
}

export default defineState({
  name: 'postgres_privileges',
  doc: 'Privileges of roles of PostgreSQL on objects.',
  available: needsFunction(
    'postgres.privileges_grant',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'Privileges a role must have.',
      examples: [
        'shop:\n  postgres_privileges.present:\n    - object_name: orders\n    - object_type: table\n    - privileges: [SELECT, INSERT]\n    - maintenance_db: shop',
      ],
      params: { ...params, grant_option: p.scalar({ default: null, doc: 'with grant option' }), ...place },
      run: (args, ctx) => privilege(args, { grant_option: args.grant_option }, true, ctx),
    }),
    absent: state({
      doc: 'Privileges a role must not have.',
      examples: [
        'shop:\n  postgres_privileges.absent:\n    - object_name: orders\n    - object_type: table\n    - privileges: [DELETE]\n    - maintenance_db: shop',
      ],
      params: { ...params, ...place },
      run: (args, ctx) => privilege(args, {}, false, ctx),
    }),
  },
});
