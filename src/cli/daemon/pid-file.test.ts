// One daemon per pid file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimPidFile } from './pid-file.ts';

let root: string;
const user = userInfo().username;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-pid-'));
});
afterEach(() => rmSync(root, { recursive: true }));

it('is written and removed', () => {
  const path = join(root, 'sub/salt-master.pid');
  const release = claimPidFile(path, 'salt-master', user);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  release();
  expect(existsSync(path)).toBe(false);
});

it('is not removed when another daemon has taken it over', () => {
  const path = join(root, 'p');
  const release = claimPidFile(path, 'salt-master', user);
  writeFileSync(path, '1');
  release();
  expect(readFileSync(path, 'utf8')).toBe('1');
});

it('reports a daemon that already runs, and replaces a stale file', async () => {
  const path = join(root, 'p');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'halite-test-daemon'], {
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  try {
    writeFileSync(path, String(child.pid));
    expect(() => claimPidFile(path, 'halite-test-daemon', user)).toThrowError(
      expect.objectContaining({ code: 'daemon.running', message: expect.stringContaining(String(child.pid)) }),
    );
    // An unrelated process with the same pid does not block.
    claimPidFile(path, 'salt-master', user)();
  } finally {
    child.kill('SIGKILL');
  }
  writeFileSync(path, '999999999');
  claimPidFile(path, 'halite-test-daemon', user)();
  writeFileSync(path, 'garbage');
  claimPidFile(path, 'halite-test-daemon', user)();
});
