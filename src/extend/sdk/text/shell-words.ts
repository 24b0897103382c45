// Splits a command line into words as a POSIX shell does (Python's shlex), without running anything.
import { pythonError } from '../errors.ts';

/** The words of a command line; quotes and backslashes are processed, nothing is expanded. */
export function shellSplit(text: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (quote === "'") {
      if (char === "'") quote = '';
      else word += char;
    } else if (quote === '"') {
      if (char === '"') quote = '';
      else if (char === '\\' && (text[i + 1] === '"' || text[i + 1] === '\\')) word += text.charAt(++i);
      else word += char;
    } else if (/\s/.test(char)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else {
      word ??= '';
      if (char === "'" || char === '"') quote = char;
      else if (char === '\\') {
        if (i + 1 >= text.length) throw pythonError('ValueError', 'No escaped character');
        word += text.charAt(++i);
      } else word += char;
    }
  }
  if (quote) throw pythonError('ValueError', 'No closing quotation');
  if (word !== undefined) found.push(word);
  return found;
}

/** One word, quoted so that a shell reads it back unchanged (Python's shlex.quote). */
export function shellQuote(word: string): string {
  if (word === '') return "''";
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
