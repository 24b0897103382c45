// The part of docs/architecture.md about allowed imports, generated from scripts/architecture.json.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Rules, readRules } from '../check/architecture.ts';

export const architecturePage = 'docs/architecture.md';
const begin = '<!-- Generated from scripts/architecture.json by `npm run docs`: begin -->';
const end = '<!-- end -->';

/** The page with its generated part renewed; undefined when there is no page. */
export function renderArchitecturePage(root: string): string | undefined {
  const file = join(root, architecturePage);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) return undefined;
  return `${before}${begin}\n${importRules(readRules(root))}\n${end}${after}`;
}

function importRules({ modules: listed, libraries }: Rules): string {
  // Extensions import the SDK by its name, as those of users do; a separate rule checks that.
  const modules = { ...listed, ext: [...(listed['ext'] ?? []), 'extend/sdk'] };
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  return [
    '```mermaid',
    'flowchart TD',
    ...layerEdges(modules).map(
      ([from, to]) => `  ${from.replace('/', '_')}["${from}"] --> ${to.replace('/', '_')}["${to}"]`,
    ),
    '```',
    '',
    'An arrow leads to what may be imported; what follows from other arrows is left out.',
    '',
    '| Module | May import |',
    '| --- | --- |',
    ...Object.entries(modules).map(([name, allowed]) => `| \`${name}\` | ${code(allowed) || 'nothing'} |`),
    '',
    '| Library | May be imported by |',
    '| --- | --- |',
    ...Object.entries(libraries).map(([name, allowed]) => `| \`${name}\` | ${code(allowed)} |`),
  ].join('\n');
}

/** Folders that are drawn as one box. */
const boxOf = (name: string): string => (/^(base|protocol|engine)\b/.test(name) ? name.split('/')[0]! : name);

function layerEdges(modules: Rules['modules']): [string, string][] {
  const boxes = new Map<string, Set<string>>();
  for (const [name, allowed] of Object.entries(modules)) {
    const from = boxOf(name);
    const to = boxes.get(from) ?? new Set<string>();
    for (const target of allowed.flatMap((prefix) =>
      Object.keys(modules).filter((one) => one === prefix || one.startsWith(`${prefix}/`)),
    ))
      if (boxOf(target) !== from) to.add(boxOf(target));
    boxes.set(from, to);
  }
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    !seen.has(from) && [...(boxes.get(from) ?? [])].some((next) => next === to || reaches(next, to, seen.add(from)));
  return [...boxes].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)))
      .sort()
      .map((to): [string, string] => [from, to]),
  );
}
