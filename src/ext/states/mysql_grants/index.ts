// State module `mysql_grants`: privileges of users of MySQL and MariaDB.
import {
  type ArgsOf,
  defineState,
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

const params = {
  name: p.string({ doc: 'any text' }),
  grant: p.scalar({ default: null, doc: 'privileges, with commas' }),
  database: p.scalar({ default: null, doc: '`db.table`, `db.*` or `*.*`' }),
  user: p.scalar({ default: null, doc: 'the user' }),
  host: p.string({ default: 'localhost', doc: 'the host of the user' }),
  grant_option: p.scalar({ default: false, nullable: true, doc: 'with grant option' }),
  escape: p.scalar({ default: true, nullable: true, doc: 'quote the names' }),
};

type Wanted = ArgsOf<typeof params>;

const exists = (w: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<Value> =>
  ctx.callWith('mysql.grant_exists', [w.grant, w.database, w.user, w.host, w.grant_option, w.escape], kwargs);

/** `SELECT on db.* to frank@localhost`. */
const text = (w: Wanted, between: string): string =>
  `${pyStr(w.grant)} on ${pyStr(w.database)} ${between} ${pyStr(w.user)}@${w.host}`;

/** Revokes all other privileges of the user on this database. */
async function revokeAll(w: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<void> {
  const whole = pyStr(w.database);
  const at = whole.lastIndexOf('.');
  const [db, table] = [whole.slice(0, Math.max(at, 0)), whole.slice(at + 1)];
  const wanted = `${db}.${table}`;
  const bare = (name: string): string => name.replace(/[`\\]/g, '');
  const grants = await ctx.callWith('mysql.user_grants', [w.user, w.host], kwargs);
  for (const statement of Array.isArray(grants) ? grants : []) {
    const tokens = textKeyed(await ctx.call('mysql.tokenize_grant', statement));
    const has = Array.isArray(tokens['grant']) ? tokens['grant'].map(pyStr) : [];
    if (bare(pyStr(tokens['database'] ?? '')) !== wanted || has.length === 0) continue;
    const { database, user, host, grant_option, escape: quoted } = w;
    const grant = has.join(',');
    await ctx.callWith('mysql.grant_revoke', [], {
      grant,
      database,
      user,
      host,
      grant_option,
      escape: quoted,
      ...kwargs,
    });
  }
}

async function present(
  w: Wanted & { readonly revoke_first: Value; readonly ssl_option: Value },
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<StateResult> {
  const args = [w.grant, w.database, w.user, w.host, w.grant_option, w.escape, w.ssl_option];
  const statement = `GRANT ${pyStr(w.grant)} ON ${pyStr(w.database)} TO ${pyStr(w.user)}@${w.host}`;
  return resource(ctx, {
    find: () => exists(w, kwargs, ctx),
    refuse: (found) => (found ? undefined : lastError(ctx)),
    async change() {
      if (w.revoke_first) await revokeAll(w, kwargs, ctx);
      return ctx.callWith('mysql.grant_add', args, kwargs);
    },
    changes: () => ({ [w.name]: 'Present' }),
    right: `Grant ${text(w, 'to')} is already present`,
    would: `MySQL grant ${w.name} is set to be created`,
    done: `Grant ${text(w, 'to')} has been added`,
    failed: () => `Failed to execute: "${statement}"${reason(ctx)}`,
  });
}

function absent(w: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  return resource(ctx, {
    find: () => exists(w, kwargs, ctx),
    wanted: false,
    refuse(found) {
      const error = found ? undefined : lastError(ctx);
      return error === undefined ? undefined : `Unable to determine if grant ${text(w, 'for')} exists (${error})`;
    },
    change: () => ctx.callWith('mysql.grant_revoke', [w.grant, w.database, w.user, w.host, w.grant_option], kwargs),
    changes: () => ({ [w.name]: 'Absent' }),
    right: `Grant ${text(w, 'to')} is not present, so it cannot be revoked`,
    would: `MySQL grant ${w.name} is set to be revoked`,
    done: `Grant ${text(w, 'for')} has been revoked`,
    failed: () => `Unable to revoke grant ${text(w, 'for')}${reason(ctx)}`,
  });
}

export default defineState({
  name: 'mysql_grants',
  doc: 'Privileges of users of MySQL and MariaDB.',
  functions: {
    present: state({
      doc: 'Privileges a user must have.',
      examples: [
        'frank_shop:\n  mysql_grants.present:\n    - grant: select,insert,update\n    - database: shop.*\n    - user: frank',
      ],
      params: {
        ...params,
        revoke_first: p.scalar({
          default: false,
          nullable: true,
          doc: 'first revoke all privileges of the user there',
        }),
        ssl_option: p.oneOf(['bool', 'list', 'string'], {
          default: false,
          nullable: true,
          doc: 'list of TLS requirements: SSL, X509, {ISSUER: …}',
        }),
        connection_args: connection,
      },
      run: ({ connection_args, ...wanted }, ctx) => present(wanted, connection_args, ctx),
    }),
    absent: state({
      doc: 'Privileges a user must not have.',
      examples: ['frank_shop:\n  mysql_grants.absent:\n    - grant: delete\n    - database: shop.*\n    - user: frank'],
      params: { ...params, connection_args: connection },
      run: ({ connection_args, ...wanted }, ctx) => absent(wanted, connection_args, ctx),
    }),
  },
});
