// Files of this build that are started by others or sent to targets.
import { existsSync } from 'node:fs';
import { HaliteError } from '../base/errors/index.ts';

/** `<name>.cjs` of dist/. */
export function commandFile(name: string): URL {
  for (const place of ['.', '..', '../../dist']) {
    const file = new URL(`${place}/${name}.cjs`, import.meta.url);
    if (existsSync(file)) return file;
  }
  throw new HaliteError('extension.broken', `the program ${name}.cjs of Halite is missing`, {
    hint: 'Build it with: npm run build',
  });
}
