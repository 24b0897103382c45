// The minion's own process: user, group, shell, and how the machine was booted.

import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { defineGrain, isProxyMinion, newDict } from 'halite/sdk';
import { listDir, pathExists, readFileSync } from 'halite/sdk/fs';
import { groupById, which } from 'halite/sdk/system';

function secureBoot(folder: string): boolean {
  const variables = listDir(folder).filter((name) => name.startsWith('SecureBoot-'));
  if (variables.length !== 1) return false;
  const path = join(folder, variables[0] as string);
  try {
    return readFileSync(basename(folder) === 'efivars' ? path : join(path, 'data')).at(-1) === 1;
  } catch {
    return false;
  }
}

export default defineGrain({
  name: 'process',
  doc: 'User, group, process id and shell of the minion; EFI and transactional system.',
  priority: 10,
  proxies: ['*'],
  collect(ctx) {
    const user = userInfo();
    const efi = ['/sys/firmware/efi/efivars', '/sys/firmware/efi/vars'].find(pathExists);
    const machine = newDict([
      ['shell', process.env['SHELL'] ?? '/bin/sh'],
      ['transactional', which('transactional-update') !== null],
      ['efi', efi !== undefined],
      ['efi-secure-boot', efi !== undefined && secureBoot(efi)],
    ]);
    if (isProxyMinion(ctx.opts)) return machine;
    return Object.assign(machine, {
      username: user.username,
      groupname: groupById(user.gid)?.name ?? '',
      pid: process.pid,
      gid: process.getgid?.() ?? user.gid,
      uid: process.getuid?.() ?? user.uid,
    });
  },
});
