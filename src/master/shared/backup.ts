// Copies of what a procedure replaces: one folder for each time, readable by its owner only.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** `cachedir/backup/<time>`, new. */
export function newBackup(cachedir: string, now = new Date()): string {
  const root = join(cachedir, 'backup');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const time = now.toISOString().slice(0, 19).replaceAll(':', '-');
  for (let number = 0; ; number++) {
    const folder = join(root, number === 0 ? time : `${time}.${number}`);
    try {
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
