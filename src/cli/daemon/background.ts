// `-d`: starts the same command again without terminal; the first process exits when the daemon is ready, or reports
// the failure.
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { Terminal } from '../io.ts';

/** Set in the environment of the background process, so that it does not go to the background again. */
const mark = 'HALITE_BACKGROUND';

const background = process.env[mark] === '1';
// Not for the daemon's own children: a job may start a daemon, which has to go to the background itself.
delete process.env[mark];

export const isBackground = (): boolean => background;

/** The file for the daemon's output until it runs: nobody else can guess its name. */
function scratchFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'halite-'));
  const fd = openSync(join(folder, 'start'), 'w+', 0o600);
  rmSync(folder, { recursive: true });
  return fd;
}

export function goToBackground(io: Terminal): Promise<number> {
  const words = scratchFile();
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ['ignore', 'ignore', words, 'ipc'],
    env: { ...process.env, [mark]: '1' },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('message', () => {
      child.disconnect();
      child.unref();
      resolve(exitCodes.ok);
    });
    child.once('exit', (code, signal) => {
      // A read by descriptor starts where the child stopped writing, so the file is read from its beginning by path.
      io.err(readFileSync(`/proc/self/fd/${words}`, 'utf8') || `The daemon ended with ${signal ?? `code ${code}`}.\n`);
      resolve(code || exitCodes.generic);
    });
  });
}

/** Tells the waiting command that the daemon is ready. */
export function announceReady(): void {
  if (!isBackground() || !process.send) return;
  process.send('ready', () => process.disconnect?.());
}
