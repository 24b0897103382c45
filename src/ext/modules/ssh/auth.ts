// Functions of `ssh` for authorized keys.

import { dirname, join } from 'node:path';
import { commandError, fn, type ModuleContext, newDict, p, pyStr, type Value } from 'halite/sdk';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  isDirectory,
  isFile,
  mkdirSync,
  osText,
  readFileSync,
  writeFileSync,
} from 'halite/sdk/fs';
import { allUsers, type User, userByName } from 'halite/sdk/system';
import { words } from 'halite/sdk/text';
import { type AuthKey, authLine, fingerprint, keyDict, keyLine, kindOf, readKeys } from '../../shared/ssh/keys.ts';

/** `%h/.ssh/keys` for a user. */
function configFile(user: User, config: string): string {
  const path = config.replace(/%(.?)/g, (_, sign: string) => {
    if (sign === '') throw commandError("AuthorizedKeysFile path: Last character can't be escape character");
    const meaning: Readonly<Record<string, string>> = { '%': '%', u: user.name, h: user.home };
    if (!Object.hasOwn(meaning, sign))
      throw commandError(`AuthorizedKeysFile path: unknown token character "%${sign}"`);
    return meaning[sign] as string;
  });
  return path.startsWith('/') ? path : join(user.home, path);
}

function requireUser(name: string): User {
  const user = userByName(name);
  if (!user) throw commandError(`User '${name}' does not exist`);
  return user;
}

function keysOf(name: string, config: string, hashType: string | null): Map<string, AuthKey> {
  const user = userByName(name);
  const path = user && configFile(user, config);
  return path && isFile(path) ? readKeys(path, hashType) : new Map();
}

interface Request {
  readonly user: string;
  readonly key: string;
  readonly enc: string;
  readonly comment: string;
  readonly options: readonly string[];
  readonly config: string;
  readonly hashType: string | null;
}

function check(request: Request): 'add' | 'update' | 'exists' {
  const now = keysOf(request.user, request.config, request.hashType).get(request.key);
  if (!now) return 'add';
  const wanted = authLine(request.key, kindOf(request.enc), request.comment, request.options);
  return authLine(request.key, now.enc, now.comment, now.options) === wanted ? 'exists' : 'update';
}

/** Maps all non-empty lines; the callback changes lines with the key, and undefined drops a line. */
function editLines(path: string, key: string, now: string | undefined): void {
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((raw) => {
      const line = raw.trim();
      if (line === '') return [];
      const parts = line.startsWith('#') ? [] : words(keyLine.exec(line)?.[2] ?? '');
      if (parts[1] !== key) return [line];
      return now === undefined ? [] : [now.trimEnd()];
    });
  writeFileSync(path, rows.map((line) => `${line}\n`).join(''));
}

function own(path: string, user: User, mode: number): void {
  if (process.getuid?.() === 0) chownSync(path, user.uid, user.gid);
  chmodSync(path, mode);
}

/** `new`, `replace`, `no change`, or an error. */
function set(request: Request): string {
  if (words(request.key).length > 1) return 'invalid';
  const enc = kindOf(request.enc);
  const user = userByName(request.user);
  if (!user) return 'fail';
  if (fingerprint(request.key, request.hashType) === undefined) return 'Invalid public key';
  const status = check(request);
  const line = authLine(request.key, enc, request.comment, request.options);
  const path = configFile(user, request.config);
  if (status === 'exists') return 'no change';
  try {
    if (status === 'update') {
      editLines(path, request.key, line);
      return 'replace';
    }
    if (path.startsWith(user.home) && !isDirectory(user.home)) return 'fail';
    if (!isDirectory(dirname(path))) {
      mkdirSync(dirname(path), { recursive: true });
      own(dirname(path), user, 0o700);
    }
    const isNew = !existsSync(path);
    const gap = !isNew && !/(^|\n)$/.test(readFileSync(path, 'utf8')) ? '\n' : '';
    appendFileSync(path, gap + line, { mode: 0o600 });
    if (isNew) own(path, user, 0o600);
  } catch (error) {
    throw commandError(`Could not write to key file: ${osText(error, path)}`);
  }
  return 'new';
}

function remove(name: string, key: string, config: string, hashType: string | null): string {
  if (!keysOf(name, config, hashType).has(key)) return 'Key not present';
  const path = configFile(requireUser(name), config);
  try {
    editLines(path, key, undefined);
    return 'Key removed';
  } catch {
    return 'Key not removed';
  }
}

/** Keys in a file of the file server; a message for the state when there are none. */
async function sourceKeys(
  source: string,
  saltenv: string,
  hashType: string | null,
  ctx: ModuleContext,
): Promise<Map<string, AuthKey>> {
  const path = await ctx.files.cacheFile(source, { saltenv });
  if (!path || !isFile(path)) throw commandError('Failed to pull key file from salt file server');
  const keys = readKeys(path, hashType);
  if (keys.size === 0) ctx.cache.set('ssh_auth.error', `No keys detected in ${source}. Is file properly formatted?`);
  return keys;
}

const user = p.string({ doc: 'whose keys' });
const config = p.string({ default: '.ssh/authorized_keys', doc: 'the file; %h is the home, %u the user' });
const hash = p.string({ default: null, doc: 'hash of fingerprints: sha256 or md5' });
const saltenv = p.string({ default: 'base' });
const source = p.string({ doc: 'file with keys' });
const texts = (value: Value): string[] =>
  Array.isArray(value) ? value.map(pyStr) : value ? pyStr(value).split(',') : [];

export const authFunctions = {
  auth_keys: fn({
    doc: 'The authorized keys of a user.',
    examples: ["salt '*' ssh.auth_keys root", "salt '*' ssh.auth_keys user='[user1, user2]'"],
    params: {
      user: p.oneOf(['string', 'list'], {
        default: null,
        falsy: null,
        doc: 'user, or list of users; all when left out',
      }),
      config,
      fingerprint_hash_type: hash,
    },
    run(args) {
      const dict = (name: string) =>
        newDict(
          [...keysOf(name, args.config, args.fingerprint_hash_type)].map(([key, about]) => [key, keyDict(about)]),
        );
      if (args.user && !Array.isArray(args.user)) return dict(args.user);
      const names = Array.isArray(args.user) ? args.user.map(pyStr) : allUsers().map((item) => item.name);
      const there = names.filter((name) => isFile(configFile(userByName(name) ?? requireUser(name), args.config)));
      return newDict(there.map((name) => [name, dict(name)]));
    },
  }),
  check_key: fn({
    doc: 'Whether a key is to be added, updated, or exists.',
    examples: [`salt '*' ssh.check_key <user> <key> <enc> <comment> <options>`],
    params: {
      user,
      key: p.string(),
      enc: p.string(),
      comment: p.string(),
      options: p.oneOf(['list', 'string'], { falsy: null }),
      config,
      cache_keys: p.ignored({ default: null }),
      fingerprint_hash_type: hash,
    },
    run: (args) => check({ ...args, options: texts(args.options), hashType: args.fingerprint_hash_type }),
  }),
  check_key_file: fn({
    doc: 'The same for every key of a file.',
    examples: [`salt '*' ssh.check_key_file root salt://ssh/keyfile`],
    params: { user, source, config, saltenv, fingerprint_hash_type: hash },
    async run(args, ctx) {
      const path = await ctx.files.cacheFile(args.source, { saltenv: args.saltenv });
      if (!path) return newDict();
      const keys = await sourceKeys(args.source, args.saltenv, args.fingerprint_hash_type, ctx);
      return newDict(
        [...keys].map(([key, about]) => [
          key,
          check({ ...about, user: args.user, key, config: args.config, hashType: args.fingerprint_hash_type }),
        ]),
      );
    },
  }),
  set_auth_key: fn({
    doc: 'Adds an authorized key of a user.',
    examples: ["salt '*' ssh.set_auth_key <user> '<key>' enc='dsa'"],
    params: {
      user,
      key: p.string(),
      enc: p.string({ default: 'ssh-rsa' }),
      comment: p.string({ default: '' }),
      options: p.oneOf(['list', 'string'], { default: null, falsy: null }),
      config,
      cache_keys: p.ignored({ default: null }),
      fingerprint_hash_type: hash,
    },
    run: (args) => set({ ...args, options: texts(args.options), hashType: args.fingerprint_hash_type }),
  }),
  set_auth_key_from_file: fn({
    doc: 'Adds all keys of a file to the authorized keys of a user.',
    examples: ["salt '*' ssh.set_auth_key_from_file <user> salt://ssh_keys/<user>.id_rsa.pub"],
    params: { user, source, config, saltenv, fingerprint_hash_type: hash, kwargs: p.kwargs({ doc: 'options' }) },
    async run(args, ctx) {
      const keys = await sourceKeys(args.source, args.saltenv, args.fingerprint_hash_type, ctx);
      if (keys.size === 0) return 'fail';
      const given = texts(args.kwargs['options'] ?? null);
      const done = [...keys].map(([key, about]) =>
        set({
          ...about,
          user: args.user,
          key,
          options: given.length > 0 ? given : about.options,
          config: args.config,
          hashType: args.fingerprint_hash_type,
        }),
      );
      return ['fail', 'replace', 'new'].find((word) => done.includes(word)) ?? 'no change';
    },
  }),
  rm_auth_key: fn({
    doc: 'Removes an authorized key of a user.',
    examples: ["salt '*' ssh.rm_auth_key <user> <key>"],
    params: { user, key: p.string(), config, fingerprint_hash_type: hash },
    run: (args) => remove(args.user, args.key, args.config, args.fingerprint_hash_type),
  }),
  rm_auth_key_from_file: fn({
    doc: 'Removes all keys of a file from the authorized keys of a user.',
    examples: ["salt '*' ssh.rm_auth_key_from_file <user> salt://ssh_keys/<user>.id_rsa.pub"],
    params: { user, source, config, saltenv, fingerprint_hash_type: hash },
    async run(args, ctx) {
      const keys = await sourceKeys(args.source, args.saltenv, args.fingerprint_hash_type, ctx);
      if (keys.size === 0) return 'fail';
      const done = [...keys.keys()].map((key) => remove(args.user, key, args.config, args.fingerprint_hash_type));
      return ['Key not removed', 'Key removed'].find((word) => done.includes(word)) ?? 'Key not present';
    },
  }),
};
