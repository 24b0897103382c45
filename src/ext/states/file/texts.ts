// Text that states add to files: given in the state or rendered from templates, and the change it makes.

import { pyStr, type StateContext, type StateResult, type Value } from 'halite/sdk';
import { readFileSync } from 'halite/sdk/fs';
import { lines, pyEscape, unifiedDiff } from 'halite/sdk/text';
import { exists } from '../../shared/file/facts.ts';
import { looksLikeText } from '../../shared/file/looks-like-text.ts';
import { renderFile, templateVariables } from '../../shared/file/template.ts';

export interface TextSources {
  readonly source: Value;
  readonly source_hash: Value;
  readonly sources: Value;
  readonly source_hashes: Value;
  readonly template: Value;
  readonly defaults: Value;
  readonly context: Value;
}

const list = (value: Value): Value[] => (Array.isArray(value) ? value : value === null ? [] : [value]);

export function sourcesProblem(args: TextSources): string | undefined {
  if (args.source && list(args.sources).length > 0) return 'source and sources are mutually exclusive';
  if (args.source_hash && list(args.source_hashes).length > 0)
    return 'source_hash and source_hashes are mutually exclusive';
  return undefined;
}

/** The rendered texts of all sources; undefined when there are no sources. */
export async function sourceTexts(args: TextSources, ctx: StateContext): Promise<string[] | StateResult | undefined> {
  const sources = args.source ? [args.source] : list(args.sources);
  if (sources.length === 0) return undefined;
  const found: string[] = [];
  for (const source of sources.map(pyStr)) {
    const path = await ctx.files.cacheFile(source, { saltenv: ctx.saltenv });
    if (!path) return ctx.fail(`Failed to load template file ${source}`, { name: source, data: [] });
    const request = {
      engine: pyStr(args.template ?? 'jinja'),
      variables: templateVariables(args.defaults, args.context),
    };
    const made = await renderFile(path, request, ctx);
    if ('problem' in made) return ctx.fail(made.problem, { name: source, data: [] });
    if (made.bytes.length === 0)
      return ctx.fail(`Failed to read rendered template file ${path} (${source})`, { name: source, data: [] });
    found.push(made.bytes.toString('utf8'));
  }
  return found;
}

/** An error that prevents editing a file; undefined when there is none. */
export function fileProblem(name: string): string | undefined {
  if (!name.startsWith('/')) return `Specified file ${name} is not an absolute path`;
  return exists(name) ? undefined : `${name}: file not found`;
}

/** Splits a line like Python's shlex in non-POSIX mode: quotes keep words together and are preserved. */
function wordsOf(line: string): string[] {
  const quotes = line.includes(`'\\"`) ? '' : line.includes("'") ? '"' : line.includes('"') ? "'" : `'"`;
  const found: string[] = [];
  let word = '';
  let open = '';
  for (const char of line) {
    if (open) {
      word += char;
      if (char === open) open = '';
    } else if (/[ \t\r\n]/.test(char)) {
      if (word) found.push(word);
      word = '';
    } else {
      if (quotes.includes(char)) open = char;
      word += char;
    }
  }
  if (word) found.push(word);
  return found;
}

/** A regular expression that matches the text with any white space between its words. */
export function spacelessPattern(text: string): string {
  const gap = '(?:[\\s]+)?';
  return `(?m)^${lines(text)
    .map((line) => `${gap}${wordsOf(line).map(pyEscape).join(gap)}${gap}`)
    .join('')}$`;
}

/** The difference of two versions of a file, or a note about binary content. */
export function shownDiff(path: string, before: readonly string[], after: readonly string[]): string {
  if (!looksLikeText(readFileSync(path))) return 'Replace binary file';
  return unifiedDiff(before, after);
}
