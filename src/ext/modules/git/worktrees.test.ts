// Worktrees of a real repository.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlainDict, Value } from 'halite/sdk';
import { runProgram, testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import cmd from '../cmd/index.ts';
import git from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-worktree-'));
const repo = join(folder, 'repo');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(async () => {
  const script = `git init -q -b main ${repo} && cd ${repo} && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git tag v1`;
  const made = await runProgram('/bin/sh', ['-ec', script]);
  if (made.retcode !== 0) throw new Error(made.stderr);
});
const call = (fun: string, args: Value[], kwargs: PlainDict = {}): Promise<Value> =>
  testContext({ modules: [git, cmd] }).callWith(`git.${fun}`, args, kwargs);

describe('worktrees', () => {
  it('are made, listed and removed', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    await call('worktree_add', [repo, one]);
    await call('worktree_add', [repo, two], { detach: true, ref: 'v1' });
    expect(await call('list_worktrees', [repo])).toMatchObject({
      [repo]: { stale: false, branch: 'main', detached: false },
      [one]: { branch: 'one' },
      [two]: { branch: null, detached: true, tags: ['v1'] },
    });
    expect(await call('worktree_rm', [one])).toBe(true);
    expect(existsSync(one)).toBe(false);
    expect(Object.keys((await call('list_worktrees', [repo], { stale: true })) as PlainDict)).toEqual([one]);
    expect(await call('worktree_prune', [repo])).toContain('one');
    expect(Object.keys((await call('list_worktrees', [repo], { all: true })) as PlainDict)).toEqual([repo, two]);
    await expect(call('worktree_rm', [repo])).rejects.toThrow('is not a git worktree');
    await expect(call('worktree_add', [repo, one], { branch: 'a', detach: true })).rejects.toThrow('Only one of');
  });
});
