// Owners, groups and modes of files.
import { userInfo } from 'node:os';
import { commandError, pyStr, type Value } from 'halite/sdk';
import { chmodSync, chownSync, lchownSync, osError, pathExists } from 'halite/sdk/fs';
import { groupByName, userByName } from 'halite/sdk/system';
import { fileStats } from './stats.ts';

/** The id of a user: numbers are unchanged, None is the minion's own user, unknown names give ''. */
export function uidOf(user: Value): number | '' {
  if (typeof user === 'number') return user;
  if (user === null) return userInfo().uid;
  return userByName(pyStr(user))?.uid ?? '';
}

export function gidOf(group: Value): number | '' {
  if (typeof group === 'number') return group;
  if (group === null) return '';
  return groupByName(pyStr(group))?.gid ?? '';
}

/** Changes owner and group; None and '' mean no change. Returns None, or an error text. */
export function changeOwner(path: string, user: Value, group: Value, link = false): string | null {
  let uid = uidOf(user);
  let gid = gidOf(group);
  let problem = '';
  if (uid === '') {
    if (user) problem += 'User does not exist\n';
    uid = -1;
  }
  if (gid === '') {
    if (group) problem += 'Group does not exist\n';
    gid = -1;
  }
  try {
    if (link || !pathExists(path)) lchownSync(path, uid, gid);
    else if (problem === '') chownSync(path, uid, gid);
    else return problem;
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !link) return `${problem}File not found`;
    throw osError(error, path);
  }
}

/** Sets permission bits of an existing file; returns a text on failure. */
export function setMode(path: string, mode: Value): string | undefined {
  const digits = pyStr(mode).replace(/^[0Oo]+/, '') || '0';
  if (!/^[0-7]+$/.test(digits)) return `Invalid Mode ${digits}`;
  try {
    chmodSync(path, Number.parseInt(digits, 8));
    return undefined;
  } catch {
    return `Invalid Mode ${digits}`;
  }
}

/** Sets permission bits; returns the new mode, or a text when the mode is invalid. */
export function changeMode(path: string, mode: Value): string {
  if (!pathExists(path)) throw commandError(`${path}: File not found`);
  return setMode(path, mode) ?? pyStr(fileStats(path, true)['mode'] ?? '');
}
