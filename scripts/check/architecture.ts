// Compares the imports below src/ with architecture.json: forbidden edges, cycles, misplaced libraries.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface Rules {
  readonly modules: Readonly<Record<string, readonly string[]>>;
  readonly libraries: Readonly<Record<string, readonly string[]>>;
}
interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

export function readRules(root: string): Rules {
  return JSON.parse(readFileSync(join(root, 'scripts/architecture.json'), 'utf8')) as Rules;
}

export function sourceFiles(root: string): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const importPattern =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

export function importsOf(text: string): Import[] {
  const found: Import[] = [];
  for (const match of text.matchAll(importPattern)) {
    const specifier = match[2] ?? match[3];
    if (specifier) found.push({ specifier, typeOnly: Boolean(match[1]) });
  }
  return found;
}

/** The module of a path below src/. */
export function moduleOf(path: string, rules: Rules): string | undefined {
  let best: string | undefined;
  for (const name of Object.keys(rules.modules)) {
    if ((path === name || path.startsWith(`${name}/`)) && name.length > (best?.length ?? -1)) best = name;
  }
  return best;
}

const allows = (allowed: readonly string[], target: string): boolean =>
  allowed.some((name) => target === name || target.startsWith(`${name}/`));

/** Every breach as one line; empty when the tree is sound. */
export function findForbiddenImports(root: string): string[] {
  const rules = readRules(root);
  const src = join(root, 'src');
  const breaches: string[] = [];
  const edges = new Map<string, Set<string>>();
  for (const file of sourceFiles(root)) {
    const name = relative(root, file);
    const from = moduleOf(relative(src, file), rules);
    if (!from) {
      breaches.push(`${name}: belongs to no module of architecture.json`);
      continue;
    }
    if (name.endsWith('.test.ts') || name.includes('/testing')) continue;
    for (const { specifier } of importsOf(readFileSync(file, 'utf8'))) {
      const breach = checkImport(relative(src, file), from, specifier, rules, edges);
      if (breach) breaches.push(`${name}: ${breach}`);
    }
  }
  return [...breaches, ...findCycles(edges)];
}

function checkImport(
  path: string,
  from: string,
  specifier: string,
  rules: Rules,
  edges: Map<string, Set<string>>,
): string | undefined {
  if (specifier.startsWith('node:') || /^halite\/sdk(\/|$)/.test(specifier)) return undefined;
  if (!specifier.startsWith('.')) {
    const allowed = rules.libraries[specifier];
    return allowed?.some((name) => from === name || from.startsWith(`${name}/`))
      ? undefined
      : `imports ${specifier}, which is not allowed here`;
  }
  const target = moduleOf(join(dirname(path), specifier), rules);
  if (!target) return `imports ${specifier}, which is outside src/`;
  if (target === from) return undefined;
  if (!allows(rules.modules[from] ?? [], target)) return `${from} must not import ${target} (${specifier})`;
  const known = edges.get(from) ?? new Set<string>();
  edges.set(from, known.add(target));
  return undefined;
}

/** Layer 0 helps itself both ways (util ↔ codec); between everything else a cycle is a breach. */
function findCycles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const ground = new Set(['base/util', 'base/codec', 'base/errors']);
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): void => {
    const seen = path.indexOf(node);
    if (seen >= 0) {
      const cycle = path.slice(seen);
      if (!cycle.every((name) => ground.has(name))) cycles.push(`cycle: ${[...cycle, node].join(' → ')}`);
      return;
    }
    if (done.has(node)) return;
    for (const next of edges.get(node) ?? []) walk(next, [...path, node]);
    done.add(node);
  };
  for (const node of edges.keys()) walk(node, []);
  return cycles;
}
