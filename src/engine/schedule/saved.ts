// The file in which a minion saves its schedule: `_schedule.conf` next to its other included configuration.
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { dumpYaml } from '../../base/codec/yaml/index.ts';
import { readSavedSection } from '../../base/config/saved-section.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

/** Where Salt keeps it: below the folder of `default_include`. */
export function savedPath(opts: Readonly<Record<string, Value>>): string {
  const folder = String(opts['conf_dir'] ?? opts['config_dir'] ?? dirname(String(opts['conf_file'] ?? '')));
  return join(folder, dirname(String(opts['default_include'] ?? 'minion.d/*.conf')), '_schedule.conf');
}

/** The jobs in the file; none when there is no file or it is empty. */
export const readSaved = (path: string): Promise<Dict> => readSavedSection(path, 'schedule');

/** Replaces the file atomically. */
export async function writeSaved(path: string, schedule: PlainDict): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, dumpYaml(newDict([['schedule', schedule]]), { sortKeys: false }));
}
