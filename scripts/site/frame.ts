// The frame around a page: head, navigation, contents of the page, and the way to the neighbours.
import { dirname, relative } from 'node:path';
import { escapeHtml } from './markdown/inline.ts';
import type { Rendered } from './markdown/page.ts';
import type { NavSection } from './navigation.ts';
import { addressOf, type Language, languageOf, originalOf } from './sources.ts';
import { words } from './words.ts';

export interface FramedPage {
  /** The path of its source. */
  readonly path: string;
  readonly page: Rendered;
  /** The page whose place in the navigation it has: its own path, or that of the list it belongs to. */
  readonly place: string;
  /** The same page in the other language. */
  readonly translation: string | undefined;
}

export interface Frame {
  readonly navigation: readonly NavSection[];
  /** Title of each page of the navigation. */
  readonly titles: ReadonlyMap<string, string>;
  readonly version: string;
}

/** Nothing from elsewhere, no script and no style inside the page. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

/** A page links to others by paths relative to itself, so that it works as a file too. */
export const relativeTo = (address: string, target: string): string => relative(dirname(address), target) || '.';

const icons = {
  menu: '<path d="M3 5h14M3 10h14M3 15h14"/>',
  search: '<circle cx="9" cy="9" r="5.5"/><path d="m13 13 4 4"/>',
  theme: '<circle cx="10" cy="10" r="6.5"/><path class="solid" d="M10 3.5a6.5 6.5 0 0 1 0 13z"/>',
};
const icon = (name: keyof typeof icons): string =>
  `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true">${icons[name]}</svg>`;

const logo =
  '<svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><path class="logo-top" d="M16 2 28 9 16 16 4 9z"/><path class="logo-left" d="M4 9 16 16v14L4 23z"/><path class="logo-right" d="M28 9 16 16v14l12-7z"/></svg>';

export function framePage(framed: FramedPage, frame: Frame): string {
  const { path, page } = framed;
  const language = languageOf(path);
  const address = addressOf(path);
  const to = (target: string): string => escapeHtml(relativeTo(address, target));
  const text = words[language];
  const title = page.title === text.name ? text.name : `${page.title} · ${text.name}`;
  const home = language === 'zh' ? 'zh/index.html' : 'index.html';
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}" data-root="${escapeHtml(relativeTo(address, ''))}" data-language="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${to('assets/icon.svg')}">
<link rel="stylesheet" href="${to('assets/site.css')}">
<script src="${to('assets/theme.js')}"></script>
<script src="${to('assets/site.js')}" defer></script>
<script src="${to('assets/search.js')}" defer></script>
</head>
<body>
<a class="skip" href="#text">${text.skip}</a>
<header class="top">
<button type="button" class="menu-button" aria-expanded="false" aria-controls="navigation" aria-label="${text.menu}">${icon('menu')}</button>
<a class="home" href="${to(home)}" aria-label="${text.name}">${logo}<span>Halite</span></a>
<div class="search" role="search">${icon('search')}<input type="search" id="search" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" aria-label="${text.searchHint}" placeholder="${text.searchHint}" autocomplete="off" spellcheck="false" data-none="${text.noResult}"><kbd aria-hidden="true">/</kbd><ul id="found" role="listbox" aria-label="${text.searchHint}" hidden></ul><p class="said" role="status" data-results="${text.results}"></p></div>
${switchHtml(framed, address)}
<button type="button" class="theme-button" aria-label="${text.theme}" title="${text.theme}">${icon('theme')}</button>
</header>
<div class="columns">
<nav id="navigation" class="pages" aria-label="${text.contents}">
${navigationHtml(framed, frame, to)}
</nav>
<main id="text" tabindex="-1">
<article data-copy="${text.copy}" data-copied="${text.copied}">
${page.html}
</article>
${neighboursHtml(framed, frame, to)}
<footer>Halite ${escapeHtml(frame.version)} · Apache-2.0</footer>
</main>
${contentsHtml(page, text.onThisPage)}
</div>
</body>
</html>
`;
}

function switchHtml({ path, translation }: FramedPage, address: string): string {
  const language = languageOf(path);
  const text = words[language];
  const otherHome = language === 'zh' ? 'index.html' : 'zh/index.html';
  const target = translation === undefined ? otherHome : addressOf(translation);
  const other = language === 'zh' ? 'en' : 'zh-CN';
  return `<a class="language" lang="${other}" hreflang="${other}" href="${escapeHtml(relativeTo(address, target))}" title="${text.otherLanguage}">${text.other}</a>`;
}

type Link = (target: string) => string;

function navigationHtml({ path, place }: FramedPage, { navigation, titles }: Frame, to: Link): string {
  const language = languageOf(path);
  return navigation
    .map(({ title, pages }) => {
      const open = pages.includes(place) ? ' open' : '';
      const links = pages.map((page) => `<li>${navigationLink(page, page === place, titles, to, language)}</li>`);
      return `<details${open}><summary>${escapeHtml(title)}</summary>\n<ul>\n${links.join('\n')}\n</ul></details>`;
    })
    .join('\n');
}

function navigationLink(page: string, here: boolean, titles: Frame['titles'], to: Link, language: Language): string {
  const foreign = languageOf(page) === language ? '' : ` lang="en" hreflang="en" class="foreign"`;
  const title = escapeHtml(titles.get(page) ?? originalOf(page));
  return `<a href="${to(addressOf(page))}"${here ? ' aria-current="page"' : ''}${foreign}>${title}</a>`;
}

function neighboursHtml({ path, place }: FramedPage, { navigation, titles }: Frame, to: Link): string {
  const text = words[languageOf(path)];
  const pages = navigation.flatMap((section) => section.pages);
  const at = pages.indexOf(place);
  if (at < 0 || path !== place) return '';
  const link = (page: string | undefined, rel: 'prev' | 'next', label: string): string =>
    page === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${to(addressOf(page))}"><small>${label}</small>${escapeHtml(titles.get(page) ?? page)}</a>`;
  return `<nav class="neighbours" aria-label="${text.previous}, ${text.next}">${link(pages[at - 1], 'prev', text.previous)}${link(pages[at + 1], 'next', text.next)}</nav>`;
}

/** Long lists of headings would not be read: of these only the second level is shown. */
function contentsHtml({ headings }: Rendered, title: string): string {
  const some = headings.filter(({ level }) => level === 2 || level === 3);
  const shown = some.length > 40 ? some.filter(({ level }) => level === 2) : some;
  if (shown.length < 2) return '<div class="contents"></div>';
  const links = shown.map(
    ({ level, title: name, anchor }) => `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(name)}</a></li>`,
  );
  return `<nav class="contents" aria-label="${title}"><p>${title}</p><ul>\n${links.join('\n')}\n</ul></nav>`;
}
