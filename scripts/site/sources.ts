// The pages of the site: those of the repository, and those that are made from the code. Where each of them will be.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pagesBelow } from '../check/doc-links.ts';

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];

export interface Source {
  /** The path in the repository; the same form for pages that are made. */
  readonly path: string;
  readonly markdown: string;
  /** Made from the code: there is no file. */
  readonly made?: boolean;
  /** Listed on a page of its own instead of in the navigation: functions of a module. */
  readonly under?: string;
}

export const languageOf = (path: string): Language => (path.startsWith('docs/zh/') ? 'zh' : 'en');

/** The English page of a Chinese one, which has the same name: `docs/zh/guide/install.md`. */
export const originalOf = (path: string): string =>
  path === 'docs/zh/README.md' ? 'README.md' : path.replace(/^docs\/zh\//, 'docs/');

export const translationOf = (path: string): string =>
  path === 'README.md' ? 'docs/zh/README.md' : path.replace(/^docs\//, 'docs/zh/');

/** Pages at the top that would have the name of another one. */
const renamed: Readonly<Record<string, string>> = { 'SECURITY.md': 'reporting-vulnerabilities.html' };

/** `docs/guide/jobs.md` → `guide/jobs.html`; README.md is the page of its folder. */
export function addressOf(path: string): string {
  const known = renamed[path];
  if (known !== undefined) return known;
  const name = path.replace(/^docs\//, '').replace(/\.md$/, '.html');
  return path.startsWith('docs/')
    ? name.replace(/README\.html$/, 'index.html')
    : name.toLowerCase().replace('readme', 'index').replaceAll('_', '-');
}

export function sourcesIn(root: string): Source[] {
  return pagesBelow(root)
    .filter((path) => !path.startsWith('.github/'))
    .map((path) => ({ path, markdown: readFileSync(join(root, path), 'utf8') }));
}

/** The path that a link of a page means; undefined for an address elsewhere. */
export function linkedPath(page: string, target: string): { path: string; anchor: string } | undefined {
  if (/^[a-z]+:/i.test(target)) return undefined;
  const [file = '', anchor = ''] = target.split('#');
  const path = file === '' ? page : join(dirname(page), file).replace(/\/$/, '');
  return { path, anchor };
}

export const isFile = (root: string, path: string): boolean => existsSync(join(root, path));
