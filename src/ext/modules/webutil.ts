// Execution module `webutil`: password files of web servers, with htpasswd.
import { defineModule, fn, type ModuleContext, newDict, p, type Value } from 'halite/sdk';
import { pathExists } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

/** Through cmd.run_all, because it may have to run as another user. */
const htpasswd = (args: readonly string[], runas: string | null, ctx: ModuleContext): Promise<Value> =>
  ctx.callWith(
    'cmd.run_all',
    [['htpasswd', ...args]],
    newDict(Object.entries({ runas, python_shell: false, output_loglevel: 'quiet' })),
  );
const field = (result: Value, key: string): Value => (result as Record<string, Value>)[key] ?? null;

const pwfile = p.path({ doc: 'the file' });
const user = p.string({ doc: 'the user' });
const password = p.string({ doc: 'the password' });
const opts = p.string({ default: '', doc: 'letters of additional options, such as `Bd`' });
const runas = p.string({ default: null, doc: 'as this user' });

export default defineModule({
  name: 'webutil',
  doc: 'Password files of web servers.',
  available: () =>
    which('htpasswd') !== null || 'The htpasswd execution mdule cannot be loaded: htpasswd binary not in path.',
  reads: ['verify'],
  functions: {
    useradd: fn({
      doc: 'Adds a user, or sets the password; creates the file when needed.',
      examples: ["salt '*' webutil.useradd /etc/httpd/htpasswd larry badpassword"],
      params: { pwfile, user, password, opts, runas },
      run(args, ctx) {
        const letters = pathExists(args.pwfile) ? args.opts : `${args.opts}c`;
        return htpasswd([`-b${letters}`, args.pwfile, args.user, args.password], args.runas, ctx);
      },
    }),
    userdel: fn({
      doc: 'Removes a user.',
      examples: ["salt '*' webutil.userdel /etc/httpd/htpasswd larry"],
      params: { pwfile, user, runas, all_results: p.bool({ default: false, doc: 'with the exit status' }) },
      async run(args, ctx) {
        if (!pathExists(args.pwfile)) return 'Error: The specified htpasswd file does not exist';
        const done = await htpasswd(['-D', args.pwfile, args.user], args.runas, ctx);
        return args.all_results ? done : lines(`${field(done, 'stdout')}${field(done, 'stderr')}`);
      },
    }),
    verify: fn({
      doc: 'Whether the password is correct.',
      examples: ["salt '*' webutil.verify /etc/httpd/htpasswd larry maybepassword"],
      params: { pwfile, user, password, opts, runas },
      async run(args, ctx) {
        if (!pathExists(args.pwfile)) return false;
        const done = await htpasswd([`-bv${args.opts}`, args.pwfile, args.user, args.password], args.runas, ctx);
        return field(done, 'retcode') === 0;
      },
    }),
  },
});
