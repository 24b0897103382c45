// Exports that no other file of the product uses. A name that only tests use is dead code with a test.
import { isTestFile, type SourceGraph } from './source-graph.ts';

/** Entered from outside: by the build, by users' extensions, or by the generated tables of built-in extensions. */
const entries = [/^src\/extend\/sdk\/index\.ts$/, /^src\/ext\/[^/]+\//, /^src\/cli\/[^/]+\.ts$/, /^scripts\//];

export interface UnusedExport {
  readonly path: string;
  readonly name: string;
  /** Tests use it: they test what does not run. */
  readonly testsOnly: boolean;
}

export function unusedExports(graph: SourceGraph): UnusedExport[] {
  const used = usesOf(graph, (path) => !isTestFile(path));
  const tested = usesOf(graph, isTestFile);
  const found: UnusedExport[] = [];
  for (const { path, exports, text } of graph.values()) {
    if (isTestFile(path) || path.endsWith('.gen.ts') || entries.some((entry) => entry.test(path))) continue;
    if (!path.startsWith('src/')) continue;
    for (const name of exports) {
      if (isUsed(used, path, name)) continue;
      const testsOnly = isUsed(tested, path, name);
      // A type that names the parameters of an exported function is part of it.
      if (!testsOnly && isPartOfSignature(text, name)) continue;
      found.push({ path, name, testsOnly });
    }
  }
  return found.sort((a, b) => a.path.localeCompare(b.path) || a.name.localeCompare(b.name));
}

type Uses = ReadonlyMap<string, ReadonlySet<string>>;

const isUsed = (uses: Uses, path: string, name: string): boolean =>
  uses.get(path)?.has(name) === true || uses.get(path)?.has('*') === true;

/** Which names of which file are used by the chosen files; names passed on count when the passing file's name is used. */
function usesOf(graph: SourceGraph, chosen: (path: string) => boolean): Uses {
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
  }
  for (const file of graph.values())
    if (entries.some((entry) => entry.test(file.path)) && chosen(file.path)) use(file.path, '*');
  return uses;
}

function isPartOfSignature(text: string, name: string): boolean {
  const isType = new RegExp(`^export\\s+(?:interface|type)\\s+${name}\\b`, 'm').test(text);
  return isType && text.split(new RegExp(`\\b${name}\\b`)).length > 2;
}
