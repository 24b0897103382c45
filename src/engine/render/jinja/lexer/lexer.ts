// Splits a template into tokens, lazily: a parse error early in the text is reported before a lexical one after it.
import { syntaxError } from '../errors.ts';
import { parseInteger } from '../runtime/number.ts';
import { isSpace, pyIndex, reprText, trimEnd } from '../runtime/text.ts';
import { buildRules, type LexerRules, rulesAt } from './rules.ts';
import { unescapeString } from './strings.ts';
import { type LexerOptions, operators, type Token } from './tokens.ts';

const rulesCache = new WeakMap<LexerOptions, LexerRules>();

function rulesFor(options: LexerOptions): LexerRules {
  let rules = rulesCache.get(options);
  if (rules === undefined) {
    rules = buildRules(options);
    rulesCache.set(options, rules);
  }
  return rules;
}

const closers: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };
const tokenEnds: Readonly<Record<string, string>> = {
  block_begin: 'block_end',
  variable_begin: 'variable_end',
  linestatement_begin: 'block_end',
};

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Source with `\n` line ends and, unless kept, without the last one. */
function normalizeSource(source: string, keepTrailingNewline: boolean): string {
  const text = source.includes('\r') ? source.replace(/\r\n|\r/g, '\n') : source;
  return !keepTrailingNewline && text.endsWith('\n') ? text.slice(0, -1) : text;
}

export class Lexer {
  readonly source: string;
  readonly #options: LexerOptions;
  readonly #rules: LexerRules;
  readonly #queue: Token[] = [];
  readonly #balance: string[] = [];
  #state = 'root';
  #position = 0;
  #line = 1;
  #lineStarting = true;

  constructor(source: string, options: LexerOptions) {
    this.source = normalizeSource(source, options.keepTrailingNewline);
    this.#options = options;
    this.#rules = rulesFor(options);
  }

  /** The next token, or undefined at the end. */
  next(): Token | undefined {
    while (this.#queue.length === 0) {
      if (this.#state === 'root') {
        if (this.#position >= this.source.length) return undefined;
        this.#root();
      } else if (!this.#inside()) return undefined;
    }
    return this.#queue.shift();
  }

  /** One-based column of an offset. */
  column(offset: number): number {
    return offset - this.source.lastIndexOf('\n', offset - 1);
  }

  #push(type: string, value: string, offset: number, line = this.#line): void {
    this.#queue.push({ line, type, value, offset });
  }

  #data(text: string, offset: number): void {
    if (text === '') return;
    const { newlineSequence } = this.#options;
    this.#push('data', newlineSequence === '\n' ? text : text.replaceAll('\n', newlineSequence), offset);
  }

  #moveTo(position: number): void {
    this.#lineStarting = position > this.#position && this.source[position - 1] === '\n';
    this.#position = position;
  }

  #root(): void {
    const { root, rootRules } = this.#rules;
    const start = this.#position;
    root.lastIndex = start;
    const match = root.exec(this.source);
    if (match === null) {
      this.#data(this.source.slice(start), start);
      this.#moveTo(this.source.length);
      return;
    }
    const rule = rootRules.find(({ group }) => match[group] !== undefined)!;
    const tag = match[rule.group]!;
    this.#text(start, match.index, match[rule.group + 1]!, rule.state !== 'variable_begin');
    if (rule.state === 'block_begin' || rule.state === 'linestatement_begin')
      this.#push('block_begin', tag, match.index);
    else if (rule.state === 'variable_begin') this.#push('variable_begin', tag, match.index);
    this.#line += countNewlines(tag);
    this.#moveTo(match.index + tag.length);
    this.#state = rule.state;
  }

  /** Template text before a mark, trimmed according to the mark's sign and `lstrip_blocks`. */
  #text(start: number, end: number, sign: string, strippable: boolean): void {
    const text = this.source.slice(start, end);
    let kept = text;
    let stripped = 0;
    if (sign === '-') {
      kept = trimEnd(text);
      stripped = countNewlines(text.slice(kept.length));
    } else if (sign !== '+' && this.#options.lstripBlocks && strippable) {
      const from = text.lastIndexOf('\n') + 1;
      if ((from > 0 || this.#lineStarting) && isSpace(text.slice(from))) kept = text.slice(0, from);
    }
    this.#data(kept, start);
    this.#line += countNewlines(kept) + stripped;
  }

  /** Continues in a state other than root; false at the end of the source. */
  #inside(): boolean {
    switch (this.#state) {
      case 'comment_begin':
        return this.#until(this.#rules.commentEnd, 'Missing end of comment tag', false);
      case 'raw_begin':
        return this.#until(this.#rules.rawEnd, 'Missing end of raw directive', true);
      case 'linecomment_begin': {
        this.#rules.lineComment.lastIndex = this.#position;
        const text = this.#rules.lineComment.exec(this.source)![0];
        this.#moveTo(this.#position + text.length);
        this.#state = 'root';
        return true;
      }
      default:
        return this.#tag();
    }
  }

  #until(pattern: RegExp, failure: string, raw: boolean): boolean {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.source);
    if (match === null) {
      // Nothing follows the opening mark: the reference lexer just stops.
      if (this.#position >= this.source.length) return false;
      throw syntaxError(failure, this.#line, this.column(this.#position));
    }
    if (raw) this.#text(this.#position, match.index, match[1]!, true);
    else this.#line += countNewlines(this.source.slice(this.#position, match.index));
    this.#line += countNewlines(match[0]);
    this.#moveTo(match.index + match[0].length);
    this.#state = 'root';
    return true;
  }

  #tag(): boolean {
    const { source } = this;
    const end = this.#rules.ends[this.#state]!;
    if (this.#balance.length === 0) {
      end.lastIndex = this.#position;
      const match = end.exec(source);
      if (match !== null) {
        this.#push(tokenEnds[this.#state]!, match[0], this.#position);
        this.#line += countNewlines(match[0]);
        this.#moveTo(this.#position + match[0].length);
        this.#state = 'root';
        return true;
      }
    }
    const start = this.#position;
    for (const [type, pattern] of rulesAt(source.charCodeAt(start))) {
      pattern.lastIndex = start;
      const match = pattern.exec(source);
      if (match === null) continue;
      const text = match[0];
      this.#token(type, text);
      // Only blanks and strings can contain line breaks.
      if (type === 'whitespace' || type === 'string') this.#line += countNewlines(text);
      this.#moveTo(start + text.length);
      return true;
    }
    if (this.#position >= source.length) return false;
    const char = String.fromCodePoint(source.codePointAt(this.#position)!);
    const index = pyIndex(source, this.#position);
    throw syntaxError(`unexpected char ${reprText(char)} at ${index}`, this.#line, this.column(this.#position));
  }

  #token(type: string, text: string): void {
    const offset = this.#position;
    switch (type) {
      case 'whitespace':
        return;
      case 'operator':
        this.#balanceCheck(text);
        this.#push(operators[text]!, text, offset);
        return;
      case 'name':
        if (!/^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text)) {
          throw syntaxError('Invalid character in identifier', this.#line, this.column(offset));
        }
        this.#push('name', text, offset);
        return;
      case 'string': {
        const { newlineSequence } = this.#options;
        const body = text.slice(1, -1);
        const normal = newlineSequence === '\n' ? body : body.replaceAll('\n', newlineSequence);
        const fail = (message: string): Error => syntaxError(message, this.#line, this.column(offset));
        this.#push('string', unescapeString(normal, fail), offset);
        return;
      }
      default:
        this.#push(type, text.replaceAll('_', ''), offset);
    }
  }

  #balanceCheck(sign: string): void {
    if (sign.length !== 1) return;
    const closer = closers[sign];
    if (closer !== undefined) {
      this.#balance.push(closer);
      return;
    }
    if (sign !== '}' && sign !== ')' && sign !== ']') return;
    const column = this.column(this.#position);
    const expected = this.#balance.pop();
    if (expected === undefined) throw syntaxError(`unexpected '${sign}'`, this.#line, column);
    if (expected !== sign) throw syntaxError(`unexpected '${sign}', expected '${expected}'`, this.#line, column);
  }
}

/** Value of an integer token. */
export function integerValue(text: string): number | bigint {
  return parseInteger(text, 0) ?? 0;
}
