// Finds a built program (worker or job process) next to the running code, from dist/, its chunks, or the sources.
import { existsSync } from 'node:fs';
import { HaliteError } from '../errors/index.ts';

/** The bundle `<name>.js` of dist/. */
export function bundleFile(name: string): URL {
  for (const place of ['.', '..', '../../../dist']) {
    const file = new URL(`${place}/${name}.js`, import.meta.url);
    if (existsSync(file)) return file;
  }
  throw new HaliteError('extension.broken', `the program ${name}.js of Halite is missing`, {
    hint: 'Build it with: npm run build',
  });
}
