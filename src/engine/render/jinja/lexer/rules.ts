// Regular expressions of a lexer, built once per set of delimiters.
import { spaceClass } from '../runtime/text.ts';
import { type LexerOptions, operators } from './tokens.ts';

const space = `[${spaceClass}]`;
const escapeRe = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
const lineStart = '(?:(?<=\\n)|(?<![\\s\\S]))';
const lineEnd = '(?=\\n|(?![\\s\\S]))';
const sign = '(-|\\+|)';

/** What opens in plain text, in the order of the alternatives of `root`. */
export interface RootRule {
  readonly state: string;
  /** Index of the whole-tag group; the sign group follows it. */
  readonly group: number;
}

export interface LexerRules {
  /** Searches the next opening mark. */
  readonly root: RegExp;
  readonly rootRules: readonly RootRule[];
  /** Searches the end of a comment or raw block. */
  readonly commentEnd: RegExp;
  readonly rawEnd: RegExp;
  /** Sticky ends of the tag states. */
  readonly ends: Readonly<Record<string, RegExp>>;
  readonly lineComment: RegExp;
}

function openings(options: LexerOptions): [number, string, string][] {
  const rules: [number, string, string][] = [
    [options.commentStart.length, 'comment_begin', escapeRe(options.commentStart)],
    [options.blockStart.length, 'block_begin', escapeRe(options.blockStart)],
    [options.variableStart.length, 'variable_begin', escapeRe(options.variableStart)],
  ];
  const { lineStatementPrefix: statement, lineCommentPrefix: comment } = options;
  if (statement !== undefined) {
    rules.push([statement.length, 'linestatement_begin', `${lineStart}[ \\t\\v]*${escapeRe(statement)}`]);
  }
  if (comment !== undefined) {
    const blanks = '[\\t\\v\\f\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*';
    rules.push([
      comment.length,
      'linecomment_begin',
      `(?:${lineStart}|(?<=[^${spaceClass}]))${blanks}${escapeRe(comment)}`,
    ]);
  }
  // Longer marks first; equal lengths by name, descending, as the reference sorts its tuples.
  return rules.sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? 1 : -1));
}

export function buildRules(options: LexerOptions): LexerRules {
  const start = escapeRe(options.blockStart);
  const end = escapeRe(options.blockEnd);
  const suffix = options.trimBlocks ? '\\n?' : '';
  const raw = `(${start}${sign}${space}*raw${space}*(?:-${end}${space}*|${end}))`;
  const parts = [raw];
  const rootRules: RootRule[] = [{ state: 'raw_begin', group: 1 }];
  for (const [, state, pattern] of openings(options)) {
    rootRules.push({ state, group: 1 + parts.length * 2 });
    parts.push(`(${pattern}${sign})`);
  }
  const blockEnd = `\\+${end}|-${end}${space}*|${end}${suffix}`;
  const commentEnd = escapeRe(options.commentEnd);
  const variableEnd = escapeRe(options.variableEnd);
  return {
    root: new RegExp(parts.join('|'), 'g'),
    rootRules,
    commentEnd: new RegExp(`\\+${commentEnd}|-${commentEnd}${space}*|${commentEnd}${suffix}`, 'g'),
    rawEnd: new RegExp(`${start}${sign}${space}*endraw${space}*(?:${blockEnd})`, 'g'),
    ends: {
      block_begin: new RegExp(blockEnd, 'y'),
      variable_begin: new RegExp(`-${variableEnd}${space}*|${variableEnd}`, 'y'),
      linestatement_begin: new RegExp(`${space}*(?:\\n|(?![\\s\\S]))`, 'y'),
    },
    lineComment: new RegExp(`[^]*?${lineEnd}`, 'y'),
  };
}

const signs = Object.keys(operators).sort((a, b) => b.length - a.length);

type TagRule = readonly [string, RegExp];

const whitespace: TagRule = ['whitespace', new RegExp(`${space}+`, 'y')];
const float: TagRule = ['float', /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy];
const integer: TagRule = ['integer', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy];
const asciiName: TagRule = ['name', /[A-Za-z0-9_]+(?![^\x00-\x7f])/y];
const name: TagRule = ['name', /[\p{L}\p{N}\p{M}\p{Pc}\u00b7]+/uy];
const text: TagRule = ['string', /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y];
const operator: TagRule = ['operator', new RegExp(signs.map(escapeRe).join('|'), 'y')];

const blanks: readonly TagRule[] = [whitespace];
const numbers: readonly TagRule[] = [float, integer, asciiName, name];
const names: readonly TagRule[] = [asciiName, name];
const texts: readonly TagRule[] = [text];
const signsOnly: readonly TagRule[] = [operator];
const foreign: readonly TagRule[] = [whitespace, name];

/** The rules a token inside a tag can start with, by its first character. */
export function rulesAt(code: number): readonly TagRule[] {
  if (code === 32 || code === 10) return blanks;
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95) return names;
  if (code === 39 || code === 34) return texts;
  if (code >= 48 && code <= 57) return numbers;
  if (code > 127) return foreign;
  return code <= 32 ? blanks : signsOnly;
}
