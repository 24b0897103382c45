// JMESPath expressions, parsed by binding power straight into functions.
import { PyError } from '../../errors.ts';
import { textOf } from '../../runtime/markup.ts';
import type { PyValue } from '../../runtime/value.ts';
import {
  both,
  child,
  compare,
  cut,
  either,
  field,
  filterProjection,
  flatten,
  index,
  isFalse,
  type Jmes,
  multiHash,
  multiList,
  piped,
  projection,
  valueProjection,
} from './evaluate.ts';
import { type Argument, callFunction } from './functions.ts';
import { type JmesToken, lexJmes } from './lex.ts';

/** The names of tokens in messages. */
const tokenName = (type: string): string =>
  (type === 'unquoted' || type === 'quoted' ? `${type}_identifier` : type).toUpperCase();

const powers: Readonly<Record<string, number>> = {
  pipe: 1,
  or: 2,
  and: 3,
  eq: 5,
  ne: 5,
  lt: 5,
  lte: 5,
  gt: 5,
  gte: 5,
  flatten: 9,
  star: 20,
  filter: 21,
  dot: 40,
  not: 45,
  lbrace: 50,
  lbracket: 55,
  lparen: 60,
};
const projectionStop = 10;
const identity: Jmes = (value) => value;

class JmesParser {
  readonly #source: string;
  readonly #tokens: readonly JmesToken[];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = lexJmes(source);
  }

  parse(): Jmes {
    const parsed = this.#expression(0);
    if (this.#now.type !== 'eof') throw this.#error(`Unexpected token: ${this.#now.text}`);
    return parsed;
  }

  get #now(): JmesToken {
    return this.#tokens[this.#at]!;
  }

  #next(): JmesToken {
    const token = this.#now;
    this.#at += 1;
    return token;
  }

  #ahead(offset = 1): string {
    return this.#tokens[this.#at + offset]?.type ?? 'eof';
  }

  #expect(type: string): JmesToken {
    if (this.#now.type !== type) throw this.#error(`Expecting: ${type}, got: ${this.#now.type}`);
    return this.#next();
  }

  #error(why: string): PyError {
    const { at, type } = this.#now;
    if (type === 'eof') {
      return new PyError(
        'IncompleteExpressionError',
        `Invalid jmespath expression: Incomplete expression:\n"${this.#source}"\n${' '.repeat(at + 1)}^`,
      );
    }
    return this.#parseError(why);
  }

  #parseError(why: string): PyError {
    const { at, text, type } = this.#now;
    return new PyError(
      'ParseError',
      `${why}: Parse error at column ${at}, token "${text}" (${tokenName(type)}), for expression:\n"${this.#source}"\n${' '.repeat(at + 1)}^`,
    );
  }

  #expression(power: number): Jmes {
    let left = this.#prefix(this.#next());
    while (power < (powers[this.#now.type] ?? 0)) left = this.#infix(this.#next(), left);
    return left;
  }

  #prefix(token: JmesToken): Jmes {
    switch (token.type) {
      case 'literal':
        return () => token.value;
      case 'unquoted':
        return this.#now.type === 'lparen' ? this.#call(token.text) : field(token.text);
      case 'quoted':
        if (this.#now.type === 'lparen') throw this.#error('Quoted identifier not allowed for function names.');
        return field(textOf(token.value) ?? '');
      case 'star':
        return valueProjection(identity, this.#now.type === 'rbracket' ? identity : this.#right(powers['star']!));
      case 'filter':
        return this.#filter(identity);
      case 'lbrace':
        return this.#hash();
      case 'lparen': {
        const inner = this.#expression(0);
        this.#expect('rparen');
        return inner;
      }
      case 'flatten':
        return projection(flatten(identity), this.#right(powers['flatten']!));
      case 'not': {
        const inner = this.#expression(powers['not']!);
        return (value) => isFalse(inner(value));
      }
      case 'lbracket':
        return this.#bracketStart();
      case 'current':
        return identity;
      default:
        this.#at -= 1;
        throw this.#error('Invalid token');
    }
  }

  #bracketStart(): Jmes {
    if (this.#now.type === 'number' || this.#now.type === 'colon') return this.#indexed(identity);
    if (this.#now.type === 'star' && this.#ahead() === 'rbracket') {
      this.#at += 2;
      return projection(identity, this.#right(powers['star']!));
    }
    return this.#list();
  }

  #infix(token: JmesToken, left: Jmes): Jmes {
    switch (token.type) {
      case 'dot':
        if (this.#now.type !== 'star') return child(left, this.#dotRight(powers['dot']!));
        this.#next();
        return valueProjection(left, this.#right(powers['star']!));
      case 'pipe':
        return piped(left, this.#expression(powers['pipe']!));
      case 'or':
        return either(left, this.#expression(powers['or']!));
      case 'and':
        return both(left, this.#expression(powers['and']!));
      case 'filter':
        return this.#filter(left);
      case 'flatten':
        return projection(flatten(left), this.#right(powers['flatten']!));
      case 'lbracket':
        if (this.#now.type === 'number' || this.#now.type === 'colon') return this.#indexed(left);
        this.#expect('star');
        this.#expect('rbracket');
        return projection(left, this.#right(powers['star']!));
      case 'eq':
      case 'ne':
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        return compare(token.type, left, this.#expression(powers[token.type]!));
      default:
        this.#at -= 1;
        throw this.#error('Invalid token');
    }
  }

  /** `[0]` or `[a:b:c]`; a slice starts a projection. */
  #indexed(left: Jmes): Jmes {
    if (this.#now.type === 'number' && this.#ahead() === 'rbracket') {
      const at = Number(this.#next().text);
      this.#next();
      return child(left, index(at));
    }
    const parts: PyValue[] = [null, null, null];
    let part = 0;
    while (this.#now.type !== 'rbracket') {
      if (this.#now.type === 'colon') {
        part += 1;
        if (part === 3) throw this.#error('Syntax error');
        this.#next();
      } else parts[part] = Number(this.#expect('number').text);
    }
    this.#next();
    return projection(child(left, cut(parts[0]!, parts[1]!, parts[2]!)), this.#right(powers['star']!));
  }

  #filter(left: Jmes): Jmes {
    const test = this.#expression(0);
    this.#expect('rbracket');
    const right = this.#now.type === 'flatten' ? identity : this.#right(powers['filter']!);
    return filterProjection(left, right, test);
  }

  /** What a projection is applied to: nothing more, another bracket, or a dotted part. */
  #right(power: number): Jmes {
    const { type } = this.#now;
    if ((powers[type] ?? 0) < projectionStop) return identity;
    if (type === 'lbracket' || type === 'filter') return this.#expression(power);
    if (type !== 'dot') throw this.#error('syntax error');
    this.#next();
    return this.#dotRight(power);
  }

  #dotRight(power: number): Jmes {
    switch (this.#now.type) {
      case 'unquoted':
      case 'quoted':
      case 'star':
        return this.#expression(power);
      case 'lbracket':
        this.#next();
        return this.#list();
      case 'lbrace':
        this.#next();
        return this.#hash();
      default:
        throw this.#parseError(
          `Expecting: ['quoted_identifier', 'unquoted_identifier', 'lbracket', 'lbrace'], got: ${this.#now.type}`,
        );
    }
  }

  #list(): Jmes {
    const parts: Jmes[] = [];
    for (;;) {
      parts.push(this.#expression(0));
      if (this.#now.type === 'rbracket') break;
      this.#expect('comma');
    }
    this.#next();
    return multiList(parts);
  }

  #hash(): Jmes {
    const parts: [string, Jmes][] = [];
    for (;;) {
      const key = this.#next();
      if (key.type !== 'unquoted' && key.type !== 'quoted') {
        this.#at -= 1;
        throw this.#error('Expecting an identifier');
      }
      this.#expect('colon');
      parts.push([textOf(key.value) ?? '', this.#expression(0)]);
      if (this.#now.type !== 'comma') break;
      this.#next();
    }
    this.#expect('rbrace');
    return multiHash(parts);
  }

  #call(name: string): Jmes {
    this.#next();
    const args: ((value: PyValue) => Argument)[] = [];
    while (this.#now.type !== 'rparen') {
      if (args.length > 0) this.#expect('comma');
      if (this.#now.type === 'expref') {
        this.#next();
        const expression = this.#expression(0);
        args.push(() => ({ expression }));
      } else {
        const inner = this.#expression(0);
        args.push((value) => ({ value: inner(value) }));
      }
    }
    this.#next();
    return (value) =>
      callFunction(
        name,
        args.map((arg) => arg(value)),
      );
  }
}

/** Compiles an expression. */
export function parseJmes(source: string): Jmes {
  if (source.trim() === '') throw new PyError('EmptyExpressionError', 'Invalid JMESPath expression: cannot be empty.');
  return new JmesParser(source).parse();
}
