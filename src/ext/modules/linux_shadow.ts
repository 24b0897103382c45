// Execution module `shadow`: passwords and their ages in /etc/shadow.

import { join } from 'node:path';
import {
  defineModule,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { chmodSync, chownSync, readFileSync, readText, renameSync, statSync, writeFileSync } from 'halite/sdk/fs';
import { askTool, runTool, userByName } from 'halite/sdk/system';
import { cryptPassword, randomSalt } from './shared/crypt.ts';

const fields = ['name', 'passwd', 'lstchg', 'min', 'max', 'warn', 'inact', 'expire'] as const;
const shadowFile = (root: string | null): string => join(root ?? '/', 'etc/shadow');
const rootOptions = (root: string | null): string[] => (root === null ? [] : ['-R', root]);

function rows(root: string | null): string[][] {
  return (readText(shadowFile(root)) ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(':'));
}

/** Everything about one user's password; empty values when there is no such user. */
function info(name: string, root: string | null): PlainDict {
  const row = rows(root).find((parts) => parts[0] === name);
  return newDict(
    fields.map((field, at): [string, Value] => {
      if (!row) return [field, ''];
      return [field, at < 2 ? (row[at] ?? '') : row[at] ? Number(row[at]) : -1];
    }),
  );
}

async function setAge(
  name: string,
  key: string,
  value: Value,
  option: string,
  root: string | null,
  check: boolean,
  ctx: ModuleContext,
): Promise<boolean> {
  const before = info(name, root);
  if (!before['name']) return false;
  if (before[key] === value) return true;
  const { retcode } = await runTool(ctx, 'chage', [...rootOptions(root), option, pyStr(value), '--', name]);
  return check ? info(name, root)[key] === value : retcode === 0;
}

/** Writes the hash into the file itself, so that it is never visible among the arguments of a program. */
function writeHash(name: string, password: string, root: string | null): void {
  const path = shadowFile(root);
  const today = String(Math.floor(Date.now() / 86_400_000));
  let found = false;
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => {
      const parts = line.split(':').slice(0, 9);
      if (parts[0] !== name) return line;
      found = true;
      while (parts.length < 9) parts.push('');
      return [name, password, today, ...parts.slice(3)].join(':');
    });
  if (!found) lines.splice(lines.at(-1) === '' ? -1 : lines.length, 0, `${name}:${password}:${today}::::::`);
  const { mode, uid, gid } = statSync(path);
  const draft = `${path}.halite`;
  writeFileSync(draft, lines.join('\n'), { mode: 0o600, flag: 'w' });
  chownSync(draft, uid, gid);
  chmodSync(draft, mode & 0o7777);
  renameSync(draft, path);
}

const prefixes: Readonly<Record<string, string>> = { sha512: '$6$', sha256: '$5$', md5: '$1$' };

const name = p.string({ doc: 'the user' });
const root = p.string({ default: null, doc: 'folder of another system' });
const age = (doc: string, param: string, key: string, option: string, check = true) =>
  fn({
    doc,
    examples: [`salt '*' shadow.set_${param} username 7`],
    params: { name, [param]: p.scalar({ nullable: true }), root },
    run(args, ctx) {
      const given = args as unknown as { name: string; root: string | null } & Record<string, Value>;
      return setAge(given.name, key, given[param] ?? null, option, given.root, check, ctx);
    },
  });

const isLocked = (user: PlainDict): boolean => pyStr(user['passwd'] ?? '').startsWith('!');
const locking = (lock: boolean, doc: string, example: string) =>
  fn({
    doc,
    examples: [`salt '*' shadow.${example} name`],
    params: { name, root },
    async run(args, ctx) {
      const before = info(args.name, args.root);
      if (!before['name']) return false;
      if (isLocked(before) === lock) return true;
      await askTool(ctx, 'passwd', [...rootOptions(args.root), lock ? '-l' : '-u', '--', args.name]);
      return isLocked(info(args.name, args.root)) === lock;
    },
  });

export default defineModule({
  name: 'linux_shadow',
  virtualName: 'shadow',
  doc: 'Passwords of users and their ages.',
  available: () => process.platform === 'linux' || 'shadow: only Linux is supported',
  reads: ['default_hash', 'info', 'list_users', 'gen_password'],
  functions: {
    default_hash: fn({
      doc: 'The hash of a user that has no password yet.',
      examples: ["salt '*' shadow.default_hash"],
      run: () => '!',
    }),
    info: fn({
      doc: 'Password and ages of a user; empty values when there is no such user.',
      examples: ["salt '*' shadow.info root"],
      params: { name, root },
      run: (args) => info(args.name, args.root),
    }),
    list_users: fn({
      doc: 'The names of all users that have an entry, sorted.',
      examples: ["salt '*' shadow.list_users"],
      params: { root },
      run: (args) =>
        rows(args.root)
          .map((row) => row[0] ?? '')
          .sort(compareText),
    }),
    gen_password: fn({
      doc: 'The hash of a clear-text password.',
      examples: ["salt '*' shadow.gen_password 'I_am_password'"],
      params: {
        password: p.string({ doc: 'clear text' }),
        crypt_salt: p.string({ default: null, doc: 'a random one when left out' }),
        algorithm: p.string({ default: 'sha512', doc: 'sha512, sha256 or md5' }),
      },
      run({ password, crypt_salt, algorithm }) {
        const prefix = Object.hasOwn(prefixes, algorithm) ? prefixes[algorithm] : undefined;
        const hash =
          prefix && cryptPassword(password, `${prefix}${crypt_salt ?? randomSalt(algorithm === 'md5' ? 8 : 16)}`);
        if (!hash) throw invocationError(`Algorithm '${algorithm}' is not natively supported by this platform`);
        return hash;
      },
    }),
    set_password: fn({
      doc: 'Sets the hash of a user’s password.',
      examples: [`salt '*' shadow.set_password root '$1$UYCIxa628.9qXjpQCjM4a..'`],
      params: {
        name,
        password: p.string({ doc: 'hash' }),
        use_usermod: p.isTrue({ default: false, doc: 'use the program usermod' }),
        root,
      },
      async run(args, ctx) {
        if (!userByName(args.name, args.root ?? '')) return false;
        if (/[:\n]/.test(args.password)) throw invocationError('A hash has no colon and no line end');
        if (args.use_usermod)
          await runTool(ctx, 'usermod', [...rootOptions(args.root), '-p', args.password, '--', args.name]);
        else writeHash(args.name, args.password, args.root);
        return info(args.name, args.root)['passwd'] === args.password;
      },
    }),
    del_password: fn({
      doc: 'Removes the password of a user: anybody can log in.',
      examples: ["salt '*' shadow.del_password username"],
      params: { name, root },
      async run(args, ctx) {
        await runTool(ctx, 'passwd', [...rootOptions(args.root), '-d', '--', args.name]);
        const now = info(args.name, args.root);
        return now['passwd'] === '' && now['name'] === args.name;
      },
    }),
    lock_password: locking(true, 'Locks the password of a user.', 'lock_password'),
    unlock_password: locking(false, 'Unlocks the password of a user.', 'unlock_password'),
    set_inactdays: age('Days after which an expired password locks the account.', 'inactdays', 'inact', '-I'),
    set_maxdays: age('Most days between changes of the password.', 'maxdays', 'max', '-M'),
    set_mindays: age('Least days between changes of the password.', 'mindays', 'min', '-m'),
    set_warndays: age('Days of warning before the password expires.', 'warndays', 'warn', '-W'),
    set_date: age('Day of the last change of the password.', 'date', 'lstchg', '-d', false),
    set_expire: age('Day the account ends.', 'expire', 'expire', '-E', false),
  },
});
