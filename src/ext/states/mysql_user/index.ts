// State module `mysql_user`: users of MySQL and MariaDB.
import {
  defineState,
  isTrue,
  newDict,
  type PlainDict,
  p,
  resource,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { connection, lastError, reason } from '../shared/mysql.ts';

interface Wanted {
  readonly name: string;
  readonly host: string;
  readonly password: Value;
  readonly password_hash: Value;
  readonly allow_passwordless: Value;
  readonly unix_socket: Value;
  readonly password_column: Value;
  readonly auth_plugin: string;
}

const isOpen = (wanted: Wanted): boolean => !wanted.password && !wanted.password_hash;

/** The comment for a user that is already correct. */
function settled(wanted: Wanted): string {
  const said = `User ${wanted.name}@${wanted.host} is already present`;
  if (isOpen(wanted)) return wanted.allow_passwordless ? `${said} with passwordless login` : said;
  if (wanted.auth_plugin !== 'mysql_native_password') return `${said}. Unable to verify password.`;
  return `${said} with the desired password${wanted.password ? '' : ' hash'}`;
}

async function isSettled(wanted: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<boolean> {
  const { name, host, password, password_hash, unix_socket, password_column } = wanted;
  const common = { unix_socket, password_column, ...kwargs };
  return Boolean(
    isOpen(wanted)
      ? await ctx.callWith('mysql.user_exists', [name, host], { passwordless: true, ...common })
      : await ctx.callWith('mysql.user_exists', [name, host, password, password_hash], common),
  );
}

function changePassword(wanted: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name, host, password, password_hash, allow_passwordless, unix_socket } = wanted;
  const open = isOpen(wanted);
  const who = `user ${name}@${host}`;
  const forbidden = open && !isTrue(allow_passwordless);
  // Outside of test mode the server gives the reason.
  if (ctx.test && forbidden)
    return Promise.resolve(ctx.fail(`Password for ${who} is set to be cleared, but allow_passwordless != True`));
  return ctx.change(newDict([[name, 'Updated']]), `Password for ${who} has been ${open ? 'cleared' : 'changed'}`, {
    test: `Password for ${who} is set to be ${open ? 'cleared' : 'changed'}`,
    testChanges: newDict(),
    async apply() {
      const args = [name, host, password, password_hash, allow_passwordless, unix_socket];
      if (await ctx.callWith('mysql.user_chpass', args, kwargs)) return undefined;
      const note = forbidden ? '. Note: allow_passwordless must be True to permit passwordless login.' : '';
      return ctx.fail(`Failed to ${open ? 'clear' : 'change'} password for ${who}${reason(ctx)}${note}`);
    },
  });
}

function create(wanted: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name, host, password, password_hash, allow_passwordless, unix_socket, password_column, auth_plugin } = wanted;
  const how = `${allow_passwordless ? ' with passwordless login' : ''}${unix_socket ? ' using unix_socket' : ''}`;
  return ctx.change(newDict([[name, 'Present']]), `The user ${name}@${host} has been added${how}`, {
    test: `User ${name}@${host} is set to be added${how}`,
    testChanges: newDict(),
    async apply() {
      const args = [name, host, password, password_hash, allow_passwordless];
      const more = { unix_socket, password_column, auth_plugin, ...kwargs };
      if (await ctx.callWith('mysql.user_create', args, more)) return undefined;
      return ctx.fail(`Failed to create user ${name}@${host}${reason(ctx)}`);
    },
  });
}

async function present(wanted: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  if (isOpen(wanted) && !isTrue(wanted.allow_passwordless) && !wanted.unix_socket)
    return ctx.fail('Either password or password_hash must be specified, unless allow_passwordless is True');
  if (await isSettled(wanted, kwargs, ctx)) return ctx.ok(settled(wanted));
  const before = lastError(ctx);
  if (before !== undefined) return ctx.fail(before);
  const { name, host, unix_socket } = wanted;
  if (await ctx.callWith('mysql.user_exists', [name, host], { unix_socket, ...kwargs }))
    return changePassword(wanted, kwargs, ctx);
  const error = lastError(ctx);
  return error === undefined ? create(wanted, kwargs, ctx) : ctx.fail(error);
}

function absent(name: string, host: string, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  const who = `User ${name}@${host}`;
  return resource(ctx, {
    find: () => ctx.callWith('mysql.user_exists', [name, host], kwargs),
    wanted: false,
    refuse: (found) => (found ? undefined : lastError(ctx)),
    change: () => ctx.callWith('mysql.user_remove', [name, host], kwargs),
    changes: () => ({ [name]: 'Absent' }),
    right: `${who} is not present, so it cannot be removed`,
    would: `${who} is set to be removed`,
    done: `${who} has been removed`,
    failed: () => lastError(ctx) ?? `${who} could not be removed`,
  });
}

const name = p.string({ doc: 'the user' });
const host = p.string({ default: 'localhost', doc: 'the host of the user' });

export default defineState({
  name: 'mysql_user',
  doc: 'Users of MySQL and MariaDB.',
  functions: {
    present: state({
      doc: 'A user that must exist, with a password, its hash, or none.',
      examples: [
        "frank:\n  mysql_user.present:\n    - host: localhost\n    - password_hash: '*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4'",
      ],
      params: {
        name,
        host,
        password: p.scalar({ default: null, doc: 'the password' }),
        password_hash: p.scalar({ default: null, doc: 'the hash of the password' }),
        allow_passwordless: p.scalar({ default: false, nullable: true, doc: 'no password is needed' }),
        unix_socket: p.scalar({ default: false, nullable: true, doc: 'authenticate with the name of the system user' }),
        password_column: p.scalar({ default: null, doc: 'column of mysql.user with the hash' }),
        auth_plugin: p.string({ default: 'mysql_native_password', doc: 'authentication plugin of the user' }),
        connection_args: connection,
      },
      run: ({ connection_args, ...wanted }, ctx) => present(wanted, connection_args, ctx),
    }),
    absent: state({
      doc: 'A user that must not exist.',
      examples: ['frank:\n  mysql_user.absent:\n    - host: localhost'],
      params: { name, host, connection_args: connection },
      run: (args, ctx) => absent(args.name, args.host, args.connection_args, ctx),
    }),
  },
});
