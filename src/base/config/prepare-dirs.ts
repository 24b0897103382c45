// Creates the folders that a daemon needs, with owner and modes, before it drops its privileges.
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { HaliteError } from '../errors/index.ts';
import { isFolder } from '../util/fs-facts.ts';
import { type Account, findAccount, groupIdsOf } from './accounts.ts';
import { joinPath } from './paths.ts';
import { isPlainPath } from './root-dir.ts';

/** The options used here; both master and minion options have them. */
export interface DirsOpts {
  readonly __role: string;
  readonly user: string;
  readonly verify_env: boolean;
  readonly permissive_pki_access: boolean;
  readonly pki_dir: string;
  readonly cachedir: string;
  readonly sock_dir: string;
  readonly extension_modules: string;
  readonly conf_file: string;
  readonly default_include: string;
  readonly log_file: string | null;
  readonly token_dir?: string;
  readonly syndic_dir?: string;
  readonly sqlite_queue_dir?: string;
}

export interface DirsReport {
  readonly created: readonly string[];
  /** Permissions that could not be made safe, for the log at level critical. */
  readonly warnings: readonly string[];
}

const keyFolders = ['minions', 'minions_pre', 'minions_denied', 'minions_autosign', 'minions_rejected'];
const folderMode = 0o755;
const secretMode = 0o700;
const logFolderMode = 0o750;
const logMode = 0o640;

/** The folders of a daemon, parents first. */
function neededDirs(opts: DirsOpts): string[] {
  const { pki_dir: pki, cachedir: cache } = opts;
  const shared = [pki, cache, joinPath(cache, 'proc'), opts.sock_dir];
  if (opts.__role !== 'master') return [...shared, opts.extension_modules, includeDir(opts)];
  const keys = keyFolders.map((name) => joinPath(pki, name));
  const own = [opts.token_dir, opts.syndic_dir, opts.sqlite_queue_dir].filter((dir): dir is string => Boolean(dir));
  return [...shared, ...keys, joinPath(cache, 'jobs'), ...own];
}

function includeDir(opts: DirsOpts): string {
  const given = opts.default_include || 'minion.d';
  const folder = given.includes('*') ? dirname(given) : given;
  return isAbsolute(folder) ? folder : joinPath(dirname(opts.conf_file), folder);
}

/** Throws HaliteError when the user does not exist or a folder cannot be made. With `verify_env: false` nothing is done. */
export function prepareDirs(opts: DirsOpts): DirsReport {
  const created: string[] = [];
  const warnings: string[] = [];
  if (!opts.verify_env) return { created, warnings };
  const owner = ownerOf(opts.user);
  for (const dir of neededDirs(opts)) {
    if (makeFolder(dir, dir === opts.pki_dir ? secretMode : folderMode)) created.push(dir);
    if (process.geteuid?.() === 0) giveAway(dir, owner, opts.permissive_pki_access);
  }
  if (!guardKeys(opts.pki_dir)) warnings.push(`Unable to securely set the permissions of "${opts.pki_dir}".`);
  if (opts.log_file && isPlainPath(opts.log_file)) prepareLogFile(opts.log_file, owner);
  return { created, warnings };
}

/** What a syndic reads and writes in the key folder of the minion of its machine. */
const syndicKey = /^(minion\.(pem|pub)|syndic_master.*)$/;

/**
 * For a syndic, which has the key of the minion and the cache of the master of its machine. As in Salt the key folder becomes
 * that of its user, and unlike there the keys of root too: it could not read them. A minion that runs as root still can;
 * keys of any other user stay theirs.
 */
export function prepareSyndicDirs(opts: DirsOpts): DirsReport {
  const { pki_dir: pki, cachedir: cache } = opts;
  if (!opts.verify_env) return prepareLog(opts);
  const owner = ownerOf(opts.user);
  const created = [pki, cache].filter((dir) => makeFolder(dir, dir === pki ? secretMode : folderMode));
  if (process.geteuid?.() === 0 && owner.uid !== 0) {
    giveAway(pki, owner, opts.permissive_pki_access);
    for (const path of readdirSync(pki)
      .filter((name) => syndicKey.test(name))
      .map((name) => joinPath(pki, name))) {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found?.isFile() && found.uid === 0) lchownSync(path, owner.uid, owner.gid);
    }
    // The master was not started yet: it gives the rest of its cache to the same user.
    if (created.includes(cache)) chownSync(cache, owner.uid, owner.gid);
  }
  const warnings = guardKeys(pki) ? [] : [`Unable to securely set the permissions of "${pki}".`];
  prepareLog(opts);
  return { created, warnings };
}

/** For a daemon that uses the folders of another one: only its log file. */
export function prepareLog(opts: DirsOpts): DirsReport {
  if (opts.verify_env && opts.log_file && isPlainPath(opts.log_file)) prepareLogFile(opts.log_file, ownerOf(opts.user));
  return { created: [], warnings: [] };
}

function ownerOf(user: string): Account {
  const account = findAccount(user);
  if (account) return account;
  throw new HaliteError(
    'config.value',
    `Failed to prepare the Salt environment for user ${user}. The user is not available.`,
    { hint: "Create the user or change the option 'user'.", details: { option: 'user', exitCode: 67 } },
  );
}

function makeFolder(dir: string, mode: number): boolean {
  if (isFolder(dir)) return false;
  try {
    // Sets the mode explicitly: the umask of the caller must not determine who has access.
    mkdirSync(dir, { recursive: true, mode: folderMode });
    chmodSync(dir, mode);
    return true;
  } catch (cause) {
    throw new HaliteError('config.value', `Failed to create directory path "${dir}" - ${String(cause)}`, {
      hint: 'Start the daemon as root, or point the option at a folder you may write to.',
      details: { path: dir, exitCode: Math.abs((cause as NodeJS.ErrnoException).errno ?? 1) },
      cause,
    });
  }
}

/** Salt: the folder and what is below it belong to the daemon's user, job data excepted. */
function giveAway(dir: string, owner: Account, permissive: boolean): void {
  const groups = permissive ? groupIdsOf(owner.name) : [];
  const wrong = (found: Stats): boolean =>
    (found.uid !== owner.uid || found.gid !== owner.gid) && !groups.includes(found.gid);
  if (wrong(statSync(dir))) chownSync(dir, owner.uid, owner.gid);
  // Root reads everything anyway; walking a large cache would only delay the start.
  if (owner.uid === 0) return;
  for (const name of readdirSync(dir)) if (!name.includes('jobs')) walk(joinPath(dir, name), owner, wrong);
}

/**
 * Changes the owner of links themselves and never follows them, so that nobody can become the owner of files elsewhere.
 */
function walk(path: string, owner: Account, wrong: (found: Stats) => boolean): void {
  let entries: string[];
  try {
    if (!lstatSync(path).isDirectory()) return;
    entries = readdirSync(path);
  } catch {
    return;
  }
  for (const name of entries) {
    if (name.startsWith('.')) continue;
    const inner = joinPath(path, name);
    try {
      const found = lstatSync(inner);
      if (wrong(found)) lchownSync(inner, owner.uid, owner.gid);
      if (found.isDirectory()) walk(inner, owner, wrong);
    } catch {
      // The file may be deleted in the meantime.
    }
  }
}

/** Modes 700 and 750 are accepted, 750 for programs that read keys; any other mode becomes 700. */
function guardKeys(dir: string): boolean {
  const mode = statSync(dir).mode & 0o7777;
  if (mode === 0o700 || mode === 0o750) return true;
  try {
    accessSync(dir, constants.W_OK);
    chmodSync(dir, secretMode);
    return true;
  } catch {
    return false;
  }
}

function prepareLogFile(path: string, owner: Account): void {
  const folder = dirname(path);
  try {
    if (mkdirSync(folder, { recursive: true, mode: logFolderMode })) chmodSync(folder, logFolderMode);
    closeSync(openSync(path, 'a', logMode));
    if (process.geteuid?.() === 0 && statSync(path).uid !== owner.uid) chownSync(path, owner.uid, -1);
  } catch (cause) {
    const inFile =
      (cause as NodeJS.ErrnoException).code === 'ENOTDIR' || (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const message = inFile
      ? `Failed to create path ${path}, is ${folder} a file?`
      : `No permissions to access "${path}", are you running as the correct user?`;
    throw new HaliteError('config.value', message, { details: { option: 'log_file', path }, cause });
  }
}
