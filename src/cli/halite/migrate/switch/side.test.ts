import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { mastersOf, runningBin } from './side.ts';

let folder: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'halite-side-')));
});
afterEach(async () => {
  if (child) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  child = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** A process that calls itself the master of this folder's configuration. */
async function master(bin: string): Promise<void> {
  mkdirSync(bin);
  writeFileSync(join(bin, 'salt'), '#!/bin/sh\n');
  for (const path of [bin, join(bin, 'salt')]) chmodSync(path, 0o755);
  // A shell that waits for commands: it has begun when it has answered one.
  child = spawn('/bin/sh', ['-s', '--', `--config-dir=${folder}`], {
    argv0: join(bin, 'salt-master'),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin?.write('echo begun\n');
  await once(child.stdout as NodeJS.ReadableStream, 'data');
}

it('takes the commands beside the master that runs', async () => {
  await master(join(folder, 'bin'));
  expect(mastersOf(folder)).toEqual([child?.pid]);
  expect(runningBin(folder)).toBe(join(folder, 'bin'));
});

it('runs nothing from a folder that others can write to, whatever a process there calls itself', async () => {
  const bin = join(folder, 'bin');
  await master(bin);
  chmodSync(bin, 0o777);
  expect(runningBin(folder)).toBeUndefined();
  chmodSync(bin, 0o755);
  chmodSync(join(bin, 'salt'), 0o777);
  expect(runningBin(folder)).toBeUndefined();
});
