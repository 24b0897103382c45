// The text being read, with its name: converts offsets to lines and columns, and problems to errors.
import { countAstral } from './chars.ts';
import { YamlError, type YamlErrorCode, type YamlErrorKind } from './error.ts';

export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, counted in characters. */
  readonly column: number;
}

const breaks = /\r\n|[\n\r\x85\u2028\u2029]/g;
const bom = 0xfeff;
// Everything a YAML stream may not hold, lone surrogates included.
const unusual = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd]/;
const refused =
  /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ud800-\udfff\ue000-\ufffd]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * A position is an index into the text. One past the length means "on the line after the last one",
 * which is where libyaml reports an unexpected end when the text has no final line break.
 */
export class YamlSource {
  readonly text: string;
  readonly name: string;
  readonly code: YamlErrorCode;
  #lineStarts: number[] | undefined;

  constructor(text: string, name: string, code: YamlErrorCode) {
    this.text = text;
    this.name = name;
    this.code = code;
  }

  /** The index of the first character after a byte order mark. */
  get start(): number {
    return this.text.charCodeAt(0) === bom ? 1 : 0;
  }

  /** Refuses control characters, as the reader of libyaml does before anything is parsed. */
  checkCharacters(): void {
    const match = unusual.test(this.text) ? refused.exec(this.text) : null;
    if (match === null) return;
    const offset = Buffer.byteLength(this.text.slice(0, match.index), 'utf8');
    const character = this.text.charCodeAt(match.index);
    const surrogate = character >= 0xd800 && character <= 0xdfff;
    throw new YamlError(this, {
      kind: 'ReaderError',
      problem: surrogate ? 'invalid Unicode character' : 'control characters are not allowed',
      pos: match.index,
      character,
      offset,
    });
  }

  lineOf(pos: number): number {
    const starts = this.#starts();
    if (pos > this.text.length) return starts.length + 1;
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= pos) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  locate(pos: number): Place {
    const line = this.lineOf(pos);
    if (pos > this.text.length) return { line, column: 1 };
    const from = this.#starts()[line - 1] ?? 0;
    return { line, column: pos - from - countAstral(this.text, from, pos) + 1 };
  }

  fail(kind: YamlErrorKind, problem: string, pos: number, context?: string, contextPos?: number): never {
    throw new YamlError(this, { kind, problem, pos, context, contextPos });
  }

  #starts(): number[] {
    if (this.#lineStarts === undefined) {
      this.#lineStarts = [this.start];
      for (const match of this.text.matchAll(breaks)) this.#lineStarts.push(match.index + match[0].length);
    }
    return this.#lineStarts;
  }
}
