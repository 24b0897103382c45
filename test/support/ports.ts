// Ports for daemons of tests, each given out once among all test processes of this machine.
//
// A port that the kernel names as free may be used by somebody else before the daemon listens: by another test that was given
// the same one, or by any outgoing connection. These are outside the kernel's range, and reserved by a file while the process
// that asked for them lives.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const firstPort = 12_000;
/** Linux takes ports of outgoing connections from 32,768 on. */
const portCount = 20_000;
const folder = join(tmpdir(), 'halite-test-ports');
const reserved = new Set<string>();

process.once('exit', () => {
  for (const file of reserved) rmSync(file, { force: true });
});

export async function freePorts(count: number): Promise<number[]> {
  mkdirSync(folder, { recursive: true });
  const found: number[] = [];
  while (found.length < count) {
    const port = firstPort + Math.floor(Math.random() * portCount);
    if (reserve(join(folder, String(port))) && (await isFree(port))) found.push(port);
  }
  return found;
}

function reserve(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    reserved.add(file);
    return true;
  } catch {
    // Removed for a later try; this one takes another port.
    if (!isHeld(file)) rmSync(file, { force: true });
    return false;
  }
}

/** Whether the process that reserved it lives. */
function isHeld(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((done) => {
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
