// The source tree as a graph: which file exports which names, and which file imports them. Parsed as text: the
// formatter keeps it regular.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface ImportedNames {
  /** Path below the root. */
  readonly from: string;
  /** `*` for a namespace or a dynamic import: every name counts as used. */
  readonly names: readonly string[];
  readonly typeOnly: boolean;
  /** `export … from`: the names are re-exported, not used here. */
  readonly passedOn: boolean;
  readonly dynamic: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly exports: readonly string[];
  readonly imports: readonly ImportedNames[];
}

export type SourceGraph = ReadonlyMap<string, SourceFile>;

const declaration =
  /^export\s+(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+([A-Za-z_$][\w$]*)/gm;
const namedExport = /^export\s+(?:type\s+)?\{([^}]*)\}\s*;/gm;
const defaultExport = /^export\s+default\s/m;
const fromClause =
  /^(import|export)\s+(type\s+)?(?:(\*)(?:\s+as\s+[\w$]+)?|([\w$]+)?\s*,?\s*(?:\{([^}]*)\})?)\s*from\s+['"]([^'"]+)['"]/gm;
const dynamicImport = /\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/g;

/** `a`, `type b` and `c as d` of a list in braces: the name at its origin. */
function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim().replace(/^type\s+/, ''))
    .filter((part) => part !== '')
    .map((part) => part.split(/\s+as\s+/)[0]!);
}

function isTypeOnly(list: string | undefined, keyword: string | undefined): boolean {
  if (keyword) return true;
  const parts = (list ?? '').split(',').filter((part) => part.trim() !== '');
  return parts.length > 0 && parts.every((part) => part.trim().startsWith('type '));
}

export function readSource(path: string, text: string): SourceFile {
  const exported = new Set<string>();
  for (const [, name] of text.matchAll(declaration)) exported.add(name!);
  const addList = (list: string): void => {
    for (const part of list.split(',')) {
      const name = part
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+/)
        .at(-1);
      if (name) exported.add(name);
    }
  };
  for (const [, list] of text.matchAll(namedExport)) addList(list!);
  if (defaultExport.test(text)) exported.add('default');
  const imports: ImportedNames[] = [];
  const at = (specifier: string): string => join(dirname(path), specifier);
  for (const [, verb, type, star, single, list, specifier] of text.matchAll(fromClause)) {
    if (verb === 'export') addList(list ?? '');
    if (!specifier!.startsWith('.')) continue;
    imports.push({
      from: at(specifier!),
      names: star ? ['*'] : [...(single ? ['default'] : []), ...namesIn(list ?? '')],
      typeOnly: isTypeOnly(list, type),
      passedOn: verb === 'export',
      dynamic: false,
    });
  }
  for (const [, specifier] of text.matchAll(dynamicImport))
    imports.push({ from: at(specifier!), names: ['*'], typeOnly: false, passedOn: false, dynamic: true });
  return { path, text, exports: [...exported], imports };
}

const trees = new Map<string, SourceGraph>();

/** The tree below a root, read once: all rules of one run see the same files. */
export function readTree(root: string): SourceGraph {
  const known = trees.get(root);
  if (known) return known;
  const graph = new Map<string, SourceFile>();
  for (const folder of ['src', 'console', 'test', 'scripts']) {
    if (!existsSync(join(root, folder))) continue;
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(tsx?|mjs)$/.test(entry.name)) continue;
      const path = relative(root, join(entry.parentPath, entry.name));
      graph.set(path, readSource(path, readFileSync(join(root, path), 'utf8')));
    }
  }
  trees.set(root, graph);
  return graph;
}

/** Tests and files that only tests use: their imports do not make an export used. */
export const isTestFile = (path: string): boolean =>
  /\.test\.ts$/.test(path) || path.startsWith('test/') || /(^|\/)_?testing(\/|\.ts$|-)/.test(path);
