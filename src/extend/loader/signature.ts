// Reads parameters and defaults from the source text of a plain function, so that it can be called and documented like
// a declared one.
import { newDict, type Value } from '../../base/codec/value.ts';
import type { Param } from '../sdk/index.ts';

/** The declared parameters of a plain function, in order, with what its comment says about them. */
export function readParams(source: string, docs: ReadonlyMap<string, string>): Record<string, Param> {
  const params: Record<string, Param> = Object.create(null);
  const parts = splitTopLevel(parameterText(source));
  parts.forEach((part, index) => {
    const { name, kind, fallback } = readPart(part, index === parts.length - 1, index);
    const doc = docs.get(name) ?? '';
    const required = fallback === undefined && kind === 'any';
    const value = fallback === undefined ? null : readLiteral(fallback);
    params[name] = {
      kind,
      doc,
      required,
      default: value ?? null,
      aliases: [],
      ...(value === undefined ? { computed: true } : {}),
    };
  });
  return params;
}

interface Part {
  readonly name: string;
  readonly kind: 'any' | 'rest' | 'kwargs';
  readonly fallback: string | undefined;
}

function readPart(text: string, last: boolean, index: number): Part {
  if (text.startsWith('...')) return { name: text.slice(3).trim(), kind: 'rest', fallback: undefined };
  const [head = '', fallback] = splitDefault(text);
  // A destructuring pattern has no name of its own; it receives the keyword arguments.
  if (head.startsWith('{')) return { name: 'kwargs', kind: 'kwargs', fallback: undefined };
  if (head.startsWith('[')) return { name: `arg${index + 1}`, kind: 'any', fallback };
  if (last && head === 'kwargs') return { name: head, kind: 'kwargs', fallback: undefined };
  return { name: head, kind: 'any', fallback };
}

function splitDefault(text: string): [string, string?] {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
    else if (char === '=' && depth === 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  }
  return [text.trim()];
}

/** The text between the parentheses of a function's head (or the one bare name of an arrow function). */
function parameterText(source: string): string {
  const bare = /^\s*(?:async\s+)?([\w$]+)\s*=>/.exec(source);
  if (bare) return bare[1]!;
  const open = source.indexOf('(');
  if (open < 0) return '';
  let depth = 0;
  for (let at = open; at < source.length; at = skipToken(source, at)) {
    const char = source[at]!;
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char) && --depth === 0) return source.slice(open + 1, at);
  }
  return '';
}

/** Splits at commas outside brackets, strings and comments; comments are dropped. */
function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const next = skipToken(text, at);
    const token = text.slice(at, next);
    at = next;
    if (token.startsWith('//') || token.startsWith('/*')) continue;
    if ('([{'.includes(token)) depth++;
    if (')]}'.includes(token)) depth--;
    if (token === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += token;
  }
  parts.push(part.trim());
  return parts.filter((item) => item !== '');
}

/** The end of the string, template, comment or single character that starts at `at`. */
function skipToken(text: string, at: number): number {
  const char = text[at]!;
  if (char === '/' && text[at + 1] === '/') return endOf(text, '\n', at + 2);
  if (char === '/' && text[at + 1] === '*') return endOf(text, '*/', at + 2);
  if (char !== "'" && char !== '"' && char !== '`') return at + 1;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === '\\') end++;
    else if (text[end] === char) return end + 1;
  }
  return text.length;
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

/** The value of a simple literal; undefined when only running the code could determine it. */
function readLiteral(text: string): Value | undefined {
  if (/^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(text)) return JSON.parse(text) as Value;
  const quoted = /^(['"`])([^\\'"`$]*)\1$/.exec(text);
  if (quoted) return quoted[2]!;
  if (/^\[\s*\]$/.test(text)) return [];
  if (/^\{\s*\}$/.test(text)) return newDict();
  return undefined;
}
