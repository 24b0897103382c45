// What the search knows: the sections of all pages of a language, as a script, because a page that is a file may not
// fetch anything.
import type { Rendered } from './markdown/page.ts';
import { addressOf, type Language } from './sources.ts';

/** Title of the page, its address, and its sections: title, anchor, text. */
type Entry = readonly [string, string, readonly (readonly [string, string, string])[]];

/** Of a section no more than this is searched; of the many made pages, what the functions are, not each parameter. */
const longest = 4000;
const longestBrief = 160;

interface SearchedPage {
  readonly path: string;
  readonly page: Rendered;
  readonly brief: boolean;
}

export function searchScript(language: Language, pages: readonly SearchedPage[]): string {
  const entries: Entry[] = pages.map(({ path, page, brief }) => [
    page.title,
    addressOf(path),
    page.sections.map(({ heading, text }) => [
      heading.title,
      heading.level === 1 ? '' : heading.anchor,
      text.slice(0, brief ? longestBrief : longest),
    ]),
  ]);
  const name = JSON.stringify(language);
  return `(globalThis.halitePages ??= {})[${name}] = ${JSON.stringify(entries)};\n`;
}
