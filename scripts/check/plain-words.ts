// Names and comments in words that a stranger understands: the list contains replaced words, and their replacements.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pagesBelow } from './doc-links.ts';
import { readTree } from './source-graph.ts';

interface WordList {
  readonly words: Readonly<Record<string, string>>;
  /** Path → words that have another meaning there; `*` for all. */
  readonly allowed: Readonly<Record<string, readonly string[]>>;
}

export function findOddWords(root: string): string[] {
  const file = join(root, 'scripts/check/plain-words.json');
  if (!existsSync(file)) return [];
  const { words, allowed } = JSON.parse(readFileSync(file, 'utf8')) as WordList;
  const breaches: string[] = [];
  const look = (path: string, text: string): void => {
    const fine = allowed[path] ?? [];
    for (const word of oddWords(text, words))
      if (!fine.includes('*') && !fine.includes(word)) breaches.push(`${path}: "${word}"; say ${words[word]}`);
  };
  for (const { path, text } of readTree(root).values()) if (!path.endsWith('.gen.ts')) look(path, text);
  for (const page of pagesBelow(root))
    if (!page.startsWith('docs/adr/') && page !== 'CHANGELOG.md') look(page, readFileSync(join(root, page), 'utf8'));
  return breaches;
}

/** Single words are also found inside identifiers: `checkName` contains the word `name`. Phrases are found as text. */
function oddWords(text: string, words: WordList['words']): string[] {
  const single = new Set(Object.keys(words).filter((word) => /^[a-z]+$/.test(word)));
  const found = new Set(
    (text.match(/[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase()).filter((word) => single.has(word)),
  );
  for (const name of Object.keys(words))
    if (!single.has(name) && new RegExp(`\\b${name}\\b`).test(text)) found.add(name);
  return [...found];
}
