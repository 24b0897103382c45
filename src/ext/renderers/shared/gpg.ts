// Runs the system's gpg on one encrypted message.

import { join } from 'node:path';
import { readdir, unlink } from 'halite/sdk/fs';
import { spawn } from 'halite/sdk/system';

export interface GpgResult {
  /** Empty when nothing could be decrypted. */
  readonly plain: Buffer;
  /** The messages of gpg. */
  readonly said: Buffer;
}

const deadlineMs = 120_000;
const maxBytes = 64 * 1024 * 1024;

/** Input and output are bytes, because the plaintext need not be text. Rejects with ENOENT when gpg is not installed. */
export function gpgDecrypt(cipher: Buffer, keyFolder: string, signal: AbortSignal | undefined): Promise<GpgResult> {
  return new Promise((resolve, reject) => {
    const args = ['--homedir', keyFolder, '--status-fd', '2', '--no-tty', '-d'];
    const child = spawn('gpg', args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: deadlineMs,
      ...(signal ? { signal } : {}),
    });
    const out: Buffer[] = [];
    const said: Buffer[] = [];
    let size = 0;
    const take = (into: Buffer[]) => (piece: Buffer) => {
      size += piece.length;
      if (size > maxBytes) child.kill('SIGKILL');
      else into.push(piece);
    };
    child.stdout.on('data', take(out));
    child.stderr.on('data', take(said));
    child.on('error', reject);
    child.on('close', () => resolve({ plain: Buffer.concat(out), said: Buffer.concat(said) }));
    // gpg closes its input early when it has no key.
    child.stdin.on('error', () => undefined);
    child.stdin.end(cipher);
  });
}

/** A lock of a process that has ended blocks every later gpg; its name ends in the process id. */
export async function removeStaleLocks(keyFolder: string): Promise<void> {
  for (const name of await readdir(keyFolder).catch(() => [])) {
    const pid = /^\.#lk[0-9a-fA-Fx]+\..+\.(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await unlink(join(keyFolder, name)).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
