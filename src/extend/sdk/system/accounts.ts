// Users and groups of this machine, from /etc; other sources of the name service are queried with getent.
import { execFileSync } from 'node:child_process';
import { isFile, readText } from '../fs/attempts.ts';
import { lines } from '../text/cutting.ts';
import { which } from './which.ts';

export interface User {
  readonly name: string;
  readonly passwd: string;
  readonly uid: number;
  readonly gid: number;
  readonly gecos: string;
  readonly home: string;
  readonly shell: string;
}
export interface Group {
  readonly name: string;
  readonly passwd: string;
  readonly gid: number;
  readonly members: readonly string[];
}

export function parsePasswd(text: string): User[] {
  return lines(text).flatMap((line) => {
    const [name, passwd = '', uid, gid, gecos = '', home = '', shell = ''] = line.split(':');
    if (!name || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return [];
    return [{ name, passwd, uid: Number(uid), gid: Number(gid), gecos, home, shell }];
  });
}

export function parseGroup(text: string): Group[] {
  return lines(text).flatMap((line) => {
    const [name, passwd = '', gid, members = ''] = line.split(':');
    if (!name || !/^\d+$/.test(gid ?? '')) return [];
    return [{ name, passwd, gid: Number(gid), members: members.split(',').filter(Boolean) }];
  });
}

/** True when the name service has sources other than the files (LDAP, sssd, …). */
function hasOtherSources(database: 'passwd' | 'group'): boolean {
  const line = new RegExp(`^${database}:(.*)$`, 'm').exec(readText('/etc/nsswitch.conf') ?? '')?.[1] ?? '';
  return /\b(sss|ldap|winbind|nis|nisplus|extrausers|systemd)\b/.test(line);
}

function getent(database: 'passwd' | 'group', key?: string): string {
  const program = which('getent');
  if (!program) return '';
  try {
    const args = key === undefined ? [database] : [database, key];
    return execFileSync(program, args, { encoding: 'utf8', timeout: 10_000, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

const passwdFile = (root: string): string => `${root}/etc/passwd`;
const groupFile = (root: string): string => `${root}/etc/group`;

/** All users; with `root`, only those of the files below that folder. */
export function allUsers(root = ''): User[] {
  if (!root && hasOtherSources('passwd')) return parsePasswd(getent('passwd') || (readText('/etc/passwd') ?? ''));
  return parsePasswd(isFile(passwdFile(root)) ? (readText(passwdFile(root)) ?? '') : '');
}

export function allGroups(root = ''): Group[] {
  if (!root && hasOtherSources('group')) return parseGroup(getent('group') || (readText('/etc/group') ?? ''));
  return parseGroup(isFile(groupFile(root)) ? (readText(groupFile(root)) ?? '') : '');
}

/** One entry: from the file, or from the name service when it has other sources and the name is safe to pass to it. */
function find<T>(
  database: 'passwd' | 'group',
  key: string,
  inFile: T | undefined,
  parse: (text: string) => T[],
  root: string,
): T | undefined {
  if (inFile || root || key === '' || key.startsWith('-') || !hasOtherSources(database)) return inFile;
  return parse(getent(database, key))[0];
}

export function userByName(name: string, root = ''): User | undefined {
  const users = parsePasswd(readText(passwdFile(root)) ?? '');
  const found = find(
    'passwd',
    name,
    users.find((user) => user.name === name),
    parsePasswd,
    root,
  );
  return found?.name === name ? found : undefined;
}

export function userById(uid: number): User | undefined {
  const users = parsePasswd(readText(passwdFile('')) ?? '');
  return find(
    'passwd',
    String(uid),
    users.find((user) => user.uid === uid),
    parsePasswd,
    '',
  );
}

export function groupByName(name: string, root = ''): Group | undefined {
  const groups = parseGroup(readText(groupFile(root)) ?? '');
  const found = find(
    'group',
    name,
    groups.find((group) => group.name === name),
    parseGroup,
    root,
  );
  return found?.name === name ? found : undefined;
}

export function groupById(gid: number): Group | undefined {
  const groups = parseGroup(readText(groupFile('')) ?? '');
  return find(
    'group',
    String(gid),
    groups.find((group) => group.gid === gid),
    parseGroup,
    '',
  );
}

/** Names of the groups of a user: the primary one and those that list the user, sorted. */
export function groupsOfUser(user: User, includePrimary = true): string[] {
  const groups = allGroups();
  const names = groups.filter((group) => group.members.includes(user.name)).map((group) => group.name);
  const primary = groups.find((group) => group.gid === user.gid)?.name;
  if (includePrimary && primary) names.push(primary);
  return [...new Set(names)].sort();
}
