// Writes key files atomically, never over another process's key, with the right mode from the start.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, chown, link, open, readFile, rename, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function writeBeside(path: string, text: string, mode: number): Promise<string> {
  const temporary = `${path}.${randomUUID()}`;
  const file = await open(temporary, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
  return temporary;
}

/** Creates the complete file atomically; false when it already exists. */
export async function placeNew(path: string, text: string, mode: number): Promise<boolean> {
  const temporary = await writeBeside(path, text, mode);
  try {
    await link(temporary, path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  } finally {
    await unlink(temporary);
  }
}

/** Replaces the file atomically. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await rename(await writeBeside(path, text, mode), path);
  await chmod(path, mode);
}

/**
 * Changes the owner of files; silently does nothing when the user does not exist or the process lacks the right (as
 * Salt).
 */
export async function giveTo(user: string, paths: readonly string[]): Promise<void> {
  const uid = await userId(user);
  if (uid === undefined) return;
  for (const path of paths) await chown(path, uid, -1).catch(() => undefined);
}

async function userId(user: string): Promise<number | undefined> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const line of passwd.split('\n')) {
    const fields = line.split(':');
    if (fields[0] === user) return Number(fields[2]);
  }
  // Users of a directory service are not in the file.
  const found = await promisify(execFile)('id', ['-u', '--', user]).catch(() => undefined);
  const uid = found && /^\d+$/.test(found.stdout.trim()) ? Number(found.stdout) : undefined;
  return uid;
}
