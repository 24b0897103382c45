// Finds a built program (worker or job process) next to the running code, from dist/, its chunks, or the sources.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HaliteError } from '../errors/index.ts';

/** The bundle `<name>.js` of dist/. */
export function bundleFile(name: string): URL {
  const file = find(`${name}.js`);
  if (file) return file;
  throw new HaliteError('extension.broken', `the program ${name}.js of Halite is missing`, {
    hint: 'Build it with: npm run build',
  });
}

/** A folder of dist/ that the build made; undefined when it is not there. */
export function bundleFolder(name: string): string | undefined {
  const folder = find(`${name}/`);
  return folder && fileURLToPath(folder);
}

function find(name: string): URL | undefined {
  return ['.', '..', '../../../dist']
    .map((place) => new URL(`${place}/${name}`, import.meta.url))
    .find((path) => existsSync(path));
}
