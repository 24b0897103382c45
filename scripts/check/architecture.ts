// Compares the imports below src/ with architecture.json: forbidden edges, misplaced libraries, modules that do not
// exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isTestFile } from './source-graph.ts';

export interface Rules {
  readonly modules: Readonly<Record<string, readonly string[]>>;
  readonly libraries: Readonly<Record<string, readonly string[]>>;
  /** What extensions may use in addition to the SDK: parts of Node that only compute or connect. */
  readonly extensions: { readonly node: readonly string[] };
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

/** Every violation as one line; empty when there is none. Tests may import everything, code shared by tests may not. */
export function findForbiddenImports(root: string): string[] {
  const rules = readRules(root);
  const src = join(root, 'src');
  const missing = Object.keys(rules.modules)
    .filter((name) => !existsSync(join(src, name)))
    .map((name) => `scripts/architecture.json: there is no module ${name}`);
  const breaches = sourceFiles(root).flatMap((file) => {
    const name = relative(root, file);
    const from = moduleOf(relative(src, file), rules);
    if (!from) return [`${name}: belongs to no module of architecture.json`];
    if (name.endsWith('.test.ts')) return [];
    return importsOf(readFileSync(file, 'utf8')).flatMap(({ specifier }) => {
      const breach = problemOf(relative(src, file), from, specifier, rules);
      return breach ? [`${name}: ${breach}`] : [];
    });
  });
  return [...missing, ...breaches, ...consoleBreaches(root, rules)];
}

/** The console runs in browsers: its files import each other and the libraries that are allowed there, nothing else. */
function consoleBreaches(root: string, { libraries }: Rules): string[] {
  const folder = join(root, 'console');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
    .flatMap((path) =>
      importsOf(readFileSync(join(root, path), 'utf8'))
        .filter(({ specifier }) =>
          specifier.startsWith('.')
            ? !join(dirname(path), specifier).startsWith('console/')
            : !libraries[specifier]?.includes('console'),
        )
        .map(({ specifier }) => `${path}: imports ${specifier}, which is not allowed here`),
    );
}

function problemOf(path: string, from: string, specifier: string, rules: Rules): string | undefined {
  // Which files may import the SDK by its name is a separate rule: extension-imports.ts.
  if (specifier.startsWith('node:') || (from === 'ext' && /^halite\/sdk(\/|$)/.test(specifier))) return undefined;
  if (specifier === 'halite/testing' && isTestFile(path)) return undefined;
  if (!specifier.startsWith('.')) {
    const allowed = rules.libraries[specifier];
    return allowed && allows(allowed, from) ? undefined : `imports ${specifier}, which is not allowed here`;
  }
  const target = moduleOf(join(dirname(path), specifier), rules);
  if (!target) return `imports ${specifier}, which is outside src/`;
  if (target === from || allows(rules.modules[from] ?? [], target)) return undefined;
  return `${from} must not import ${target} (${specifier})`;
}
