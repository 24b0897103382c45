// Lines by which git marks a conflict: inside of comments and pages no compiler finds them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagesBelow } from './doc-links.ts';
import { readTree } from './source-graph.ts';

const marker = /^[ *#/>]*(<{7}|\|{7}|>{7})( |$)/;

export function findConflictMarkers(root: string): string[] {
  const pages = pagesBelow(root).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return [...readTree(root).values(), ...pages].flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (marker.test(line) ? [`${path}:${at + 1}: a conflict marker`] : [])),
  );
}
