// Repositories for tests, built with the git command from a list of steps.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Step = readonly [kind: string, first?: string, second?: string];

const when = '2020-01-01T00:00:00Z';

export function git(folder: string, ...args: string[]): string {
  const settings = ['user.name=t', 'user.email=t@t', 'core.autocrlf=false', 'commit.gpgsign=false'];
  return execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_DATE: when, GIT_COMMITTER_DATE: when },
  });
}

/** Steps: file, link, mode, rm, commit, branch (new and checked out), switch, tag, atag (annotated), unbranch, untag. */
export function buildRepository(folder: string, steps: readonly Step[]): void {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'master');
  for (const step of steps) applyStep(folder, step);
}

export function applyStep(folder: string, [kind, first = '', second = '']: Step): void {
  const path = join(folder, first);
  if (kind === 'file' || kind === 'link') mkdirSync(dirname(path), { recursive: true });
  if (kind === 'file') writeFileSync(path, second);
  else if (kind === 'link') symlinkSync(second, path);
  else if (kind === 'mode') chmodSync(path, 0o755);
  else if (kind === 'rm') rmSync(path);
  else for (const args of commands[kind]!(first)) git(folder, ...args);
}

const commands: Readonly<Record<string, (name: string) => string[][]>> = {
  commit: () => [
    ['add', '-A'],
    ['commit', '-q', '-m', 'x'],
  ],
  branch: (name) => [['checkout', '-q', '-b', name]],
  switch: (name) => [['checkout', '-q', name]],
  tag: (name) => [['tag', name]],
  atag: (name) => [['tag', '-a', '-m', 'x', name]],
  unbranch: (name) => [['branch', '-q', '-D', name]],
  untag: (name) => [['tag', '-d', name]],
};
