// Python's `re` syntax as JavaScript expressions, so that patterns written for Salt keep their meaning.
// For trusted patterns on trusted texts: where either comes from a minion or a limited user, see bounded-regex.ts.
import { HaliteError } from '../errors/index.ts';
import { type BoundedRegex, boundedRegex } from './bounded-regex.ts';
import { parsePython } from './regex/parse.ts';
import { writeJs } from './regex/to-js.ts';

const maxCached = 1000;
const maxLength = 16384;
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
  if (pattern.length > maxLength) throw new HaliteError('codec.limit', 'A regular expression is too long');
  const parsed = parsePython(pattern, flags);
  let made: RegExp;
  try {
    made = new RegExp(before + writeJs(parsed) + after, parsed.ignoreCase ? 'vi' : 'v');
  } catch (cause) {
    throw new HaliteError('codec.malformed', `The regular expression ${JSON.stringify(pattern)} is not valid`, {
      cause,
    });
  }
  if (compiled.size >= maxCached) compiled.clear();
  compiled.set(key, made);
  return made;
}

/**
 * Whether an expression matches the whole text; an invalid one matches nothing. For rules of the administrator on
 * untrusted names: throws CostError instead of taking long, so that neither permission nor refusal is guessed.
 */
export function matchesWhole(text: string, expression: string): boolean {
  let regex: BoundedRegex;
  try {
    regex = boundedRegex(expression, 'full');
  } catch {
    return false;
  }
  return regex.test(text);
}
