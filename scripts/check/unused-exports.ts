// Exports that no other file of the product uses. A name that only tests use is dead code with a test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTestFile, readTree, type SourceGraph } from './source-graph.ts';

/** Names of a file that are used from outside the graph. */
type Entered = (path: string, name: string) => boolean;

export function findUnusedExports(root: string): string[] {
  const graph = readTree(root);
  const entered = enteredFromOutside(root);
  const used = usesOf(graph, (path) => !isTestFile(path), entered);
  const tested = usesOf(graph, isTestFile, () => false);
  const breaches: string[] = [];
  for (const { path, exports, imports, text } of graph.values()) {
    if (!/^(src|console)\//.test(path) || isTestFile(path) || path.endsWith('.gen.ts')) continue;
    for (const name of exports) {
      if (isUsed(used, path, name) || entered(path, name)) continue;
      // The file uses it itself, and only tests import it; or a type is part of an exported function.
      if (isUsedInside(text, name) && (isUsed(tested, path, name) || isType(text, name))) continue;
      // A re-exported name is checked where it is declared.
      if (isUsed(tested, path, name) && imports.some((item) => item.passedOn && item.names.includes(name))) continue;
      const who = isUsed(tested, path, name) ? 'only tests use' : 'nobody uses';
      breaches.push(`${path}: ${who} the export ${name}`);
    }
  }
  return breaches.sort();
}

/** What package.json exports, and the default exports that the generated tables of built-in extensions load. */
function enteredFromOutside(root: string): Entered {
  const { exports = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports?: Record<string, { types: string }>;
  };
  const entries = Object.values(exports).map(({ types }) => sourceOf(join(types)).split('*'));
  const isEntry = (path: string): boolean =>
    entries.some(([before = '', after]) =>
      after === undefined ? path === before : path.startsWith(before) && path.endsWith(after),
    );
  return (path, name) => isEntry(path) || (name === 'default' && path.startsWith('src/ext/'));
}

/** The source of a declaration that the package contains: scripts/build-types.mjs writes them in the order of the sources. */
const sourceOf = (types: string): string => types.replace(/^dist\/types\/(.*)\.d\.ts$/, 'src/$1.ts');

type Uses = ReadonlyMap<string, ReadonlySet<string>>;

const isUsed = (uses: Uses, path: string, name: string): boolean =>
  uses.get(path)?.has(name) === true || uses.get(path)?.has('*') === true;

/** Which names of which file are used by the chosen files; names passed on count when the passing file's name is used. */
function usesOf(graph: SourceGraph, chosen: (path: string) => boolean, entered: Entered): Uses {
  const uses = new Map<string, Set<string>>();
  const use = (path: string, name: string): void => {
    const known = uses.get(path) ?? new Set<string>();
    if (known.has(name)) return;
    uses.set(path, known.add(name));
    for (const item of graph.get(path)?.imports ?? []) {
      if (!item.passedOn) continue;
      if (item.names.includes('*') || item.names.includes(name) || name === '*') use(item.from, name);
    }
  };
  for (const file of graph.values()) {
    if (!chosen(file.path)) continue;
    for (const item of file.imports) if (!item.passedOn) for (const name of item.names) use(item.from, name);
    if (entered(file.path, '*')) use(file.path, '*');
  }
  return uses;
}

const isUsedInside = (text: string, name: string): boolean =>
  text.split(new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`)).length > 2;

const isType = (text: string, name: string): boolean =>
  new RegExp(`^export\\s+(?:interface|type)\\s+${name}\\b`, 'm').test(text);
