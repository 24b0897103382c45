// Checks that links, anchors and repository paths in pages exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchorMaker } from '../site/markdown/anchors.ts';

/** Records of past decisions: their links work, but the code that they describe may have moved. */
const isHistory = (page: string): boolean => page.startsWith('docs/adr/') || page === 'CHANGELOG.md';

export function findBrokenLinks(root: string): string[] {
  const pages = pagesBelow(root);
  const anchors = new Map(pages.map((page) => [page, anchorsOf(readFileSync(join(root, page), 'utf8'))]));
  const breaches: string[] = [];
  for (const page of pages) {
    const text = withoutCode(readFileSync(join(root, page), 'utf8'));
    for (const target of linksIn(text)) {
      const breach = checkLink(root, page, target, anchors);
      if (breach) breaches.push(`${page}: ${breach}`);
    }
    if (isHistory(page)) continue;
    for (const path of pathsIn(text))
      if (!existsSync(join(root, path))) breaches.push(`${page}: names ${path}, which does not exist`);
  }
  return breaches;
}

export function pagesBelow(root: string): string[] {
  const below = (folder: string): string[] =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
          .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      : [];
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...top, ...below('docs'), ...below('.github')].sort();
}

/** Blocks of code and mermaid pictures are not prose: brackets there are not links. */
const withoutCode = (text: string): string => text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '');

function linksIn(text: string): string[] {
  return [...text.replace(/`[^`\n]*`/g, '').matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)].map((match) => match[1]!);
}

/** `src/base/util/jid.ts`, `scripts/prepare/`: in backticks, without patterns and placeholders. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`((?:src|scripts|test|docs|bin)\/[\w./@-]*)`/g)].map((match) => match[1]!);
}

/** The anchors that GitHub generates for headings, and explicit ones. */
function anchorsOf(text: string): Set<string> {
  const anchorOf = anchorMaker();
  const anchors = new Set<string>();
  for (const [, heading] of withoutCode(text).matchAll(/^#{1,6}\s+(.*)$/gm)) anchors.add(anchorOf(heading!));
  for (const [, name] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(name!);
  return anchors;
}

function checkLink(
  root: string,
  page: string,
  target: string,
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (file.startsWith('..')) return `links to ${target}, which is outside the repository`;
  if (!existsSync(join(root, file))) return `links to ${target}, which does not exist`;
  if (anchor && anchors.get(file)?.has(anchor) === false) return `links to ${target}: no such heading`;
  return undefined;
}
