// The order of the pages: sections of the navigation, and which page comes before and after another one.

import table from './navigation.json' with { type: 'json' };
import { type Language, languageOf, type Source, translationOf } from './sources.ts';

export interface NavSection {
  readonly title: string;
  /** Paths of pages. */
  readonly pages: readonly string[];
}

interface NavTable {
  readonly sections: readonly {
    readonly title: Readonly<Record<Language, string>>;
    readonly pages: readonly string[];
  }[];
}

function expand(pattern: string, paths: readonly string[]): string[] {
  if (!pattern.endsWith('/*')) return paths.includes(pattern) ? [pattern] : [];
  const folder = pattern.slice(0, -1);
  return paths
    .filter((path) => path.startsWith(folder))
    .sort((a, b) => Number(b.endsWith('README.md')) - Number(a.endsWith('README.md')) || (a < b ? -1 : 1));
}

const more: Readonly<Record<Language, string>> = { en: 'More', zh: '其他' };

/** In Chinese a page that is not translated is there in English. Pages that the table does not name come last. */
export function navigationOf(sources: readonly Source[], language: Language): NavSection[] {
  const all = new Set(sources.map(({ path }) => path));
  const english = sources.filter(({ path, under }) => languageOf(path) === 'en' && under === undefined);
  const paths = english.map(({ path }) => path);
  const sections = (table as NavTable).sections.map(({ title, pages }) => ({
    title: title[language],
    pages: pages.flatMap((pattern) => expand(pattern, paths)),
  }));
  const listed = new Set(sections.flatMap(({ pages }) => pages));
  const rest = paths.filter((path) => !listed.has(path));
  const shown = (path: string): string =>
    language === 'zh' && all.has(translationOf(path)) ? translationOf(path) : path;
  return [...sections, { title: more[language], pages: rest }]
    .filter(({ pages }) => pages.length > 0)
    .map(({ title, pages }) => ({ title, pages: pages.map(shown) }));
}
