// Commands in another root folder, with the kernel's filesystems mounted there while they run.

import { join } from 'node:path';
import { commandError, type ModuleContext, pyStr, type Value } from 'halite/sdk';
import { isDirectory, isFile, listDir, readlinkSync, realpathSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import type { RunArgs } from './params.ts';
import { type Outcome, run } from './run.ts';

async function mount(ctx: ModuleContext, args: string[]): Promise<void> {
  const { retcode, stderr } = await ctx.exec('mount', args);
  if (retcode !== 0) ctx.log.warn('mount failed', { args, stderr });
}

function processesIn(root: string): number[] {
  return listDir('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const link = readlinkSync(`/proc/${pid}/root`);
        return link === root || link.startsWith(`${root}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function endProcesses(root: string): void {
  for (let round = 0; round < 6; round++) {
    for (const pid of processesIn(root)) {
      try {
        process.kill(pid, round < 3 ? 'SIGTERM' : 'SIGKILL');
      } catch {
        // The process has ended meanwhile.
      }
    }
  }
}

/** Runs the command below `root`; the mounts are always removed afterwards. */
export async function runInChroot(
  args: RunArgs & { readonly root: string; readonly binds: Value[] | null },
  ctx: ModuleContext,
): Promise<Outcome> {
  const chroot = which('chroot');
  // All processes below the root are killed afterwards, so `/` must be refused in every spelling.
  if (!chroot || !isDirectory(args.root) || realpathSync(args.root) === '/')
    throw commandError(`Cannot change root to '${args.root}'`);
  const binds = (args.binds ?? []).map(pyStr);
  const mounts = [
    ...[
      ['devtmpfs', 'dev'],
      ['proc', 'proc'],
      ['sysfs', 'sys'],
    ].map(([type = '', name = '']) => ({
      at: join(args.root, name),
      options: ['-t', type, type],
    })),
    ...binds.map((folder) => ({ at: join(args.root, folder), options: ['--bind', folder] })),
  ];
  for (const { at, options } of mounts) await mount(ctx, [...options, at]);
  try {
    const shell = isFile(join(args.root, 'bin/bash')) ? '/bin/bash' : '/bin/sh';
    const line = Array.isArray(args.cmd) ? args.cmd.map(pyStr).join(' ') : pyStr(args.cmd);
    const as = args.runas ? [`--userspec=${args.runas}:${args.group ?? ''}`] : [];
    const cmd = [chroot, ...as, args.root, shell, '-c', line];
    return await run({ ...args, cmd, runas: null, group: null, python_shell: false }, ctx);
  } finally {
    endProcesses(args.root);
    for (const { at } of mounts.reverse()) await ctx.exec('umount', [at]);
  }
}
