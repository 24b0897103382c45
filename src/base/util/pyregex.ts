// Python's `re` syntax as JavaScript expressions, so that patterns written for Salt keep their meaning.
import { HaliteError } from '../errors/index.ts';
import { translatePython } from './pyregex-translate.ts';

const MAX_CACHED = 1000;
const MAX_LENGTH = 16384;
const compiled = new Map<string, RegExp>();

/** For re.match: anchored at the start. */
export function pyRegex(pattern: string, flags = ''): RegExp {
  return compile(pattern, flags, '^(?:', ')');
}

/** For re.search: finds the pattern anywhere. `flags` are Python's letters (`i`, `m`, `s`, `x`, `a`). */
export function pyRegexSearch(pattern: string, flags = ''): RegExp {
  return compile(pattern, flags, '', '');
}

/** For re.fullmatch: anchored at both ends. */
export function pyRegexFull(pattern: string, flags = ''): RegExp {
  return compile(pattern, flags, '^(?:', ')$');
}

function compile(pattern: string, flags: string, before: string, after: string): RegExp {
  const key = `${flags}/${before}/${after}/${pattern}`;
  const known = compiled.get(key);
  if (known) return known;
  if (pattern.length > MAX_LENGTH) throw new HaliteError('codec.limit', 'A regular expression is too long');
  const { source, ignoreCase } = translatePython(pattern, flags);
  let made: RegExp;
  try {
    made = new RegExp(before + source + after, ignoreCase ? 'vi' : 'v');
  } catch (cause) {
    throw new HaliteError('codec.malformed', `The regular expression ${JSON.stringify(pattern)} is not valid`, {
      cause,
    });
  }
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(key, made);
  return made;
}

/** Whether an expression matches all of a text; one that is wrong matches nothing. */
export function matchesWhole(text: string, expression: string): boolean {
  try {
    return pyRegexFull(expression).test(text);
  } catch {
    return false;
  }
}
