// Tokens of JMESPath.
import { loadJson } from '../../../../../base/codec/json/index.ts';
import { PyError } from '../../errors.ts';
import { Bridge } from '../../runtime/host.ts';
import type { PyValue } from '../../runtime/value.ts';

export interface JmesToken {
  readonly type: string;
  readonly text: string;
  readonly value: PyValue;
  readonly at: number;
}

const signs: readonly (readonly [string, string])[] = [
  ['||', 'or'],
  ['&&', 'and'],
  ['==', 'eq'],
  ['!=', 'ne'],
  ['<=', 'lte'],
  ['>=', 'gte'],
  ['[?', 'filter'],
  ['[]', 'flatten'],
  ['.', 'dot'],
  ['*', 'star'],
  ['|', 'pipe'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['!', 'not'],
  ['&', 'expref'],
  ['@', 'current'],
  [',', 'comma'],
  [':', 'colon'],
  ['(', 'lparen'],
  [')', 'rparen'],
  ['[', 'lbracket'],
  [']', 'rbracket'],
  ['{', 'lbrace'],
  ['}', 'rbrace'],
];

const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /-?[0-9]+/y;
const quoted = /"(?:[^"\\]|\\.)*"/sy;
const raw = /'(?:[^'\\]|\\.)*'/sy;
const literal = /`(?:[^`\\]|\\.)*`/sy;

function lexError(at: number, text: string, why: string): PyError {
  return new PyError('LexerError', `Bad jmespath expression: ${why}:\n${text}\n${' '.repeat(at)}^`);
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

function json(text: string, source: string, at: number): PyValue {
  try {
    return new Bridge().in(loadJson(text));
  } catch {
    throw lexError(at, source, `Invalid token ${text}`);
  }
}

/** A literal in backquotes: JSON, or bare words as text. */
function literalValue(body: string, source: string, at: number): PyValue {
  const text = body.replaceAll('\\`', '`').trimStart();
  try {
    return new Bridge().in(loadJson(text));
  } catch {
    return json(`"${text}"`, source, at);
  }
}

function readText(source: string, at: number): JmesToken | undefined {
  const double = match(quoted, source, at);
  if (double !== undefined) return { type: 'quoted', text: double, value: json(double, source, at), at };
  const single = match(raw, source, at);
  if (single !== undefined)
    return { type: 'literal', text: single, value: single.slice(1, -1).replaceAll("\\'", "'"), at };
  const back = match(literal, source, at);
  return back === undefined
    ? undefined
    : { type: 'literal', text: back, value: literalValue(back.slice(1, -1), source, at), at };
}

export function lexJmes(source: string): JmesToken[] {
  const tokens: JmesToken[] = [];
  let at = 0;
  while (at < source.length) {
    if (/\s/.test(source[at]!)) {
      at += 1;
      continue;
    }
    const token = readToken(source, at);
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ type: 'eof', text: '', value: null, at: source.length });
  return tokens;
}

function readToken(source: string, at: number): JmesToken {
  const name = match(identifier, source, at);
  if (name !== undefined) return { type: 'unquoted', text: name, value: name, at };
  const digits = match(number, source, at);
  if (digits !== undefined) return { type: 'number', text: digits, value: Number(digits), at };
  const text = readText(source, at);
  if (text !== undefined) return text;
  const sign = signs.find(([mark]) => source.startsWith(mark, at));
  if (sign === undefined) throw lexError(at, source, `Unknown token ${source[at]}`);
  return { type: sign[1], text: sign[0], value: sign[0], at };
}
