// Real pipes for commands. Node gives its children sockets, which cannot be opened by name: `echo x > /dev/stderr`
// fails.
import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface RealPipe {
  /** Does not block. */
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** Created in batches, because creating them needs a process. */
const batchSize = 9;

/** Unnamed pipes; opened in both directions, so that they stay open. */
const ready: number[] = [];
let making: Promise<boolean> | undefined;

/** Node cannot create a pipe; a named one whose name is removed immediately is equivalent. */
async function makeSome(): Promise<boolean> {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'halite-pipe-'));
    const names = Array.from({ length: batchSize }, (_, index) => join(folder!, String(index)));
    await promisify(execFile)('mkfifo', ['-m', '600', ...names]);
    for (const name of names) ready.push(openSync(name, constants.O_RDWR));
    return true;
  } catch {
    return ready.length > 0;
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

function split(both: number): RealPipe | undefined {
  const again = `/proc/self/fd/${both}`;
  let readEnd: number | undefined;
  try {
    readEnd = openSync(again, constants.O_RDONLY | constants.O_NONBLOCK);
    return { readEnd, writeEnd: openSync(again, constants.O_WRONLY) };
  } catch {
    if (readEnd !== undefined) closeSync(readEnd);
    return undefined;
  } finally {
    closeSync(both);
  }
}

/** A pipe, or undefined where none can be created (no `mkfifo`, no /proc, no more descriptors). */
export async function takePipe(): Promise<RealPipe | undefined> {
  while (ready.length === 0) {
    making ??= makeSome().finally(() => {
      making = undefined;
    });
    if (!(await making)) return undefined;
  }
  return split(ready.pop()!);
}
