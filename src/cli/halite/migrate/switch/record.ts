// What a migration has done so far, on the disk before it is done: after any interruption there is a way back.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asText, fieldOf, isTexts, type Value } from '../../../../base/codec/value.ts';
import { HaliteError } from '../../../../base/errors/index.ts';
import { flushNow, replaceFileNow } from '../../../../base/util/replace-file.ts';
import type { Side } from './side.ts';

export interface Migration {
  readonly configDir: string;
  /** The Salt that was replaced, and Halite in its place. */
  readonly old: Side;
  readonly own: Side;
  /** Minions that answered Salt. */
  readonly before: readonly string[];
  readonly backup: string;
}

const fileIn = (cachedir: string): string => join(cachedir, 'migration.json');

export function writeMigration(cachedir: string, migration: Migration): void {
  replaceFileNow(fileIn(cachedir), `${JSON.stringify({ version: 1, ...migration }, undefined, 1)}\n`);
  for (const path of [fileIn(cachedir), cachedir]) flushNow(path);
}

export const removeMigration = (cachedir: string): void => rmSync(fileIn(cachedir), { force: true });

/** Undefined when none is under way. */
export function readMigration(cachedir: string): Migration | undefined {
  const file = fileIn(cachedir);
  if (!existsSync(file)) return undefined;
  const bad = new HaliteError('codec.malformed', `${file} does not describe a migration`);
  let said: Value;
  try {
    said = JSON.parse(readFileSync(file, 'utf8')) as Value;
  } catch {
    throw bad;
  }
  const side = (name: string): Side => {
    const read = (field: string): string | undefined => asText(fieldOf(fieldOf(said, name) ?? null, field));
    const [bin, stop, start, beside] = [read('bin'), read('stop'), read('start'), read('beside')];
    if (bin === undefined || stop === undefined || start === undefined) throw bad;
    return { bin, node: read('node') ?? '', stop, start, beside };
  };
  const before = fieldOf(said, 'before') ?? null;
  const configDir = asText(fieldOf(said, 'configDir'));
  if (fieldOf(said, 'version') !== 1 || configDir === undefined || !isTexts(before)) throw bad;
  return { configDir, before, old: side('old'), own: side('own'), backup: asText(fieldOf(said, 'backup')) ?? '' };
}
