// Users and groups of the system.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function accountOf(line: string): Account | undefined {
  const [name = '', , uid, gid, , home = '', shell = ''] = line.split(':');
  if (!/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return undefined;
  return { name, uid: Number(uid), gid: Number(gid), home, shell };
}

/** Looks in the password file, then in the directory service behind it. */
export function findAccount(name: string): Account | undefined {
  const local = lines('/etc/passwd').find((line) => line.startsWith(`${name}:`));
  if (local) return accountOf(local);
  if (!/^[^\s:-][^\s:]*$/.test(name)) return undefined;
  const run = spawnSync('getent', ['passwd', '--', name], {
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return run.status === 0 ? accountOf(run.stdout.split('\n')[0] ?? '') : undefined;
}

/** Ids of the groups that list a user as member, the primary group left out. */
export function groupIdsOf(name: string): number[] {
  const ids: number[] = [];
  for (const line of lines('/etc/group')) {
    const [, , gid, members = ''] = line.split(':');
    if (/^\d+$/.test(gid ?? '') && members.split(',').includes(name)) ids.push(Number(gid));
  }
  return ids;
}
