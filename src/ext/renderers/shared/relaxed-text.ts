// Shared code of the readers of JSON5 and Hjson: a position in a text, escapes, and errors with the position.
import { PyFloat, RenderError, type Value } from 'halite/sdk';

const simple: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const maxDepth = 500;

export class TextCursor {
  readonly text: string;
  readonly #file: string | undefined;
  readonly #firstLine: number;
  at = 0;

  /** `firstLine`: the line of the file in which the text begins. */
  constructor(text: string, file: string | undefined, firstLine: number) {
    this.text = text;
    this.#file = file;
    this.#firstLine = firstLine;
  }

  get next(): string | undefined {
    return this.text[this.at];
  }

  /** The text that a sticky expression matches here; moves behind it. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  /** Limits the depth of nested values. */
  checkDepth(depth: number): void {
    if (depth > maxDepth) this.fail('The data is nested too deeply');
  }

  /** An error with the line and column; without a message it names the character there. */
  fail(problem?: string, at = this.at): never {
    const before = this.text.slice(0, at);
    const line = before.split('\n').length - 1 + this.#firstLine;
    const column = at - before.lastIndexOf('\n');
    const character = this.text[at];
    const found =
      problem ?? (character === undefined ? 'Unexpected end of input' : `Unexpected ${JSON.stringify(character)}`);
    const excerpt = `${this.text.split('\n')[line - this.#firstLine] ?? ''}    <======================`;
    const place = { file: this.#file, line, column, excerpt };
    throw new RenderError(`<string>:${line} ${found} at column ${column}`, place, { pyType: 'ValueError' });
  }

  /** A text from its opening quote to its closing one; `escaped` reads what follows a backslash. */
  quoted(quote: string, escaped: (cursor: TextCursor) => string): string {
    const start = this.at++;
    let made = '';
    for (;;) {
      const character = this.next;
      if (character === undefined) return this.fail('Unterminated string', start);
      if (character === '\n' || character === '\r') return this.fail('Unescaped line break in a string');
      this.at++;
      if (character === quote) return made;
      made += character === '\\' ? escaped(this) : character;
    }
  }

  /** The character a backslash sequence stands for; the cursor is behind the backslash. */
  escape(extra: Readonly<Record<string, string>>): string {
    const letter = this.next;
    if (letter === undefined) return this.fail();
    const size = letter === 'u' ? 4 : letter === 'x' && 'x' in extra ? 2 : 0;
    if (size > 0) {
      const digits = this.text.slice(this.at + 1, this.at + 1 + size);
      if (!new RegExp(`^[0-9a-fA-F]{${size}}$`).test(digits)) return this.fail(`Invalid \\${letter} escape`);
      this.at += 1 + size;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    this.at++;
    const known = Object.hasOwn(simple, letter)
      ? simple[letter]
      : Object.hasOwn(extra, letter)
        ? extra[letter]
        : undefined;
    if (known !== undefined) return known;
    return letter;
  }
}

/** A number as Python reads it: whole ones of any size, others as floats. */
export function numberOf(digits: string): Value {
  const sign = digits.startsWith('-') ? -1 : 1;
  const plain = digits.replace(/^[-+]/, '');
  if (/^(?:0[xX][0-9a-fA-F]+|\d+)$/.test(plain)) {
    const whole = BigInt(plain) * BigInt(sign);
    const near = Number(whole);
    return Number.isSafeInteger(near) ? near : whole;
  }
  const value = sign * Number(plain);
  return Number.isInteger(value) ? new PyFloat(value) : value;
}

/** The text after a `#!` line, and the number of its first line. */
export function behindShebang(source: string): { readonly text: string; readonly firstLine: number } {
  if (!source.startsWith('#!')) return { text: source, firstLine: 1 };
  return { text: source.slice(source.indexOf('\n') + 1 || source.length), firstLine: 2 };
}
