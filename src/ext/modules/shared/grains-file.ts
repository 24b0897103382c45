// The file of grains an operator sets, next to the minion's configuration.

import { dirname, join } from 'node:path';
import { asDict, type Dict, newDict, type Value } from 'halite/sdk';
import { dumpYaml, loadYaml } from 'halite/sdk/codec';
import { isDirectory, mkdirSync, readText, renameSync, writeFileSync } from 'halite/sdk/fs';

/** Its path; undefined when the minion has no configuration file. */
export function grainsPath(opts: Readonly<Record<string, Value>>): string | undefined {
  const conf = opts['conf_file'];
  if (typeof conf !== 'string' || conf === '') return undefined;
  return join(isDirectory(conf) ? conf : dirname(conf), 'grains');
}

/** Its content; empty when the file is missing. Throws YamlError when it is invalid. */
export function readGrainsFile(path: string): Dict {
  const text = readText(path);
  const value = text === undefined ? null : loadYaml(text, { name: path });
  return asDict(value) ?? newDict();
}

/** Replaces it atomically, so that a crash leaves the old or the new content. */
export function writeGrainsFile(path: string, grains: Dict): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, dumpYaml(grains, { flow: false }));
  renameSync(draft, path);
}
