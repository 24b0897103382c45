// Filters and the test on regular expressions, with Python's pattern and replacement syntax.
import { HaliteError } from '../../../../base/errors/index.ts';
import { pyRegex, pyRegexSearch } from '../../../../base/util/index.ts';
import { indexError, PyError, typeError } from '../errors.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { truth } from '../runtime/iterate.ts';
import { escapeHtml, Markup, textOf } from '../runtime/markup.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { type PyValue, typeName } from '../runtime/value.ts';

/** Compiles a pattern, with failures as Python's `re.error`. */
function compile(make: (pattern: string, flags: string) => RegExp, pattern: PyValue, flags: string): RegExp {
  const text = textOf(pattern);
  if (text === undefined) throw typeError('first argument must be string or compiled pattern');
  try {
    return make(text, flags);
  } catch (error) {
    if (!(error instanceof HaliteError)) throw error;
    const why = /not valid: (.*) at character/s.exec(error.message)?.[1] ?? error.message;
    const at = error.details['at'];
    if (typeof at !== 'number') throw new PyError('error', why);
    throw new PyError('error', `${why} at position ${/unterminated/.test(why) ? openedAt(text, why) : at}`);
  }
}

/** Where Python sees an unclosed set or group begin. */
function openedAt(pattern: string, why: string): number {
  const open: number[] = [];
  let set = -1;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '\\') at += 1;
    else if (set >= 0) {
      if (char === ']' && at > set + (pattern[set + 1] === '^' ? 2 : 1)) set = -1;
    } else if (char === '[') set = at;
    else if (char === '(') open.push(at);
    else if (char === ')') open.pop();
  }
  return why.includes('character set') ? set : (open.at(-1) ?? 0);
}

function flagsOf(ignoreCase: PyValue, multiline: PyValue): string {
  return (truth(ignoreCase) ? 'i' : '') + (truth(multiline) ? 'm' : '');
}

function subject(value: PyValue): string {
  const text = textOf(value);
  if (text === undefined) throw typeError(`expected string or bytes-like object, got '${typeName(value)}'`);
  return text;
}

/** Groups as a tuple; without groups the whole match (an empty tuple up to release 3006). */
function groups(match: RegExpExecArray | null, release: number): PyValue {
  if (match === null) return null;
  const parts = match.slice(1).map((part): PyValue => (part === undefined ? null : part));
  if (parts.length > 0) return new PyTuple(parts);
  return new PyTuple(release < 3007 ? [] : [match[0]]);
}

const namedEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

type Chunk = string | { readonly group: number | string };

/** Splits a replacement text into literals and group references. */
function parseReplacement(source: string, pattern: RegExp, count: number): Chunk[] {
  const pieces: Chunk[] = [];
  let at = 0;
  while (at < source.length) {
    const slash = source.indexOf('\\', at);
    if (slash < 0) break;
    if (slash > at) pieces.push(source.slice(at, slash));
    const [piece, length] = reference(source, slash, pattern, count);
    pieces.push(piece);
    at = slash + length;
  }
  if (at < source.length) pieces.push(source.slice(at));
  return pieces;
}

function reference(source: string, at: number, pattern: RegExp, count: number): [Chunk, number] {
  const rest = source.slice(at + 1);
  if (rest === '') throw new PyError('error', `bad escape (end of pattern) at position ${at}`);
  if (rest.startsWith('g')) return namedReference(rest, at, pattern, count);
  const octal = /^(?:0[0-7]{0,2}|[0-3][0-7]{2})/.exec(rest);
  if (octal !== null) return [String.fromCharCode(Number.parseInt(octal[0], 8)), octal[0].length + 1];
  const number = /^[1-9][0-9]?/.exec(rest);
  if (number !== null) {
    if (Number(number[0]) > count)
      throw new PyError('error', `invalid group reference ${number[0]} at position ${at + 1}`);
    return [{ group: Number(number[0]) }, number[0].length + 1];
  }
  const letter = rest[0]!;
  const named = namedEscapes[letter];
  if (named !== undefined) return [named, 2];
  if (/[A-Za-z]/.test(letter)) throw new PyError('error', `bad escape \\${letter} at position ${at}`);
  return [`\\${letter}`, 2];
}

function namedReference(rest: string, at: number, pattern: RegExp, count: number): [Chunk, number] {
  if (rest[1] !== '<') throw new PyError('error', `missing < at position ${at + 2}`);
  const end = rest.indexOf('>');
  if (end < 0) {
    const why = rest.length === 2 ? 'missing group name' : 'missing >, unterminated name';
    throw new PyError('error', `${why} at position ${at + 3}`);
  }
  const name = rest.slice(2, end);
  if (name === '') throw new PyError('error', `missing group name at position ${at + 3}`);
  const length = end + 2;
  if (/^\d+$/.test(name)) {
    if (Number(name) > count) throw new PyError('error', `invalid group reference ${name} at position ${at + 3}`);
    return [{ group: Number(name) }, length];
  }
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) {
    throw new PyError('error', `bad character in group name '${name}' at position ${at + 3}`);
  }
  if (!pattern.source.includes(`(?<${name}>`)) throw indexError(`unknown group name '${name}'`);
  return [{ group: name }, length];
}

/** Number of groups of an expression. */
function groupCount(pattern: RegExp): number {
  return new RegExp(`${pattern.source}|`, pattern.flags).exec('')!.length - 1;
}

/** `re.sub(pattern, replacement, text)`; what is put in goes through `safe`. */
function substitute(
  pattern: RegExp,
  replacement: string,
  text: string | (() => string),
  safe: (text: string) => string = (put) => put,
): string {
  const pieces = parseReplacement(replacement, pattern, groupCount(pattern));
  const all = new RegExp(pattern.source, `${pattern.flags}g`);
  return (typeof text === 'string' ? text : text()).replace(all, (...match: unknown[]) => {
    const names = typeof match.at(-1) === 'object' ? (match.at(-1) as Record<string, string | undefined>) : {};
    const put = pieces.map((piece) => {
      if (typeof piece === 'string') return piece;
      const part = typeof piece.group === 'number' ? match[piece.group] : names[piece.group];
      return typeof part === 'string' ? part : '';
    });
    return safe(put.join(''));
  });
}

function escapeText(value: PyValue): string {
  const text = textOf(value);
  if (text === undefined) throw typeError(`decoding to str: need a bytes-like object, ${typeName(value)} found`);
  return text.replace(special, '\\$&');
}

const special = /[()[\]{}?*+\-|^$\\.&~# \t\n\r\v\f]/g;

export const regexFilters: FunctionTable = tableOf({
  regex_escape: define('regex_escape', 'value', (_rt, value) => escapeText(value!)),
  regex_search: define('regex_search', 'txt, rgx, ignorecase=False, multiline=False', (rt, txt, rgx, i, m) =>
    groups(compile(pyRegexSearch, rgx!, flagsOf(i!, m!)).exec(subject(txt!)), rt.settings.saltRelease),
  ),
  regex_match: define('regex_match', 'txt, rgx, ignorecase=False, multiline=False', (rt, txt, rgx, i, m) =>
    groups(compile(pyRegex, rgx!, flagsOf(i!, m!)).exec(subject(txt!)), rt.settings.saltRelease),
  ),
  regex_replace: define(
    'regex_replace',
    'txt, rgx, val, ignorecase=False, multiline=False',
    (_rt, txt, rgx, val, i, m) => {
      const pattern = compile(pyRegexSearch, rgx!, flagsOf(i!, m!));
      const replacement = textOf(val!);
      if (replacement === undefined)
        throw typeError(`decoding to str: need a bytes-like object, ${typeName(val!)} found`);
      // Python puts the parts of a replacement with references together as Markup, which escapes them.
      const escapes = txt instanceof Markup && replacement.includes('\\');
      // Python reads the replacement before it looks at the text.
      return substitute(pattern, replacement, () => subject(txt!), escapes ? escapeHtml : undefined);
    },
  ),
});

export const matchTest = define('test_match', 'txt, rgx, ignorecase=False, multiline=False', (_rt, txt, rgx, i, m) =>
  compile(pyRegex, rgx!, flagsOf(i!, m!)).test(subject(txt!)),
);
