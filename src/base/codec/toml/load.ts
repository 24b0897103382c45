// Reads TOML 1.0. Dates and times stay texts, as in YAML.
import { HaliteError } from '../../errors/index.ts';
import { type Dict, dictOf, PyFloat, type Value } from '../value.ts';

export class TomlError extends HaliteError {
  readonly line: number;
  readonly column: number;

  constructor(problem: string, line: number, column: number) {
    super('render.failed', `${problem} (line ${line} column ${column})`, { details: { line, column } });
    this.line = line;
    this.column = column;
  }
}

/** A table that is being read. */
type Table = Map<string, Node>;
/** An array of tables, which grows with every `[[name]]`; other arrays are values. */
class Tables {
  readonly list: Table[] = [];
}
type Node = Value | Table | Tables;

const bareKey = /[A-Za-z0-9_-]+/y;
const space = /[ \t]*/y;
const blank = /(?:[ \t\r\n]|#[^\n]*)*/y;
const lineEnd = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const moment = /\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:\d\d)?)?|\d\d:\d\d:\d\d(?:\.\d+)?/y;
const number =
  /[-+]?(?:inf|nan)|0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*|[-+]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][-+]?\d(?:_?\d)*)?/y;
const endsValue = /[\s,\]}#]|$/y;
const escapes: Readonly<Record<string, string>> = {
  ...{ b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', '"': '"', '\\': '\\' },
};
const maxDepth = 200;

class TomlReader {
  readonly #text: string;
  #at = 0;
  readonly #root: Table = new Map();
  /** Tables defined by a header or by inline braces: they must not be defined again. */
  readonly #defined = new Set<Table>();
  readonly #closed = new Set<Table>();

  constructor(text: string) {
    this.#text = text;
  }

  read(): Dict {
    let table = this.#root;
    for (;;) {
      this.#take(blank);
      if (this.#at >= this.#text.length) return plain(this.#root) as Dict;
      if (this.#next() === '[') table = this.#header();
      else this.#pair(table);
      if (this.#take(lineEnd) === undefined) this.#fail('Expected the end of the line');
    }
  }

  #next(): string | undefined {
    return this.#text[this.#at];
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #expect(character: string): void {
    if (this.#next() !== character) this.#fail(`Expected ${character}`);
    this.#at++;
  }

  #fail(problem: string, at = this.#at): never {
    const before = this.#text.slice(0, at);
    throw new TomlError(problem, before.split('\n').length, at - before.lastIndexOf('\n'));
  }

  #header(): Table {
    const start = this.#at;
    const many = this.#text.startsWith('[[', this.#at);
    this.#at += many ? 2 : 1;
    const path = this.#key();
    for (const bracket of many ? ']]' : ']') this.#expect(bracket);
    const name = path.pop() as string;
    const parent = this.#walk(this.#root, path, start);
    const old = parent.get(name);
    if (many) {
      if (old !== undefined && !(old instanceof Tables)) this.#fail(`What? ${name} already exists?`, start);
      const all = old ?? new Tables();
      const fresh: Table = new Map();
      all.list.push(fresh);
      parent.set(name, all);
      return fresh;
    }
    if (old !== undefined && !(isTable(old) && !this.#defined.has(old))) {
      this.#fail(`What? ${name} already exists?`, start);
    }
    const table = (old as Table | undefined) ?? (new Map() as Table);
    parent.set(name, table);
    this.#defined.add(table);
    return table;
  }

  /** The table at a path, created if missing; for an array of tables, its last table. */
  #walk(from: Table, path: readonly string[], start: number): Table {
    let table = from;
    for (const name of path) {
      const next = table.get(name);
      if (next === undefined) {
        const fresh: Table = new Map();
        table.set(name, fresh);
        table = fresh;
      } else if (next instanceof Tables) table = next.list.at(-1) as Table;
      else if (isTable(next) && !this.#closed.has(next)) table = next;
      else this.#fail(`${name} is not a table that can be extended`, start);
    }
    return table;
  }

  #key(): string[] {
    const path: string[] = [];
    do {
      if (path.length > 0) this.#at++;
      this.#take(space);
      const quote = this.#next();
      if (quote === '"' || quote === "'") path.push(this.#string(quote));
      else path.push(this.#take(bareKey) ?? this.#fail('Expected a key'));
      this.#take(space);
    } while (this.#next() === '.');
    return path;
  }

  #pair(table: Table): void {
    const start = this.#at;
    const path = this.#key();
    this.#expect('=');
    this.#take(space);
    const name = path.pop() as string;
    const target = this.#walk(table, path, start);
    if (path.length > 0) this.#defined.add(target);
    if (target.has(name)) this.#fail('Duplicate keys!', start);
    target.set(name, this.#value(0));
  }

  #value(depth: number): Node {
    if (depth > maxDepth) this.#fail('The data is nested too deeply');
    const first = this.#next();
    if (first === '"' || first === "'")
      return this.#text.startsWith(first.repeat(3), this.#at) ? this.#block(first) : this.#string(first);
    if (first === '[') return this.#array(depth);
    if (first === '{') return this.#inline(depth);
    const start = this.#at;
    const word = this.#take(/(?:true|false)/y);
    const made = word === undefined ? (this.#take(moment) ?? this.#number()) : word === 'true';
    endsValue.lastIndex = this.#at;
    return endsValue.test(this.#text) ? made : this.#fail('This is not a value', start);
  }

  #number(): Value {
    const digits = (this.#take(number) ?? this.#fail('This is not a value')).replaceAll('_', '');
    if (/inf|nan/.test(digits))
      return digits.includes('nan') ? Number.NaN : digits.startsWith('-') ? -Infinity : Infinity;
    if (/^0[xob]/.test(digits) || /^[-+]?\d+$/.test(digits)) {
      const whole = digits.startsWith('-') ? -BigInt(digits.slice(1)) : BigInt(digits.replace(/^\+/, ''));
      return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
    }
    const float = Number(digits);
    return Number.isInteger(float) ? new PyFloat(float) : float;
  }

  #array(depth: number): Value {
    this.#at++;
    const items: Value[] = [];
    for (;;) {
      this.#take(blank);
      if (this.#next() === ']') break;
      items.push(plain(this.#value(depth + 1)));
      this.#take(blank);
      if (this.#next() === ']') break;
      this.#expect(',');
    }
    this.#at++;
    return items;
  }

  #inline(depth: number): Table {
    this.#at++;
    const table: Table = new Map();
    this.#take(space);
    while (this.#next() !== '}') {
      const start = this.#at;
      const path = this.#key();
      this.#expect('=');
      this.#take(space);
      const name = path.pop() as string;
      const target = this.#walk(table, path, start);
      if (target.has(name)) this.#fail('Duplicate keys!', start);
      target.set(name, this.#value(depth + 1));
      this.#take(space);
      if (this.#next() === '}') break;
      this.#expect(',');
      this.#take(space);
      if (this.#next() === '}') this.#fail('Expected a key');
    }
    this.#at++;
    this.#closed.add(table);
    this.#defined.add(table);
    return table;
  }

  #string(quote: string): string {
    const start = this.#at++;
    let made = '';
    for (;;) {
      const character = this.#next();
      if (character === undefined || character === '\n') this.#fail('Unterminated string found', start);
      this.#at++;
      if (character === quote) return made;
      made += character === '\\' && quote === '"' ? this.#escape() : character;
    }
  }

  /** Text between triple quotes; a line break directly after the opening quotes is dropped. */
  #block(quote: string): string {
    const start = this.#at;
    this.#at += 3;
    this.#take(/\r?\n/y);
    let made = '';
    for (;;) {
      if (this.#at >= this.#text.length) this.#fail('Unterminated string found', start);
      if (this.#text.startsWith(quote.repeat(3), this.#at)) {
        this.#at += 3;
        // Up to two quotes may precede the closing ones.
        const more = this.#take(quote === '"' ? /"{0,2}/y : /'{0,2}/y) ?? '';
        return made + more;
      }
      const character = this.#next() as string;
      this.#at++;
      if (character !== '\\' || quote === "'") made += character;
      else if (this.#take(/[ \t]*\r?\n\s*/y) === undefined) made += this.#escape();
    }
  }

  #escape(): string {
    const letter = this.#next() ?? '';
    const size = letter === 'u' ? 4 : letter === 'U' ? 8 : 0;
    if (size === 0 && !Object.hasOwn(escapes, letter)) this.#fail('Reserved escape sequence used');
    this.#at++;
    if (size === 0) return escapes[letter] as string;
    const digits = this.#text.slice(this.#at, this.#at + size);
    const code = new RegExp(`^[0-9A-Fa-f]{${size}}$`).test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) this.#fail('Invalid escape sequence');
    this.#at += size;
    return String.fromCodePoint(code);
  }
}

const isTable = (node: Node): node is Table => node instanceof Map;
function plain(node: Node): Value {
  if (isTable(node)) return dictOf([...node].map(([key, item]) => [key, plain(item)]));
  if (node instanceof Tables) return node.list.map((item) => plain(item));
  return node;
}

/** Throws TomlError with line and column. */
export const loadToml = (text: string): Dict => new TomlReader(text).read();
