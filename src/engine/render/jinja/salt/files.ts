// Salt's filters that read the file system of the machine on which the template is rendered.
import { createHash } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import { PyError, typeError, valueError } from '../errors.ts';
import { define, defineBound, type FunctionTable, tableOf } from '../runtime/define.ts';
import { truth } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import { asDouble, asInt } from '../runtime/number.ts';
import { str } from '../runtime/print.ts';
import { reprText } from '../runtime/text.ts';
import { classText, type PyValue, typeName } from '../runtime/value.ts';
import { algorithmOf } from './hashes.ts';

/** Python's message about a path of the wrong type, by the function that gets it first. */
const wrongPath = {
  text: (value: PyValue) => `expected str, bytes, or bytearray not ${classText(value)}`,
  open: (value: PyValue) => `expected str, bytes or os.PathLike object, not ${typeName(value)}`,
  stat: (value: PyValue) => `stat: path should be string, bytes, os.PathLike or integer, not ${typeName(value)}`,
};

function pathOf(value: PyValue, asked: keyof typeof wrongPath = 'text'): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  const text = textOf(value);
  if (text !== undefined) return text;
  const double = asDouble(value);
  // Salt refuses to open the descriptors of the standard streams.
  const isStream = asked !== 'text' && (double === 0 || double === 1 || double === 2);
  if (isStream && (asked === 'open' || asInt(value) !== undefined)) {
    throw typeError(`${str(value)} is not a permitted file descriptor`);
  }
  // Any other descriptor counts as a file that does not exist: templates have no open files.
  if (asked !== 'text' && asInt(value) !== undefined) return '';
  throw typeError(wrongPath[asked](value));
}

function firstBytes(path: string, count: number): Buffer | undefined {
  let handle: number | undefined;
  try {
    if (!statSync(path).isFile()) return undefined;
    handle = openSync(path, 'r');
    const block = Buffer.alloc(count);
    return block.subarray(0, readSync(handle, block, 0, count, 0));
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** NUL bytes, or more than three in ten bytes that are not text. */
function looksBinary(block: Buffer): boolean {
  if (block.length === 0) return false;
  if (block.includes(0)) return true;
  let odd = 0;
  for (const byte of block) {
    const text = (byte >= 32 && byte < 127) || byte === 8 || byte === 9 || byte === 10 || byte === 12 || byte === 13;
    if (!text) odd += 1;
  }
  return odd / block.length > 0.3;
}

function isEmpty(value: PyValue): boolean {
  if (asInt(value) !== undefined) return false;
  const path = pathOf(value, 'stat');
  try {
    return statSync(path).size === 0;
  } catch {
    return false;
  }
}

function fileHash(path: PyValue, form: PyValue): string {
  const algorithm = algorithmOf(str(form));
  if (algorithm === undefined) throw valueError(`Invalid hash type: ${str(form)}`);
  const name = pathOf(path, 'open');
  try {
    return createHash(algorithm).update(readFileSync(name)).digest('hex');
  } catch {
    throw new PyError('FileNotFoundError', `[Errno 2] No such file or directory: ${reprText(name)}`);
  }
}

/** Every path below a directory, itself included. */
function listFiles(directory: string, limit = 100_000): string[] {
  const out = [directory];
  for (let at = 0; at < out.length && out.length < limit; at += 1) {
    const here = out[at]!;
    try {
      if (at > 0 && !statSync(here).isDirectory()) continue;
      // A link to a parent folder would be endless; its target is already in the list with another name.
      if (at > 0 && realpathSync(here).length < realpathSync(directory).length) continue;
      for (const name of readdirSync(here)) out.push(join(here, name));
    } catch {
      // Unreadable directories are skipped, as os.walk does.
    }
  }
  return out;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function which(program: PyValue): PyValue {
  if (!truth(program)) return null;
  const name = pathOf(program);
  if (isExecutable(name)) return name;
  const folders = (process.env['PATH'] ?? '').split(':');
  for (const usual of ['/sbin', '/bin', '/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']) {
    if (!folders.includes(usual)) folders.push(usual);
  }
  for (const folder of folders) {
    const path = joinPaths([folder, name]);
    if (isExecutable(path)) return path;
  }
  return null;
}

const stripSlashes = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') || '/' : path);

/** Python's normpath: no trailing slash, and two leading slashes stay. */
function normalize(path: string): string {
  if (path === '') return '.';
  const normal = stripSlashes(posix.normalize(path));
  return /^\/\/(?!\/)/.test(path) && normal.startsWith('/') && !normal.startsWith('//') ? `/${normal}` : normal;
}

/** Joins parts; later absolute parts are made relative. */
function joinPaths(parts: readonly string[]): string {
  const [root, ...rest] = parts.map(normalize);
  if (root === undefined) return '';
  let path = root;
  for (const part of rest.map((item) => item.replace(/^\/+/, '')))
    path = path === '' || path.endsWith('/') ? path + part : `${path}/${part}`;
  return normalize(path);
}

function uid(user: PyValue): PyValue {
  if (user === null) return process.geteuid?.() ?? null;
  const name = textOf(user);
  if (name === undefined) throw typeError(`getpwnam() argument must be str, not ${typeName(user)}`);
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => name !== '' && entry.split(':')[0] === name);
    return line === undefined ? null : Number(line.split(':')[2]);
  } catch {
    return null;
  }
}

export const fileFilters: FunctionTable = tableOf({
  is_empty: define('is_empty', 'filename', (_rt, path) => isEmpty(path!)),
  is_text_file: define('is_text', 'fp_, blocksize=512', (_rt, path) => {
    const block = firstBytes(pathOf(path!, 'open'), 512);
    return block !== undefined && !looksBinary(block);
  }),
  is_bin_file: define('is_binary', 'path', (_rt, path) => {
    const block = firstBytes(pathOf(path!, 'stat'), 2048);
    return block !== undefined && looksBinary(block);
  }),
  list_files: define('list_files', 'directory', (_rt, directory) => listFiles(pathOf(directory!))),
  file_hashsum: define('get_hash', "path, form='sha256', chunk_size=65536", (_rt, path, form) =>
    fileHash(path!, form!),
  ),
  which: define('which', 'exe=None', (_rt, program) => which(program!)),
  get_uid: define('get_uid', 'user=None', (_rt, user) => uid(user!)),
  path_join: defineBound('join', '*parts, **kwargs', (_rt, { rest }) => joinPaths(rest.map((part) => pathOf(part)))),
});
