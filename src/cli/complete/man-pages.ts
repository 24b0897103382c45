// Writes the manual pages of all commands into a folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../base/util/exit-codes.ts';
import { haliteVersion } from '../../base/util/version.ts';
import { commandSpecs } from '../options/all.ts';
import { manPage } from './man-page.ts';

export function writeManPages(folder: string): number {
  mkdirSync(folder, { recursive: true });
  for (const [name, spec] of commandSpecs) writeFileSync(join(folder, `${name}.1`), manPage(spec(), haliteVersion));
  return exitCodes.ok;
}
