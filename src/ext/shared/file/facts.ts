// The present state of a path, read once and compared by numbers: owners and groups by id, modes by bits.

import type { StateContext, Value } from 'halite/sdk';
import { existsSync, lstatSync, readFileSync, type Stats, statSync } from 'halite/sdk/fs';
import { groupById, userById } from 'halite/sdk/system';
import { gidOf, uidOf } from './owner.ts';

/** A missing file is common, and an exception for it would cost more than the system call. */
const quiet = { throwIfNoEntry: false } as const;

const attempt = (read: () => Stats | undefined): Stats | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

export const lookAtLink = (path: string): Stats | undefined => attempt(() => lstatSync(path, quiet));
export const lookAt = (path: string): Stats | undefined => attempt(() => statSync(path, quiet));

/** Like os.path.exists: false for a broken link. */
export const exists = (path: string): boolean => existsSync(path);
export const lexists = (path: string): boolean => lookAtLink(path) !== undefined;
export const isLink = (path: string): boolean => lookAtLink(path)?.isSymbolicLink() ?? false;
export const isDir = (path: string): boolean => lookAt(path)?.isDirectory() ?? false;
export const isRegular = (path: string): boolean => lookAt(path)?.isFile() ?? false;

/** Permission bits as Salt writes them: `0644`. */
export const modeOf = (stats: Stats): string => (stats.mode & 0o7777).toString(8).padStart(4, '0');
/** Name of the owner, or the number when it has no name. */
export const ownerOf = (stats: Stats): Value => userById(stats.uid)?.name ?? stats.uid;
export const groupOf = (stats: Stats): Value => groupById(stats.gid)?.name ?? stats.gid;

/** Whether a path has the requested owner; true if none is requested. */
export const ownedBy = (stats: Stats, user: Value): boolean =>
  user === null || user === '' || uidOf(user) === stats.uid;
export const inGroup = (stats: Stats, group: Value): boolean =>
  group === null || group === '' || gidOf(group) === stats.gid;

/** The umask of this process; read from the kernel, because Node's function would briefly change it. */
export function currentUmask(): number {
  try {
    const found = /^Umask:\s*([0-7]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return found ? Number.parseInt(found, 8) : 0o022;
  } catch {
    return 0o022;
  }
}

/** Salt's check of names before any change; under test a missing user is only a warning. */
export function accountProblem(user: Value, group: Value, ctx: StateContext): string {
  let problem = '';
  if (user !== null && user !== '' && uidOf(user) === '') problem += `User ${String(user)} is not available `;
  if (group !== null && group !== '' && gidOf(group) === '') problem += `Group ${String(group)} is not available`;
  if (problem && ctx.test) {
    ctx.log.warn(problem);
    return '';
  }
  return problem;
}

/** The minion's user and its primary group: the default owners. */
export function defaultUser(ctx: StateContext): string {
  const configured = ctx.opts['user'];
  return typeof configured === 'string' && configured !== ''
    ? configured
    : (userById(process.getuid?.() ?? 0)?.name ?? 'root');
}

export function mainGroupOf(user: Value): Value {
  const uid = uidOf(user);
  const gid = uid === '' ? 0 : (userById(uid)?.gid ?? 0);
  return groupById(gid)?.name ?? gid;
}

/** `user`, or `owner` written by mistake. */
export function ownerArgument(user: Value, kwargs: Readonly<Record<string, Value>>, ctx: StateContext): Value {
  if (user !== null && user !== '') return user;
  if (kwargs['owner'] === undefined) return user;
  ctx.log.warn('Use of argument owner found, "owner" is invalid, please use "user"');
  return kwargs['owner'];
}

/** Python's expandvars: `$NAME` and `${NAME}` of the environment, unknown ones stay. */
export function expandVariables(path: string): string {
  return path.replace(/\$(?:(\w+)|\{([^}]*)\})/g, (whole, bare, braced) => process.env[bare ?? braced] ?? whole);
}
