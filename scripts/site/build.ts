// Builds the site: reads the pages, renders them, checks their links, writes the files.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkLinks } from './check-links.ts';
import { framePage, relativeTo } from './frame.ts';
import { type Rendered, renderPage } from './markdown/page.ts';
import { navigationOf } from './navigation.ts';
import { commandPages } from './reference/command-pages.ts';
import { modulePages } from './reference/module-pages.ts';
import { searchScript } from './search-index.ts';
import {
  addressOf,
  languageOf,
  languages,
  linkedPath,
  originalOf,
  type Source,
  sourcesIn,
  translationOf,
} from './sources.ts';

export interface Site {
  /** Address → content. */
  readonly files: ReadonlyMap<string, string>;
  /** Files of the repository that pages show or link to: address → path. */
  readonly copies: ReadonlyMap<string, string>;
  /** Dead links, and what pages would load from elsewhere. */
  readonly problems: readonly string[];
}

const assets = ['site.css', 'theme.js', 'site.js', 'search.js'];

export async function makeSite(root: string): Promise<Site> {
  const sources = [...sourcesIn(root), ...commandPages(), ...(await modulePages(root))];
  const { pages, copies } = render(root, sources);
  const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
  const titles = new Map([...pages].map(([path, { title }]) => [path, title]));
  const files = new Map<string, string>();
  const navigation = { en: navigationOf(sources, 'en'), zh: navigationOf(sources, 'zh') };
  for (const { path, under } of sources) {
    const language = languageOf(path);
    const other = language === 'zh' ? originalOf(path) : translationOf(path);
    const frame = { navigation: navigation[language], titles, version };
    const translation = pages.has(other) ? other : undefined;
    files.set(addressOf(path), framePage({ path, page: pages.get(path)!, place: under ?? path, translation }, frame));
  }
  for (const language of languages) {
    const own = sources.filter(({ path }) => languageOf(path) === language);
    const entries = own.map(({ path, made }) => ({ path, page: pages.get(path)!, brief: made === true }));
    files.set(`assets/search-${language}.js`, searchScript(language, entries));
  }
  for (const name of assets) files.set(`assets/${name}`, readFileSync(join(root, 'scripts/site/assets', name), 'utf8'));
  copies.set('assets/icon.svg', 'console/style/icon.svg');
  return { files, copies, problems: checkLinks(files, copies) };
}

/** All pages as HTML. Links to pages become links to their addresses; to other files, links to copies of them. */
function render(
  root: string,
  sources: readonly Source[],
): { pages: Map<string, Rendered>; copies: Map<string, string> } {
  const known = new Set(sources.map(({ path }) => path));
  const pages = new Map<string, Rendered>();
  const copies = new Map<string, string>();
  for (const { path, markdown } of sources) {
    const from = addressOf(path);
    const copy = (file: string): string => {
      const address = `files/${file.replace(/^docs\//, '')}`;
      copies.set(address, file);
      return relativeTo(from, address);
    };
    const link = (target: string): string | undefined => {
      const linked = linkedPath(path, target);
      if (!linked) return /^(?:https?|mailto):/.test(target) ? target : undefined;
      const page = [linked.path, join(linked.path, 'README.md'), folders[linked.path] ?? ''].find((each) =>
        known.has(each),
      );
      const end = linked.anchor === '' ? '' : `#${linked.anchor}`;
      if (page !== undefined) return target.startsWith('#') ? target : relativeTo(from, addressOf(page)) + end;
      const file = join(root, linked.path);
      return existsSync(file) && statSync(file).isFile() ? copy(linked.path) : undefined;
    };
    const image = (target: string): string => copy(linkedPath(path, target)?.path ?? target);
    pages.set(path, renderPage(markdown, { link, image }));
  }
  return { pages, copies };
}

/** Folders without a page of their own. */
const folders: Readonly<Record<string, string>> = { 'docs/reference': 'docs/reference/commands.md' };

export function writeSite(root: string, folder: string, { files, copies }: Site): void {
  const written = [...files.keys(), ...copies.keys()];
  const marker = join(folder, '.halite-site');
  // Only what an earlier build wrote is removed: the folder may have been named by mistake.
  if (existsSync(marker))
    for (const old of readFileSync(marker, 'utf8').split('\n'))
      if (old !== '') rmSync(join(folder, old), { force: true });
  for (const name of written) mkdirSync(dirname(join(folder, name)), { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  for (const [name, path] of copies) copyFileSync(join(root, path), join(folder, name));
  writeFileSync(marker, `${written.join('\n')}\n`);
}
