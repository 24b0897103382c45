// Finds files of the built program from wherever this code runs: a bundle, a chunk beside it, or the source tree.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of a built file (`job-process.js`); undefined when nothing was built. */
export function locateBundle(name: string): string | undefined {
  for (const place of [`./${name}`, `../${name}`, `../../../dist/${name}`]) {
    const path = fileURLToPath(new URL(place, import.meta.url));
    if (existsSync(path)) return path;
  }
  return undefined;
}
