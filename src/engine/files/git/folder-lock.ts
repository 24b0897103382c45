// A lock between threads and processes that share a folder, implemented as a folder in it.
import { mkdir, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HaliteError } from '../../../base/errors/index.ts';

const pollMs = 50;

/** Runs `work` while holding `lock`. A lock left behind by a program that ended is replaced after `staleMs`. */
export async function withFolderLock<T>(lock: string, staleMs: number, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const deadline = Date.now() + 2 * staleMs;
  while (!(await take(lock, staleMs))) {
    if (Date.now() > deadline) throw new HaliteError('call.failed', `${lock} is held by another program`);
    await sleep(pollMs);
  }
  try {
    return await work();
  } finally {
    await rmdir(lock).catch(() => undefined);
  }
}

async function take(lock: string, staleMs: number): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = await stat(lock).catch(() => undefined);
  if (found && Date.now() - found.mtimeMs > staleMs) await rmdir(lock).catch(() => undefined);
  return false;
}
