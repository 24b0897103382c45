// Paths of another machine's disk below a folder of this one: links are resolved as that machine would resolve them, so
// that none of them leads to a file of this machine.
import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const mostLinks = 40;

/** The real place of `path` below `root`; undefined when it does not exist or its links go round in circles. */
export function placeBelow(root: string, path: string): string | undefined {
  let links = 0;
  let done: string[] = [];
  const left = path.split('/').filter(Boolean);
  while (left.length > 0) {
    const step = left.shift() as string;
    if (step === '.') continue;
    if (step === '..') {
      done.pop();
      continue;
    }
    const here = join(root, ...done, step);
    const stat = lstatSync(here, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isSymbolicLink()) {
      done.push(step);
      continue;
    }
    if (++links > mostLinks) return undefined;
    const target = readlinkSync(here);
    if (target.startsWith('/')) done = [];
    left.unshift(...target.split('/').filter(Boolean));
  }
  return join(root, ...done);
}
