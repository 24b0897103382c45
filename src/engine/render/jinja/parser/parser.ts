// The parser's main loop: text and tags in sequence, the stack of open tags, and the tag registry.
import type { PyError } from '../errors.ts';
import { describeExpectation, type LexerOptions, tokenIs } from '../lexer/tokens.ts';
import { reprText } from '../runtime/text.ts';
import { parseTuple } from './expressions.ts';
import type { Expr, Stmt } from './nodes.ts';
import { TokenStream } from './stream.ts';

export type TagParser = (parser: Parser) => Stmt | readonly Stmt[];
export type TagRegistry = ReadonlyMap<string, TagParser>;

export class Parser {
  readonly stream: TokenStream;
  readonly #tags: TagRegistry;
  readonly #open: string[] = [];
  readonly #endings: (readonly string[])[] = [];
  #identifiers = 0;

  constructor(source: string, options: LexerOptions, tags: TagRegistry) {
    this.stream = new TokenStream(source, options);
    this.#tags = tags;
  }

  parse(): Stmt[] {
    return this.#body(undefined);
  }

  /** A name no template can spell. */
  freeIdentifier(): string {
    this.#identifiers += 1;
    return `fi${this.#identifiers}`;
  }

  /** Body of a tag up to one of the ending tags; the ending stays current unless dropped. */
  statements(endings: readonly string[], drop = false): Stmt[] {
    this.stream.skipIf('colon');
    this.stream.expect('block_end');
    const body = this.#body(endings);
    if (this.stream.current.type === 'eof') throw this.#unclosed(endings);
    if (drop) this.stream.next();
    return body;
  }

  #body(endings: readonly string[] | undefined): Stmt[] {
    const body: Stmt[] = [];
    let data: Expr[] = [];
    const flush = (): void => {
      if (data.length > 0) body.push({ kind: 'Output', nodes: data, line: data[0]!.line });
      data = [];
    };
    if (endings !== undefined) this.#endings.push(endings);
    while (!this.stream.ended) {
      const token = this.stream.current;
      if (token.type === 'data') {
        data.push({ kind: 'TemplateData', data: token.value, line: token.line });
        this.stream.next();
      } else if (token.type === 'variable_begin') {
        this.stream.next();
        data.push(parseTuple(this));
        this.stream.expect('variable_end');
      } else {
        flush();
        this.stream.next();
        if (endings?.some((ending) => tokenIs(this.stream.current, ending))) {
          this.#endings.pop();
          return body;
        }
        const parsed = this.#statement();
        if (Array.isArray(parsed)) body.push(...parsed);
        else body.push(parsed as Stmt);
        this.stream.expect('block_end');
      }
    }
    flush();
    if (endings !== undefined) this.#endings.pop();
    return body;
  }

  #statement(): Stmt | readonly Stmt[] {
    const token = this.stream.current;
    if (token.type !== 'name') throw this.stream.error('tag name expected', token.line);
    const parse = this.#tags.get(token.value);
    if (parse === undefined) throw this.#unknownTag(token.value, token.line);
    this.#open.push(token.value);
    const node = parse(this);
    this.#open.pop();
    return node;
  }

  #unknownTag(name: string, line: number): PyError {
    return this.#lost(`Encountered unknown tag ${reprText(name)}.`, name, this.#endings, line);
  }

  #unclosed(endings: readonly string[]): PyError {
    return this.#lost('Unexpected end of template.', undefined, [...this.#endings, endings], undefined);
  }

  #lost(
    start: string,
    name: string | undefined,
    stack: readonly (readonly string[])[],
    line: number | undefined,
  ): PyError {
    const message = [start];
    const looking = stack.at(-1)?.map((ending) => reprText(describeExpectation(ending)));
    if (looking !== undefined) {
      const list = looking.join(' or ');
      const expected =
        name !== undefined && stack.some((endings) => endings.some((ending) => describeExpectation(ending) === name));
      if (expected) {
        message.push(
          `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${list}.`,
        );
      } else message.push(`Jinja was looking for the following tags: ${list}.`);
    }
    const open = this.#open.at(-1);
    if (open !== undefined) message.push(`The innermost block that needs to be closed is ${reprText(open)}.`);
    return this.stream.error(message.join(' '), line);
  }
}
