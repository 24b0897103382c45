// Functions of `ssh` for known hosts.

import { dirname, join } from 'node:path';
import { commandError, fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  isDirectory,
  isFile,
  mkdirSync,
  osText,
  readFileSync,
  statSync,
  writeFileSync,
} from 'halite/sdk/fs';
import { askTool, requireBinary, runTool, userByName } from 'halite/sdk/system';
import { type HostKey, hostKeys } from '../../shared/ssh/keys.ts';

const problem = (error: string): PlainDict =>
  newDict([
    ['status', 'error'],
    ['error', error],
  ]);

/** The file of a user or of the system; an error when it is unknown. */
function fileFor(config: string | null, user: string | null): string | PlainDict {
  const path = config || (user ? '.ssh/known_hosts' : '/etc/ssh/ssh_known_hosts');
  if (path.startsWith('/')) return path;
  if (!user) return problem('Cannot determine absolute path to file.');
  const home = userByName(user)?.home;
  return home === undefined ? problem(`User ${user} does not exist`) : join(home, path);
}

const hostName = (host: string, port: Value): string =>
  port === null || port === 22 || port === '22' ? host : `[${host}]:${pyStr(port)}`;
const hostKeyDict = (entry: HostKey): PlainDict =>
  newDict(Object.entries(entry).filter(([, value]) => value !== undefined) as [string, string][]);

interface Place {
  readonly user: string | null;
  readonly hostname: string | null;
  readonly config: string | null;
  readonly port: Value;
  readonly hashType: string | null;
}

async function entries(place: Place, ctx: ModuleContext): Promise<HostKey[] | PlainDict> {
  const path = fileFor(place.config, place.user);
  if (typeof path !== 'string') return path;
  if (!isFile(path)) return [];
  const { stdout } = await askTool(ctx, 'ssh-keygen', ['-F', hostName(place.hostname ?? '', place.port), '-f', path]);
  return hostKeys(stdout, place.hashType);
}

interface Scan {
  readonly enc: string | null;
  readonly hash: boolean;
  readonly timeout: Value;
}

/** Scans a host for its keys; several times, because a host may be busy. */
async function receive(place: Place, scan: Scan, ctx: ModuleContext): Promise<HostKey[]> {
  const options = [
    ...(place.port ? ['-p', pyStr(place.port)] : []),
    ...(scan.enc ? ['-t', scan.enc] : []),
    ...(scan.hash ? ['-H'] : []),
    '-T',
    pyStr(scan.timeout),
  ];
  for (let attempt = 0; attempt < 5; attempt++) {
    const { stdout } = await runTool(ctx, requireBinary('ssh-keyscan'), [...options, '--', place.hostname ?? '']);
    if (stdout.trim() !== '') return hostKeys(stdout, place.hashType);
  }
  return [];
}

/** Removes old lines of a host from the file, on request only for one kind of key. */
async function dropOld(path: string, place: Place, enc: string | null, ctx: ModuleContext): Promise<void> {
  const { stdout } = await askTool(ctx, 'ssh-keygen', ['-F', hostName(place.hostname ?? '', place.port), '-f', path]);
  const found = [...stdout.matchAll(/^# Host .* found: line (\d+).*\n(.*)$/gm)];
  const wrong = new Set(
    found
      .filter((match) => enc === null || (match[2] ?? '').trim().split(/\s+/).at(-2) === enc)
      .map((match) => Number(match[1])),
  );
  if (wrong.size === 0) return;
  const rows = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, rows.filter((_, at) => !wrong.has(at + 1)).join('\n'));
}

function append(path: string, lines: string, user: string | null): void {
  const account = user ? userByName(user) : undefined;
  const mode = isFile(path) ? statSync(path).mode & 0o7777 : undefined;
  try {
    if (!isDirectory(dirname(path))) {
      mkdirSync(dirname(path), { recursive: true });
      if (account) {
        chownSync(dirname(path), account.uid, account.gid);
        chmodSync(dirname(path), 0o700);
      }
    }
    appendFileSync(path, lines);
  } catch (error) {
    throw commandError(`Couldn't append to known hosts file: '${osText(error, path)}'`);
  }
  if (account && process.getuid?.() === 0) chownSync(path, account.uid, account.gid);
  chmodSync(path, mode ?? (user ? 0o600 : 0o644));
}

interface SetRequest extends Place, Scan {
  readonly fingerprint: string | null;
  readonly key: string | null;
}

async function setHost(request: SetRequest, ctx: ModuleContext): Promise<PlainDict> {
  const { key, enc, fingerprint, port, user } = request;
  if (!request.hostname) return problem('hostname argument required');
  if (port !== null && port !== 22 && request.hash)
    return problem('argument port can not be used in conjunction with argument hash_known_hosts');
  const stored = await entries(request, ctx);
  if (!Array.isArray(stored)) return stored;
  const storedKeys = stored.filter((item) => enc === null || item.enc === enc).map((item) => item.key);
  const exists = newDict([
    ['status', 'exists'],
    ['keys', storedKeys],
  ]);
  const update =
    stored.length === 0 ||
    (fingerprint !== null && !stored.some((item) => item.fingerprint === fingerprint)) ||
    (key !== null && !storedKeys.includes(key));
  const compare = !update && key === null && fingerprint === null;
  if (!update && !compare) return exists;
  let remote: HostKey[] =
    key === null ? await receive(request, request, ctx) : [{ hostname: request.hostname, enc: enc ?? '', key }];
  if (key === null) {
    if (remote.length === 0) return problem('Unable to receive remote host keys');
    if (fingerprint !== null && !remote.some((item) => item.fingerprint === fingerprint)) {
      return problem('Remote host public keys found but none of their fingerprints match the one you have provided');
    }
    if (compare && remote.length === storedKeys.length && remote.every((item) => storedKeys.includes(item.key)))
      return exists;
  }
  const path = fileFor(request.config, user);
  if (typeof path !== 'string') return path;
  if (isFile(path)) await dropOld(path, request, enc, ctx);
  const plainPort = request.hash || port === null || port === 22;
  append(
    path,
    remote
      .map(
        (item) =>
          `${plainPort || item.hostname.includes(':') ? item.hostname : `[${item.hostname}]:${pyStr(port)}`} ${item.enc} ${item.key}\n`,
      )
      .join(''),
    user,
  );
  if (key !== null && request.hash) await askTool(ctx, 'ssh-keygen', ['-Hf', path]);
  if (key !== null) remote = remote.map(({ hostname, enc: kind, key: text }) => ({ hostname, enc: kind, key: text }));
  return newDict([
    ['status', 'updated'],
    ['old', stored.length > 0 ? stored.map(hostKeyDict) : null],
    ['new', remote.map((item) => saved(item, request, plainPort))],
  ]);
}

/** An entry in the form of the request: with the port if the line has it, and without a kind if none was given. */
function saved(item: HostKey, { key, enc, port }: SetRequest, plainPort: boolean): PlainDict {
  const dict = hostKeyDict(item);
  if (key !== null && enc === null) dict['enc'] = null;
  if (!plainPort && !item.hostname.includes(':')) dict['port'] = port;
  return dict;
}

const user = p.string({ default: null, doc: 'whose file; the one of the system when left out' });
const config = p.string({ default: null, doc: 'the file' });
const port = p.oneOf(['int', 'string'], { default: null });
const hash = p.string({ default: null, doc: 'hash of fingerprints: sha256 or md5' });

export const knownHostFunctions = {
  get_known_host_entries: fn({
    doc: 'The known keys of a host, or None.',
    examples: ["salt '*' ssh.get_known_host_entries <user> <hostname>"],
    params: {
      user: p.string({ default: null }),
      hostname: p.string({ default: null }),
      config,
      port,
      fingerprint_hash_type: hash,
    },
    async run(args, ctx): Promise<Value> {
      const found = await entries({ ...args, hashType: args.fingerprint_hash_type }, ctx);
      return Array.isArray(found) ? (found.length > 0 ? found.map(hostKeyDict) : null) : found;
    },
  }),
  recv_known_host_entries: fn({
    doc: 'Scans a host for its keys.',
    examples: ["salt '*' ssh.recv_known_host_entries <hostname> enc=<enc> port=<port>"],
    params: {
      hostname: p.string(),
      enc: p.string({ default: null }),
      port,
      hash_known_hosts: p.bool({ default: true }),
      timeout: p.oneOf(['int', 'float', 'string'], { default: 5 }),
      fingerprint_hash_type: hash,
    },
    async run(args, ctx): Promise<Value> {
      const place = {
        user: null,
        config: null,
        hostname: args.hostname,
        port: args.port,
        hashType: args.fingerprint_hash_type,
      };
      const found = await receive(place, { enc: args.enc, hash: args.hash_known_hosts, timeout: args.timeout }, ctx);
      return found.length > 0 ? found.map(hostKeyDict) : null;
    },
  }),
  check_known_host: fn({
    doc: 'Whether a host is known: exists, add or update.',
    examples: ["salt '*' ssh.check_known_host <user> <hostname> key='AAAA...FAaQ=='"],
    params: {
      user,
      hostname: p.string({ default: null }),
      key: p.string({ default: null }),
      fingerprint: p.string({ default: null }),
      config,
      port,
      fingerprint_hash_type: hash,
    },
    async run(args, ctx): Promise<Value> {
      if (!args.hostname) return problem('hostname argument required');
      const found = await entries({ ...args, hashType: args.fingerprint_hash_type }, ctx);
      if (!Array.isArray(found)) return found;
      if (found.length === 0) return 'add';
      if (args.key) return found.some((item) => item.key === args.key) ? 'exists' : 'update';
      if (args.fingerprint) return found.some((item) => item.fingerprint === args.fingerprint) ? 'exists' : 'update';
      return 'exists';
    },
  }),
  rm_known_host: fn({
    doc: 'Removes a known host.',
    examples: ["salt '*' ssh.rm_known_host <user> <hostname>"],
    params: { user, hostname: p.string({ default: null }), config, port },
    async run(args, ctx): Promise<Value> {
      if (!args.hostname) return problem('hostname argument required');
      const path = fileFor(args.config, args.user);
      if (typeof path !== 'string') return path;
      if (!isFile(path)) return problem(`Known hosts file ${path} does not exist`);
      const { stdout, stderr } = await askTool(ctx, 'ssh-keygen', [
        '-R',
        hostName(args.hostname, args.port),
        '-f',
        path,
      ]);
      const account = args.user ? userByName(args.user) : undefined;
      if (account && process.getuid?.() === 0) chownSync(path, account.uid, account.gid);
      return newDict([
        ['status', 'removed'],
        ['comment', (stdout + stderr).trim()],
      ]);
    },
  }),
  set_known_host: fn({
    doc: 'Adds a known host, with a given key, a fingerprint to check, or the scanned key.',
    examples: ["salt '*' ssh.set_known_host <user> fingerprint='xx:xx:..:xx' enc='ssh-rsa'"],
    params: {
      user,
      hostname: p.string({ default: null }),
      fingerprint: p.string({ default: null }),
      key: p.string({ default: null }),
      port,
      enc: p.string({ default: null }),
      config,
      hash_known_hosts: p.bool({ default: true }),
      timeout: p.oneOf(['int', 'float', 'string'], { default: 5 }),
      fingerprint_hash_type: hash,
    },
    run: (args, ctx) => setHost({ ...args, hash: args.hash_known_hosts, hashType: args.fingerprint_hash_type }, ctx),
  }),
  hash_known_hosts: fn({
    doc: 'Hashes the names of known hosts.',
    examples: ["salt '*' ssh.hash_known_hosts"],
    params: { user, config },
    async run(args, ctx): Promise<Value> {
      const path = fileFor(args.config, args.user);
      if (typeof path !== 'string') return path;
      if (!isFile(path)) return problem(`Known hosts file ${path} does not exist`);
      const { stdout, stderr } = await askTool(ctx, 'ssh-keygen', ['-Hf', path]);
      return newDict([
        ['status', 'updated'],
        ['comment', (stdout + stderr).trim()],
      ]);
    },
  }),
};
