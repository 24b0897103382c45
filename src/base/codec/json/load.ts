// Reads JSON and preserves what Python distinguishes: big integers, whole floats, NaN and the order of keys.
import { HaliteError } from '../../errors/index.ts';
import { type Dict, isReorderedKey, newDict, PyFloat, type Value } from '../value.ts';

export interface LoadOptions {
  readonly maxDepth?: number;
  /** Whole floats become PyFloat (default); false gives plain numbers. */
  readonly keepFloats?: boolean;
}

const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const spacePattern = /[ \t\n\r]*/y;
const plainText = /[^"\\\x00-\x1f]*/y;
const words: readonly (readonly [string, Value])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** The value of a JSON text. */
export function loadJson(text: string, options: LoadOptions = {}): Value {
  return new JsonReader(text, options).document();
}

class JsonReader {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #keepFloats: boolean;
  #at = 0;

  constructor(text: string, options: LoadOptions) {
    this.#text = text;
    this.#maxDepth = options.maxDepth ?? 256;
    this.#keepFloats = options.keepFloats !== false;
  }

  document(): Value {
    this.#space();
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#malformed('text follows the value');
    return value;
  }

  #malformed(what: string): HaliteError {
    const before = this.#text.slice(0, this.#at).split('\n');
    const line = before.length;
    const column = (before.at(-1)?.length ?? 0) + 1;
    return new HaliteError('codec.malformed', `Not valid JSON: ${what} at line ${line}, column ${column}`, {
      details: { line, column },
    });
  }

  #space(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code > 32) return;
    spacePattern.lastIndex = this.#at;
    spacePattern.test(this.#text);
    this.#at = spacePattern.lastIndex;
  }

  #value(depth: number): Value {
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    return this.#number() ?? this.#word();
  }

  #word(): Value {
    for (const [word, value] of words) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    throw this.#malformed(this.#at < this.#text.length ? 'a value was expected' : 'the text ends early');
  }

  #number(): Value | undefined {
    numberPattern.lastIndex = this.#at;
    const found = numberPattern.exec(this.#text);
    if (!found) return undefined;
    this.#at = numberPattern.lastIndex;
    const value = Number(found[0]);
    if (found[1] !== undefined || found[2] !== undefined) {
      return this.#keepFloats && Number.isInteger(value) ? new PyFloat(value) : value;
    }
    return Number.isSafeInteger(value) ? value + 0 : BigInt(found[0]);
  }

  #string(): string {
    const text = this.#text;
    let out = '';
    this.#at++;
    for (;;) {
      plainText.lastIndex = this.#at;
      plainText.test(text);
      out += text.slice(this.#at, plainText.lastIndex);
      this.#at = plainText.lastIndex;
      const stop = text[this.#at];
      if (stop === '"') break;
      if (stop !== '\\')
        throw this.#malformed(stop === undefined ? 'a string is not closed' : 'a control character in a string');
      out += this.#escape();
    }
    this.#at++;
    return out;
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? '';
    const simple = escapes[letter];
    if (simple !== undefined) {
      this.#at += 2;
      return simple;
    }
    const digits = this.#text.slice(this.#at + 2, this.#at + 6);
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#malformed('a wrong escape');
    this.#at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #open(depth: number): void {
    if (depth >= this.#maxDepth)
      throw new HaliteError('codec.limit', `JSON is nested deeper than ${this.#maxDepth} levels`);
    this.#at++;
    this.#space();
  }

  /** After an item: true when another follows. */
  #more(close: string): boolean {
    this.#space();
    const next = this.#text[this.#at];
    if (next !== ',' && next !== close) throw this.#malformed(`"," or "${close}" was expected`);
    this.#at++;
    if (next === close) return false;
    this.#space();
    return true;
  }

  #array(depth: number): Value[] {
    this.#open(depth);
    const items: Value[] = [];
    if (this.#text[this.#at] === ']') {
      this.#at++;
      return items;
    }
    do items.push(this.#value(depth + 1));
    while (this.#more(']'));
    return items;
  }

  #object(depth: number): Dict {
    this.#open(depth);
    const plain = newDict();
    let map: Map<Value, Value> | undefined;
    if (this.#text[this.#at] === '}') {
      this.#at++;
      return plain;
    }
    do {
      if (this.#text[this.#at] !== '"') throw this.#malformed('a key in quotes was expected');
      const key = this.#string();
      this.#space();
      if (this.#text[this.#at] !== ':') throw this.#malformed('":" was expected');
      this.#at++;
      this.#space();
      const value = this.#value(depth + 1);
      if (!map && isReorderedKey(key)) map = new Map<Value, Value>(Object.entries(plain));
      if (map) map.set(key, value);
      else plain[key] = value;
    } while (this.#more('}'));
    return map ?? plain;
  }
}
