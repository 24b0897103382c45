// The position of the scanner: offset, column and indentation; shared by the scanner and its helpers.
import { countAstral, isBlankOrEnd, isBreak } from './chars.ts';
import type { YamlSource } from './source.ts';

export class ScanState {
  readonly source: YamlSource;
  readonly text: string;
  pos: number;
  /** Start of the current line. */
  lineStart: number;
  /** Characters above the basic plane so far, on this line and in total: they take two codes but one column. */
  lineAstral = 0;
  astral = 0;
  indent = -1;
  flowLevel = 0;
  simpleKeyAllowed = true;
  /** Line breaks skipped inside a scalar; '' when there was none. */
  firstBreak = '';
  laterBreaks = '';
  readonly #hasAstral: boolean;

  constructor(source: YamlSource) {
    this.source = source;
    this.text = source.text;
    this.pos = source.start;
    this.lineStart = this.pos;
    this.#hasAstral = /[\ud800-\udbff]/.test(this.text);
  }

  get column(): number {
    return this.pos - this.lineStart - this.lineAstral;
  }

  at(offset: number): number {
    return this.text.charCodeAt(this.pos + offset);
  }

  get atEnd(): boolean {
    return this.pos >= this.text.length;
  }

  /** Moves forward on the same line. */
  moveTo(pos: number): void {
    if (this.#hasAstral) {
      const count = countAstral(this.text, this.pos, pos);
      this.lineAstral += count;
      this.astral += count;
    }
    this.pos = pos;
  }

  skipBlanks(): void {
    let c = this.at(0);
    while (c === 32 || c === 9) {
      this.pos++;
      c = this.at(0);
    }
  }

  /**
   * Takes a line break if there is one; returns the text it represents (`\n`, or the Unicode separators as they are).
   */
  takeBreak(): string {
    const c = this.at(0);
    if (!isBreak(c)) return '';
    this.pos += c === 13 && this.at(1) === 10 ? 2 : 1;
    this.lineStart = this.pos;
    this.lineAstral = 0;
    if (c === 0x2028) return '\u2028';
    return c === 0x2029 ? '\u2029' : '\n';
  }

  /** `---` or `...` alone at the start of a line. */
  atDocumentIndicator(): boolean {
    if (this.pos !== this.lineStart) return false;
    const c = this.at(0);
    if (c !== 45 && c !== 46) return false;
    return this.at(1) === c && this.at(2) === c && isBlankOrEnd(this.at(3));
  }

  /** Takes a line break inside a scalar. */
  noteBreak(): void {
    if (this.firstBreak === '') this.firstBreak = this.takeBreak();
    else this.laterBreaks += this.takeBreak();
  }

  /** The text that the recorded line breaks are read as; also resets them. */
  foldBreaks(): string {
    const folded = foldBreaks(this.firstBreak, this.laterBreaks);
    this.firstBreak = '';
    this.laterBreaks = '';
    return folded;
  }

  fail(problem: string, context?: string, contextPos?: number): never {
    return this.source.fail('ScannerError', problem, this.pos, context, contextPos);
  }
}

/**
 * How line breaks inside a flow scalar are read: one becomes a space, several become one fewer, Unicode separators
 * stay.
 */
function foldBreaks(first: string, rest: string): string {
  if (first !== '\n') return first + rest;
  return rest === '' ? ' ' : rest;
}
