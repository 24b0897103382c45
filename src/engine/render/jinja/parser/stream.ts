// The token stream of a parser: one current token, look-ahead, expectations.
import { type PyError, syntaxError } from '../errors.ts';
import { Lexer } from '../lexer/lexer.ts';
import { describeExpectation, describeToken, type LexerOptions, type Token, tokenIs } from '../lexer/tokens.ts';
import { reprText } from '../runtime/text.ts';

export class TokenStream {
  readonly #lexer: Lexer;
  readonly #pushed: Token[] = [];
  #closed = false;
  current: Token = { line: 1, type: 'initial', value: '', offset: 0 };

  constructor(source: string, options: LexerOptions) {
    this.#lexer = new Lexer(source, options);
    this.next();
  }

  get ended(): boolean {
    return this.#pushed.length === 0 && this.current.type === 'eof';
  }

  /** Advances and returns the previous token. */
  next(): Token {
    const old = this.current;
    const pushed = this.#pushed.shift();
    if (pushed !== undefined) this.current = pushed;
    else if (!this.#closed) {
      const token = this.#lexer.next();
      if (token === undefined) {
        this.#closed = true;
        this.current = { line: old.line, type: 'eof', value: '', offset: this.#lexer.source.length };
      } else this.current = token;
    }
    return old;
  }

  skip(count = 1): void {
    for (let round = 0; round < count; round += 1) this.next();
  }

  /** The token after the current one. */
  look(): Token {
    const old = this.next();
    const result = this.current;
    this.#pushed.unshift(result);
    this.current = old;
    return result;
  }

  is(...expressions: string[]): boolean {
    return expressions.some((expression) => tokenIs(this.current, expression));
  }

  skipIf(expression: string): boolean {
    if (!tokenIs(this.current, expression)) return false;
    this.next();
    return true;
  }

  expect(expression: string): Token {
    if (tokenIs(this.current, expression)) return this.next();
    const wanted = reprText(describeExpectation(expression));
    if (this.current.type === 'eof') throw this.error(`unexpected end of template, expected ${wanted}.`);
    throw this.error(`expected token ${wanted}, got ${reprText(describeToken(this.current))}`);
  }

  /** A syntax error at a line, by default that of the current token. */
  error(message: string, line = this.current.line): PyError {
    const column = line === this.current.line ? this.#lexer.column(this.current.offset) : undefined;
    return syntaxError(message, line, column);
  }
}
