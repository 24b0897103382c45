// The socket file of a daemon: not reachable before its permissions are set, and never that of another daemon.
import { chmod, mkdtemp, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { HaliteError } from '../../../base/errors/index.ts';

// The kernel's limit for the path of a unix socket, without the terminating zero.
const maxPathBytes = 107;

/** Makes the server listen at the path; the returned function removes the file if it is still the same. */
export async function claimSocket(server: Server, path: string, mode: number): Promise<() => Promise<void>> {
  await refuseIfAlive(path);
  // A temporary folder with access for the owner only: independent of the umask, nobody can connect before the file has
  // its mode.
  const folder = await mkdtemp(join(dirname(path), '.h')).catch((thrown: unknown) => {
    throw new HaliteError('config.missing', `Cannot create the socket ${path}`, {
      hint: 'Check that the folder exists and may be written: option sock_dir.',
      cause: thrown,
    });
  });
  const temporary = join(folder, 's');
  try {
    checkLength(path);
    checkLength(temporary);
    await listen(server, temporary);
    await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (thrown) {
    server.close();
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  } finally {
    await rmdir(folder).catch(() => undefined);
  }
  const ours = await stat(path);
  return async () => {
    const now = await stat(path).catch(() => undefined);
    if (now?.ino === ours.ino && now.dev === ours.dev) await unlink(path).catch(() => undefined);
  };
}

function checkLength(path: string): void {
  if (Buffer.byteLength(path) <= maxPathBytes) return;
  throw new HaliteError('config.value', `The path of the socket is too long: ${path}`, {
    hint: `Choose a shorter sock_dir; the system allows ${maxPathBytes - basename(path).length - 12} bytes.`,
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog: 511 }, () => {
      server.off('error', reject);
      server.on('error', () => undefined);
      resolve();
    });
  });
}

/** A file on which nothing answers was left behind by a killed daemon. */
function refuseIfAlive(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.on('error', () => resolve());
    probe.on('connect', () => {
      probe.destroy();
      reject(
        new HaliteError('daemon.running', `A daemon already listens on ${path}`, {
          hint: 'Stop it first, or use another sock_dir.',
        }),
      );
    });
  });
}
