// The init system, systemd's version and SELinux.

import { type GrainContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { pathExists, readFileSync, readText, realpathSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { askOnce } from './memo.ts';

/** The binary of an `init` program contains the name of its system. */
function initByContent(program: string): string {
  try {
    const content = readFileSync(realpathSync(program)).toString('latin1').toLowerCase();
    return ['upstart', 'sysvinit', 'systemd'].find((name) => content.includes(name)) ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

export function initSystem(): string {
  if (pathExists('/run/systemd/system')) return 'systemd';
  const command = words((readText('/proc/1/cmdline') ?? '').replaceAll('\0', ' '));
  const program = which(command[0] ?? '');
  if (program?.endsWith('bin/init')) return initByContent(program);
  for (const name of ['supervisord', 'dumb-init', 'tini']) {
    const path = which(name);
    if (path && command.includes(path)) return name;
  }
  if (command.join(' ') === 'runit' || command.includes('/sbin/my_init')) return 'runit';
  return 'unknown';
}

/** Version and build options as `systemctl --version` prints them; undefined where systemd is not installed. */
export async function systemdGrain(ctx: GrainContext): Promise<Value | undefined> {
  const systemctl = which('systemctl');
  if (!systemctl || !which('localectl')) return undefined;
  const { retcode, stdout } = await askOnce(ctx, systemctl, ['--version']);
  const [first = '', features = ''] = retcode === 0 ? lines(stdout) : [];
  const version = first.startsWith('systemd ') ? words(first)[1] : undefined;
  return newDict([
    ['version', version ?? 'UNDEFINED'],
    ['features', version ? features : ''],
  ]);
}

/** Present only where the SELinux tools are installed. */
export async function selinuxGrain(ctx: GrainContext): Promise<Value | undefined> {
  const enabled = which('selinuxenabled');
  if (!enabled) return undefined;
  const selinux: PlainDict = newDict([['enabled', (await ctx.exec(enabled, [])).retcode === 0]]);
  const getenforce = which('getenforce');
  if (getenforce) selinux['enforced'] = (await ctx.exec(getenforce, [])).stdout.trim();
  return selinux;
}
