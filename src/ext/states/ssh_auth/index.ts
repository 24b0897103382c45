// State module `ssh_auth`: authorized keys of a user.
import {
  type ArgsOf,
  changeSet,
  defineState,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { words } from 'halite/sdk/text';
import { keyLine } from '../../shared/ssh/keys.ts';

const params = {
  name: p.string({ doc: 'the key; it may include options, kind and comment as in the file' }),
  user: p.string({ doc: 'the user' }),
  enc: p.string({ default: 'ssh-rsa', doc: 'kind of key' }),
  comment: p.string({ default: '', doc: 'comment after it' }),
  source: p.string({ default: '', doc: 'file with keys instead' }),
  options: p.oneOf(['list', 'string'], { default: null, doc: 'options before it' }),
  config: p.string({ default: '.ssh/authorized_keys', doc: 'the file; %h is the home, %u the user' }),
  fingerprint_hash_type: p.scalar({ default: null, doc: 'hash of fingerprints' }),
};
const withMore = { ...params, kwargs: p.kwargs({ doc: 'accepted' }) };
type Args = ArgsOf<typeof params>;

interface Key {
  readonly key: string;
  readonly enc: string;
  readonly comment: string;
  readonly options: Value[];
}

/** `from="x" ssh-rsa AAAA… me` in its parts. */
function keyOf(args: Args): Key {
  const options = Array.isArray(args.options) ? args.options : args.options ? pyStr(args.options).split(',') : [];
  const match = keyLine.exec(args.name);
  if (!match) {
    const [key = '', ...rest] = words(args.name);
    return { key, enc: args.enc, comment: rest.length > 0 ? rest.join(' ') : args.comment, options };
  }
  const [enc = '', key = '', ...rest] = words(match[2] ?? '');
  return {
    key,
    enc,
    comment: rest.length > 0 ? rest.join(' ') : args.comment,
    options: match[1] ? match[1].split(',') : options,
  };
}

const noted = (ctx: StateContext): string | undefined => {
  const error = ctx.cache.get('ssh_auth.error');
  ctx.cache.delete('ssh_auth.error');
  return typeof error === 'string' ? error : undefined;
};
const about = (args: Args): PlainDict =>
  newDict([
    ['config', args.config],
    ['fingerprint_hash_type', args.fingerprint_hash_type],
  ]);

/** What would change for the keys of a file. */
async function fileForecast(args: Args, remove: boolean, ctx: StateContext): Promise<StateResult> {
  const keys = textKeyed(
    await ctx.callWith('ssh.check_key_file', [args.user, args.source, args.config], {
      saltenv: ctx.saltenv,
      fingerprint_hash_type: args.fingerprint_hash_type,
    }),
  );
  const rows = Object.entries(keys)
    .filter(([, status]) => status !== (remove ? 'add' : 'exists'))
    .map(([key, status]) => `Set to ${remove ? 'remove' : pyStr(status)}: ${key}\n`);
  if (rows.length > 0) return ctx.result({ result: null, comment: rows.join('') });
  const error = noted(ctx);
  return error
    ? ctx.fail(error)
    : ctx.ok(`All host keys in file ${args.source} are already ${remove ? 'absent' : 'present'}`);
}

const check = (args: Args, { key, enc, comment, options }: Key, ctx: StateContext): Promise<Value> =>
  ctx.callWith('ssh.check_key', [args.user, key, enc, comment, options], about(args));

async function forecast(args: Args, key: Key, ctx: StateContext): Promise<StateResult> {
  const status = await check(args, key, ctx);
  if (status === 'exists') return ctx.ok(`The authorized host key ${key.key} is already present for user ${args.user}`);
  return ctx.result({
    result: null,
    comment: `Key ${key.key} for user ${args.user} is set to be ${status === 'update' ? 'updated' : 'added'}`,
  });
}

async function put(args: Args, { key, enc, comment, options }: Key, ctx: StateContext): Promise<StateResult> {
  let status: Value;
  if (args.source === '')
    status = await ctx.callWith('ssh.set_auth_key', [args.user, key], { ...about(args), enc, comment, options });
  else if (!(await ctx.files.cacheFile(args.source, { saltenv: ctx.saltenv }))) status = 'no key';
  else
    status = await ctx.callWith('ssh.set_auth_key_from_file', [args.user, args.source], {
      ...about(args),
      saltenv: ctx.saltenv,
      options: args.options,
    });
  const name = args.source === '' ? key : args.name;
  const what = `The authorized host key ${name}`;
  switch (status) {
    case 'replace':
      return ctx.ok(`${what} for user ${args.user} was updated`, { changes: newDict([[name, 'Updated']]) });
    case 'no change':
      return ctx.ok(`${what} is already present for user ${args.user}`);
    case 'new':
      return ctx.ok(`${what} for user ${args.user} was added`, { changes: newDict([[name, 'New']]) });
    case 'no key':
      return ctx.fail(`Failed to add the ssh key. Source file ${args.source} is missing`);
    case 'fail':
      return ctx.fail(
        noted(ctx) ?? 'Failed to add the ssh key. Is the home directory available, and/or does the key file exist?',
      );
    default:
      return ctx.fail('Invalid public ssh key, most likely has spaces or invalid syntax');
  }
}

function makePresent(args: Args, ctx: StateContext): Promise<StateResult> {
  const key = keyOf(args);
  return withForecast(
    ctx,
    () => (args.source === '' ? forecast(args, key, ctx) : fileForecast(args, false, ctx)),
    () => put(args, key, ctx),
  );
}

async function removalForecast(args: Args, key: Key, ctx: StateContext): Promise<StateResult> {
  if (args.source !== '') return fileForecast(args, true, ctx);
  if ((await check(args, key, ctx)) === 'add') return ctx.ok('Key is already absent');
  return ctx.result({ result: null, comment: `Key ${key.key} for user ${args.user} is set for removal` });
}

async function take(args: Args, key: Key, ctx: StateContext): Promise<StateResult> {
  const fromFile = args.source !== '';
  if (fromFile && !(await ctx.files.cacheFile(args.source, { saltenv: ctx.saltenv }))) return ctx.ok('');
  const comment = pyStr(
    fromFile
      ? await ctx.callWith('ssh.rm_auth_key_from_file', [args.user, args.source, args.config], {
          saltenv: ctx.saltenv,
          fingerprint_hash_type: args.fingerprint_hash_type,
        })
      : await ctx.callWith('ssh.rm_auth_key', [args.user, key.key], about(args)),
  );
  if (comment === 'User authorized keys file not present') return ctx.fail(comment);
  const changes = comment === 'Key removed' ? newDict([[fromFile ? args.name : key.key, 'Removed']]) : newDict();
  return ctx.ok(comment, { changes });
}

function makeAbsent(args: Args, ctx: StateContext): Promise<StateResult> {
  const key = keyOf(args);
  return withForecast(
    ctx,
    () => removalForecast(args, key, ctx),
    () => take(args, key, ctx),
  );
}

const present = state({
  doc: 'An authorized key of a user.',
  examples: ['AAAAB3NzaC1kc3MAAACBAL0sQ9fJ5bYTEyY==:\n  ssh_auth.present:\n    - user: root\n    - enc: ssh-dss'],
  params: withMore,
  run: makePresent,
});

const absent = state({
  doc: 'A key that must not be authorized for a user.',
  examples: ['thatch:\n  ssh_auth.absent:\n    - user: root\n    - source: salt://ssh_keys/thatch.id_rsa.pub'],
  params,
  run: makeAbsent,
});

const manage = state({
  doc: 'The complete list of authorized keys of a user.',
  examples: ['root-keys:\n  ssh_auth.manage:\n    - user: root\n    - ssh_keys:\n      - ssh-ed25519 AAAA… me'],
  params: {
    name: p.string({ doc: 'any name' }),
    ssh_keys: p.list({ doc: 'the keys' }),
    ...(({ name: _, ...rest }) => rest)(withMore),
  },
  async run({ ssh_keys: keys, ...args }, ctx) {
    const all = keys.flatMap((key) => pyStr(key).split(' '));
    const now = Object.keys(textKeyed(await ctx.callWith('ssh.auth_keys', [], { ...about(args), user: args.user })));
    return changeSet(ctx, {
      async each(set) {
        for (const key of now.filter((item) => !all.includes(item)))
          await set.part({
            async change() {
              set.changes[key] = pyStr((await makeAbsent({ ...args, name: key, source: '' }, ctx)).comment as Value);
            },
            would: `${key} Key set for removal`,
          });
        for (const key of keys) {
          const done = await makePresent({ ...args, name: pyStr(key) }, ctx);
          if (Object.keys(textKeyed(done.changes)).length > 0) Object.assign(set.changes, done.changes);
          else set.comments.push(pyStr(done.comment as Value));
          set.isChanged ||= done.result === null;
          set.ok &&= done.result !== false;
        }
      },
      extra: { name: '' },
    });
  },
});

export default defineState({
  name: 'ssh_auth',
  doc: 'Authorized keys of users.',
  functions: { present, absent, manage },
});
