// A file of its own for one section of a configuration (`beacons.conf`, `_schedule.conf`), which a minion changes.
import { readFile, stat } from 'node:fs/promises';
import { asDict, type Dict, fieldOf, newDict } from '../codec/value.ts';
import { loadYaml } from '../codec/yaml/index.ts';

/** The section in the file; empty when there is no file or it is empty. */
export async function readSavedSection(path: string, section: string): Promise<Dict> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return asDict(fieldOf(text.trim() === '' ? null : loadYaml(text), section)) ?? newDict();
}

/** Changes whenever the file does. */
export async function fileVersion(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.ino}:${found.mtimeMs}:${found.size}` : '';
}
