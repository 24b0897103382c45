// The lexer: tokens, lines and columns, and delimiters of all kinds.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lexer } from './lexer.ts';
import { defaultLexerOptions, type LexerOptions } from './tokens.ts';

function tokens(source: string, options: Partial<LexerOptions> = {}): [number, string, string][] {
  const lexer = new Lexer(source, { ...defaultLexerOptions, ...options });
  const out: [number, string, string][] = [];
  for (let token = lexer.next(); token !== undefined; token = lexer.next())
    out.push([token.line, token.type, token.value]);
  return out;
}

const text = (source: string, options: Partial<LexerOptions> = {}): string =>
  tokens(source, options)
    .filter(([, type]) => type === 'data')
    .map(([, , value]) => value)
    .join('');

describe('lexer', () => {
  it('counts lines through stripped blanks, comments and strings', () => {
    const source = "a\n\n{#- x\n#}\n{%- set b = 'q\nr' %}\n{{ c }}";
    expect(tokens(source).filter(([, type]) => type === 'name')).toEqual([
      [5, 'name', 'set'],
      [5, 'name', 'b'],
      [7, 'name', 'c'],
    ]);
  });

  it('balances brackets before it searches for the end', () => {
    expect(tokens("{{ {'a': {}} }}").map(([, type]) => type)).toEqual([
      'variable_begin',
      'lbrace',
      'string',
      'colon',
      'lbrace',
      'rbrace',
      'rbrace',
      'variable_end',
    ]);
  });

  it('returns text without tags unchanged', () => {
    const plain = fc.string().filter((source) => !/\{[{%#]|\r/.test(source));
    fc.assert(fc.property(plain, (source) => text(source, { keepTrailingNewline: true }) === source));
  });

  it('works with delimiters of other lengths', () => {
    const options = {
      blockStart: '<%',
      blockEnd: '%>',
      variableStart: '<%=',
      variableEnd: '%>',
      commentStart: '<!--',
      commentEnd: '-->',
    };
    expect(tokens('a<%= b %><!-- c --><% d %>', options).map(([, type, value]) => `${type} ${value}`.trim())).toEqual([
      'data a',
      'variable_begin <%=',
      'name b',
      'variable_end %>',
      'block_begin <%',
      'name d',
      'block_end %>',
    ]);
  });

  it('reads line statements and line comments', () => {
    const options = { lineStatementPrefix: '%', lineCommentPrefix: '##' };
    expect(tokens('x\n  % if a: \ny ## note\n', options).map(([, type, value]) => `${type} ${value}`)).toEqual([
      'data x\n',
      'block_begin   %',
      'name if',
      'name a',
      'colon :',
      'block_end  \n',
      'data y',
    ]);
  });

  it('returns the column of an offset', () => {
    const lexer = new Lexer('ab\n {{ x', defaultLexerOptions);
    expect([lexer.column(0), lexer.column(1), lexer.column(3), lexer.column(7)]).toEqual([1, 2, 1, 5]);
  });

  it.each([
    ['{{ $ }}', "unexpected char '$' at 3"],
    ["{{ 'a }}", 'unexpected char "\'" at 3'],
    ['{{ ) }}', "unexpected ')'"],
    ['{{ (] }}', "unexpected ']', expected ')'"],
    ["{{ '\\x1' }}", 'truncated \\xXX escape'],
    ['{# x', 'Missing end of comment tag'],
  ])('refuses %s', (source, message) => {
    expect(() => tokens(source)).toThrow(message);
  });
});
