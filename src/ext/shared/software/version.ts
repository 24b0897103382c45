// The version of Salt that Halite is compatible with, and Halite's own.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'halite/sdk/fs';

/** Templates compare these; they name the Salt release whose behaviour Halite follows. */
export const saltVersion = '3006.27';
export const saltVersionInfo: readonly number[] = [3006, 27];

export interface Installation {
  readonly root: string;
  readonly version: string;
}

let known: Installation | undefined;

/** The installation folder and the version of Halite, from the nearest package.json above this code. */
export function installation(): Installation {
  if (known) return known;
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name?: unknown;
        version?: unknown;
      };
      if (manifest.name === 'halite' && typeof manifest.version === 'string') {
        known = { root: folder, version: manifest.version };
        return known;
      }
    } catch {
      // Continue in the parent folder.
    }
    if (folder === dirname(folder)) break;
  }
  known = { root: start, version: '0.0.0' };
  return known;
}
