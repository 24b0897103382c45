import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryLogger } from '../base/log/testing.ts';
import { eventually } from './link/testing.ts';
import { isLocked, lockMinion, lockPath, readLockHolder } from './lock.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'halite-lock-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

describe('the lock of a minion', () => {
  it('names its holder, and is free again when that gives it up', async () => {
    const { log } = memoryLogger();
    const release = await lockMinion(cache, 'm1', log);
    expect(readLockHolder(lockPath(cache))).toMatchObject({ pid: String(process.pid), id: 'm1' });
    expect(isLocked(lockPath(cache))).toBe(true);
    await expect(lockMinion(cache, 'm1', log)).rejects.toThrow(
      new RegExp(`process ${process.pid}, minion m1, started \\w`),
    );
    // The refused one has not changed what the holder wrote.
    expect(readFileSync(lockPath(cache), 'utf8')).toContain(`"${process.pid}"`);
    expect(statSync(lockPath(cache)).mode & 0o077).toBe(0);
    release();
    expect(isLocked(lockPath(cache))).toBe(false);
    (await lockMinion(cache, 'm1', log))();
  });

  it('ends with a process that is killed', async () => {
    const { log } = memoryLogger();
    (await lockMinion(cache, 'other', log))();
    const holder = spawn('flock', ['-n', lockPath(cache), 'cat'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    await eventually(() => isLocked(lockPath(cache)) === true);
    await expect(lockMinion(cache, 'm1', log)).rejects.toThrow('already uses');
    process.kill(-holder.pid!, 'SIGKILL');
    await eventually(() => isLocked(lockPath(cache)) === false);
    (await lockMinion(cache, 'm1', log))();
  });
});
