// One minion process for each cache folder: a second one with the same id would run every job once more.
// A lock of the kernel (flock), so that it ends with its process, however that ends. Node cannot take one by itself: the
// program `flock` takes it on a descriptor that both processes share, and the lock stays when that program has ended.
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { textField } from '../base/codec/fields.ts';
import { parsePlain } from '../base/codec/json/index.ts';
import { isDict } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';

export interface LockHolder {
  readonly pid: string;
  readonly id: string;
  /** Local time. */
  readonly started: string;
}

export const lockPath = (cacheDir: string): string => join(cacheDir, 'halite', 'minion.lock');

/** What the holder wrote about itself; undefined while it has not written it yet. */
export function readLockHolder(path: string): LockHolder | undefined {
  try {
    const value = parsePlain(readFileSync(path, 'utf8'));
    if (!isDict(value)) return undefined;
    const field = (name: string): string => textField(value, name) ?? '';
    return { pid: field('pid'), id: field('id'), started: field('started') };
  } catch {
    return undefined;
  }
}

/** Whether a process holds it; undefined when that cannot be found out here. */
export function isLocked(path: string): boolean | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return false;
  }
  try {
    const status = flock(file);
    return status === undefined ? undefined : status === held;
  } finally {
    closeSync(file);
  }
}

/** The lock lasts as long as this process. Throws daemon.running when another one has it. */
export async function lockMinion(cacheDir: string, id: string, log: Logger): Promise<() => void> {
  const path = lockPath(cacheDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Not truncated here: it may be that of a running minion.
  const file = openSync(path, 'a+', 0o600);
  let status = flock(file);
  // The doctor may just be looking, or a predecessor be ending.
  for (let again = 0; status === held && again < patience; again++) {
    await sleep(200);
    status = flock(file);
  }
  if (status === held) {
    closeSync(file);
    const holder = readLockHolder(path);
    const who = holder ? `process ${holder.pid}, minion ${holder.id}, started ${holder.started}` : 'another process';
    throw new HaliteError('daemon.running', `A minion already uses ${cacheDir}: ${who}`, {
      hint: holder
        ? `Stop it first (kill ${holder.pid}), or give this one its own id, cachedir and pki_dir.`
        : 'Stop it first, or give this one its own id, cachedir and pki_dir.',
    });
  }
  if (status === undefined)
    log.warn('A second minion process with the same cachedir would not be noticed: the program flock is missing', {
      hint: 'install util-linux',
    });
  ftruncateSync(file);
  writeSync(file, JSON.stringify({ pid: String(process.pid), id, started: new Date().toString() }));
  return () => closeSync(file);
}

const patience = 5;
/** Exit code of `flock -n` when another process has the lock. */
const held = 1;

/** Undefined when there is no such program, or it cannot lock this kind of file. */
function flock(file: number): number | undefined {
  const { status } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', file], timeout: 10_000 });
  return status === 0 || status === held ? status : undefined;
}
