// The file in which a minion saves its beacons: `beacons.conf` next to its other included configuration.
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { dumpYaml } from '../../base/codec/yaml/index.ts';
import { readSavedSection } from '../../base/config/saved-section.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

/** Where Salt keeps it: in the folder of `default_include`. */
export function savedBeaconsPath(opts: Readonly<Record<string, Value>>): string {
  const folder = dirname(String(opts['conf_file'] ?? '/etc/salt/minion'));
  return join(resolve(folder, dirname(String(opts['default_include'] ?? 'minion.d/*.conf'))), 'beacons.conf');
}

/** The beacons in the file; none when there is no file or it is empty. */
export const readSavedBeacons = (path: string): Promise<Dict> => readSavedSection(path, 'beacons');

/** Replaces the file atomically. Without beacons it is empty, as in Salt. */
export async function writeSavedBeacons(path: string, beacons: PlainDict): Promise<void> {
  const text = Object.keys(beacons).length > 0 ? dumpYaml(newDict([['beacons', beacons]]), { flow: false }) : '';
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, text);
}
