// State module `webutil`: users in password files of web servers.
import {
  defineState,
  newDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';

const name = p.string({ doc: 'the user' });
const htpasswd_file = p.path({ default: null, doc: 'the file' });
const runas = p.string({ default: null, doc: 'as this user' });

const listed = async (file: string | null, user: string, ctx: StateContext): Promise<boolean> =>
  textKeyed(await ctx.call('file.grep', file, `^${user}:`))['retcode'] === 0;

/** The outcome of htpasswd as a result. */
const outcome = (answer: Value, name: string, ctx: StateContext): StateResult => {
  const done = textKeyed(answer);
  const comment = pyStr(done['stderr'] ?? '');
  return done['retcode'] === 0 ? ctx.ok(comment, { changes: newDict([[name, true]]) }) : ctx.fail(comment);
};

const userExists = state({
  doc: 'A user with a password.',
  examples: ['larry:\n  webutil.user_exists:\n    - password: secret\n    - htpasswd_file: /etc/httpd/htpasswd'],
  params: {
    name,
    password: p.string({ default: null, doc: 'the password' }),
    htpasswd_file,
    options: p.string({ default: '', doc: 'letters of additional options' }),
    force: p.bool({ default: false, doc: 'set it even if it exists' }),
    runas,
    update: p.bool({ default: false, doc: 'set it when it differs' }),
  },
  run({ name, password, htpasswd_file: file, options, force, runas, update }, ctx) {
    const how = newDict(Object.entries({ opts: options, runas }));
    return resource(ctx, {
      find: async () => Boolean(await ctx.call('file.file_exists', file)) && (await listed(file, name, ctx)),
      compare: async (exists) =>
        !exists || force || (update && !(await ctx.callWith('webutil.verify', [file, name, password], how))),
      change: async () => outcome(await ctx.callWith('webutil.useradd', [file, name, password], how), name, ctx),
      changes: { [name]: true },
      right: 'User already known',
      would: `User '${name}' is set to be added to htpasswd file`,
    });
  },
});

const userAbsent = state({
  doc: 'A user who must not exist.',
  examples: ['larry:\n  webutil.user_absent:\n    - htpasswd_file: /etc/httpd/htpasswd'],
  params: { name, htpasswd_file, runas },
  run: ({ name, htpasswd_file: file, runas }, ctx) =>
    resource(ctx, {
      find: () => listed(file, name, ctx),
      wanted: false,
      change: async () =>
        outcome(await ctx.callWith('webutil.userdel', [file, name], { runas, all_results: true }), name, ctx),
      changes: { [name]: true },
      right: 'User already not in file',
      would: `User '${name}' is set to be removed from htpasswd file`,
    }),
});

export default defineState({
  name: 'webutil',
  doc: 'Users in password files of web servers.',
  available: () => which('htpasswd') !== null || 'Command not found: htpasswd',
  functions: { user_exists: userExists, user_absent: userAbsent },
});
