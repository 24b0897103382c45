// State module `webutil`: users in files of passwords for web servers.
import { defineState, newDict, p, pyStr, type StateContext, state } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { plain } from '../shared/calls.ts';

const name = p.string({ doc: 'the user' });
const htpasswd_file = p.path({ default: null, doc: 'the file' });
const runas = p.string({ default: null, doc: 'as this user' });

const listed = async (file: string | null, user: string, ctx: StateContext): Promise<boolean> =>
  plain(await ctx.call('file.grep', file, `^${user}:`))['retcode'] === 0;

const userExists = state({
  doc: 'A user with a password.',
  examples: ['larry:\n  webutil.user_exists:\n    - password: secret\n    - htpasswd_file: /etc/httpd/htpasswd'],
  params: {
    name,
    password: p.string({ default: null, doc: 'the password' }),
    htpasswd_file,
    options: p.string({ default: '', doc: 'letters of further options' }),
    force: p.bool({ default: false, doc: 'set it even when it is there' }),
    runas,
    update: p.bool({ default: false, doc: 'set it when it differs' }),
  },
  async run({ name, password, htpasswd_file: file, options, force, runas, update }, ctx) {
    const exists = Boolean(await ctx.call('file.file_exists', file)) && (await listed(file, name, ctx));
    const how = newDict(Object.entries({ opts: options, runas }));
    const differs = exists && update && !force && !(await ctx.callWith('webutil.verify', [file, name, password], how));
    if (exists && !differs && !force) return ctx.ok('User already known');
    return ctx.change(newDict([[name, true]]), '', {
      test: `User '${name}' is set to be added to htpasswd file`,
      async apply() {
        const done = plain(await ctx.callWith('webutil.useradd', [file, name, password], how));
        const comment = pyStr(done['stderr'] ?? '');
        return done['retcode'] === 0 ? ctx.ok(comment, { changes: newDict([[name, true]]) }) : ctx.fail(comment);
      },
    });
  },
});

const userAbsent = state({
  doc: 'A user who shall not be there.',
  examples: ['larry:\n  webutil.user_absent:\n    - htpasswd_file: /etc/httpd/htpasswd'],
  params: { name, htpasswd_file, runas },
  async run({ name, htpasswd_file: file, runas }, ctx) {
    if (!(await listed(file, name, ctx))) return ctx.ok('User already not in file');
    return ctx.change(newDict([[name, true]]), '', {
      test: `User '${name}' is set to be removed from htpasswd file`,
      async apply() {
        const how = newDict(Object.entries({ runas, all_results: true }));
        const done = plain(await ctx.callWith('webutil.userdel', [file, name], how));
        const comment = pyStr(done['stderr'] ?? '');
        return done['retcode'] === 0 ? ctx.ok(comment, { changes: newDict([[name, true]]) }) : ctx.fail(comment);
      },
    });
  },
});

export default defineState({
  name: 'webutil',
  doc: 'Users in files of passwords for web servers.',
  available: () => which('htpasswd') !== null || 'Command not found: htpasswd',
  functions: { user_exists: userExists, user_absent: userAbsent },
});
