// Parses the query language of `jobs.query` into a tree; errors point at the position.
import { HaliteError } from 'halite/sdk';

export type JobField = 'jid' | 'fun' | 'user' | 'tgt' | 'tgt_type';
export type ResultField = 'minion' | 'retcode';
export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=';
export type Outcome = 'failed' | 'success' | 'missing';

export type Condition =
  | { readonly is: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly is: 'not'; readonly part: Condition }
  | {
      readonly is: 'field';
      readonly field: JobField | ResultField;
      readonly op: Operator;
      readonly values: readonly string[];
    }
  | { readonly is: 'outcome'; readonly outcome: Outcome }
  | { readonly is: 'internal' }
  | { readonly is: 'time'; readonly side: 'since' | 'until'; readonly at: number };

export interface JobQuery {
  readonly condition: Condition | undefined;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

const fields: Readonly<Record<string, JobField | ResultField>> = {
  jid: 'jid',
  fun: 'fun',
  function: 'fun',
  user: 'user',
  tgt: 'tgt',
  target: 'tgt',
  tgt_type: 'tgt_type',
  minion: 'minion',
  id: 'minion',
  retcode: 'retcode',
};
const outcomes: Readonly<Record<string, Outcome>> = {
  failed: 'failed',
  failure: 'failed',
  success: 'success',
  succeeded: 'success',
  missing: 'missing',
};
const knownWords =
  'jid, fun, user, tgt, tgt_type, minion, retcode, failed, success, missing, internal, since, until, limit, offset';

interface Token {
  readonly text: string;
  readonly at: number;
  readonly kind: 'word' | 'quoted' | 'sign' | 'end';
}

const pattern = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(!=|<=|>=|[=<>()])|([^\s=<>!()"']+))/y;

class Parser {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  readonly #now: number;
  #next = 0;
  #limit: number | undefined;
  #offset: number | undefined;

  constructor(source: string, now: number) {
    this.#source = source;
    this.#now = now;
    let at = 0;
    while (source.slice(at).trim() !== '') {
      pattern.lastIndex = at;
      const match = pattern.exec(source);
      const start = at + (source.slice(at).length - source.slice(at).trimStart().length);
      if (!match) throw this.#error('this cannot be read', start);
      const [, quoted, sign, word] = match;
      const text = quoted ? quoted.slice(1, -1).replace(/\\(.)/g, '$1') : (sign ?? word ?? '');
      this.#tokens.push({ text, at: start, kind: quoted ? 'quoted' : sign ? 'sign' : 'word' });
      at = pattern.lastIndex;
    }
    this.#tokens.push({ text: '', at: source.trimEnd().length, kind: 'end' });
  }

  query(): JobQuery {
    this.#paging();
    const condition = this.#peek().kind === 'end' ? undefined : this.#or();
    this.#paging();
    const rest = this.#peek();
    if (rest.kind !== 'end') throw this.#error(`'${rest.text}' is not expected here`, rest.at);
    return { condition, limit: this.#limit, offset: this.#offset };
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #isWord(...words: string[]): boolean {
    const { kind, text } = this.#peek();
    return kind === 'word' && words.includes(text.toLowerCase());
  }

  #or(): Condition {
    const parts = [this.#and()];
    while (this.#isWord('or')) {
      this.#next++;
      parts.push(this.#and());
    }
    return parts.length === 1 ? parts[0]! : { is: 'or', parts };
  }

  /** `failed since 2d` is the same as `failed and since 2d`. */
  #and(): Condition {
    const parts = [this.#not()];
    for (;;) {
      this.#paging();
      const { kind, text } = this.#peek();
      if (kind === 'end' || text === ')' || this.#isWord('or')) break;
      if (this.#isWord('and')) this.#next++;
      parts.push(this.#not());
    }
    return parts.length === 1 ? parts[0]! : { is: 'and', parts };
  }

  #not(): Condition {
    if (this.#isWord('not')) {
      this.#next++;
      return { is: 'not', part: this.#not() };
    }
    const token = this.#peek();
    if (token.text !== '(' || token.kind !== 'sign') return this.#term();
    this.#next++;
    const inner = this.#or();
    const close = this.#peek();
    if (close.text !== ')') throw this.#error("a ')' is missing", close.at);
    this.#next++;
    return inner;
  }

  #term(): Condition {
    const token = this.#peek();
    if (token.kind !== 'word') throw this.#error('a condition is missing here', token.at);
    const word = token.text.toLowerCase();
    this.#next++;
    const outcome = outcomes[word];
    if (outcome) return { is: 'outcome', outcome };
    if (word === 'internal') return { is: 'internal' };
    if (word === 'since' || word === 'until') return { is: 'time', side: word, at: this.#time() };
    const field = Object.hasOwn(fields, word) ? fields[word] : undefined;
    if (!field) throw this.#error(`'${token.text}' is not known; there are ${knownWords}`, token.at);
    return this.#comparison(field);
  }

  #comparison(field: JobField | ResultField): Condition {
    const sign = this.#peek();
    if (sign.kind !== 'sign' || sign.text === '(' || sign.text === ')')
      throw this.#error(`after '${field}' comes = or !=${field === 'retcode' ? ', <, >' : ''}`, sign.at);
    const op = sign.text as Operator;
    const ordered = field === 'retcode' || field === 'jid';
    if (op !== '=' && op !== '!=' && !ordered) throw this.#error(`'${op}' works with retcode and jid only`, sign.at);
    this.#next++;
    const value = this.#value();
    const values = value.kind === 'quoted' ? [value.text] : value.text.split(',').filter((text) => text !== '');
    if (field === 'retcode' && !values.every((text) => /^-?\d+$/.test(text)))
      throw this.#error('retcode is a number', value.at);
    return { is: 'field', field, op, values };
  }

  #value(): Token {
    const token = this.#peek();
    if (token.kind !== 'word' && token.kind !== 'quoted') throw this.#error('a value is missing here', token.at);
    this.#next++;
    return token;
  }

  #time(): number {
    const { text, at } = this.#value();
    const at_ = timeOf(text, this.#now);
    if (at_ === undefined)
      throw this.#error(`'${text}' is no time: write 2d, 12h, 30m, today, 2026-01-31 or '2026-01-31 12:00'`, at);
    return at_;
  }

  #paging(): void {
    while (this.#isWord('limit', 'offset')) {
      const word = this.#peek().text.toLowerCase();
      this.#next++;
      if (this.#peek().text === '=') this.#next++;
      const { text, at } = this.#value();
      if (!/^\d+$/.test(text)) throw this.#error(`${word} is a number`, at);
      if (word === 'limit') this.#limit = Number(text);
      else this.#offset = Number(text);
    }
  }

  #error(what: string, at: number): HaliteError {
    return new HaliteError('call.arguments', `${what}\n  ${this.#source}\n  ${' '.repeat(at)}^`);
  }
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

function timeOf(text: string, now: number): number | undefined {
  const ago = /^(\d+)([smhdw])$/.exec(text);
  if (ago) return now - Number(ago[1]) * (units[ago[2]!] ?? 0) * 1000;
  if (text === 'today' || text === 'yesterday') {
    const day = new Date(now);
    day.setHours(0, 0, 0, 0);
    return day.getTime() - (text === 'today' ? 0 : 86_400_000);
  }
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  const at = new Date(text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T')).getTime();
  return Number.isNaN(at) ? undefined : at;
}

export function parseQuery(source: string, now = Date.now()): JobQuery {
  return new Parser(source, now).query();
}
