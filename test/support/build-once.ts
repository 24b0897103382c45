// Things built once and shared by all test runs: one process builds, the others wait, and what is half built never counts.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Where test runs keep what takes long to install. */
export const testCache = process.env['HALITE_TEST_CACHE'] ?? join(homedir(), '.cache', 'halite-test');

export type Command = readonly [file: string, ...args: string[]];

/**
 * Runs these commands once for a folder. The lock is the kernel's (`flock`), so it ends with its holder, however that
 * ends; the stamp is written after the last command.
 */
export function buildOnce(folder: string, commands: readonly Command[]): void {
  const stamp = join(folder, '.complete');
  if (existsSync(stamp)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const script = [
    'set -e',
    `test ! -e ${quote(stamp)} || exit 0`,
    `rm -rf ${quote(folder)}`,
    ...commands.map((command) => command.map(quote).join(' ')),
    `touch ${quote(stamp)}`,
  ].join('\n');
  const done = spawnSync('flock', [`${folder}.lock`, '/bin/sh', '-c', script], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (done.status === 0) return;
  throw new Error(`${folder} could not be built:\n${done.stdout ?? ''}${done.stderr ?? done.error?.message ?? ''}`);
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
