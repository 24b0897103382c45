// The output of the emitter: the text so far, the column, and the kind of the last white space.

export class Writer {
  text = '';
  column = 0;
  /** The last character written was white space. */
  whitespace = true;
  /** The line contains only indentation and indicators. */
  indention = true;
  /** Current indentation, -1 at the root. */
  level = -1;
  flowLevel = 0;
  readonly width: number;
  readonly step: number;
  readonly allowUnicode: boolean;

  constructor(width: number, step: number, allowUnicode: boolean) {
    this.width = width;
    this.step = step;
    this.allowUnicode = allowUnicode;
  }

  /** Writes text without line breaks; characters above the basic plane are escaped before, so codes are columns. */
  put(text: string): void {
    this.text += text;
    this.column += text.length;
  }

  lineBreak(text: string): void {
    this.text += text;
    this.column = 0;
  }

  /** Begins a line at the current indentation, unless one has just begun there. */
  indent(): void {
    const level = Math.max(this.level, 0);
    if (!this.indention || this.column > level || (this.column === level && !this.whitespace)) this.lineBreak('\n');
    if (this.column < level) this.put(' '.repeat(level - this.column));
    this.whitespace = true;
    this.indention = true;
  }

  indicator(text: string, needsWhitespace: boolean, isWhitespace: boolean, isIndention: boolean): void {
    if (needsWhitespace && !this.whitespace) this.put(' ');
    this.put(text);
    this.whitespace = isWhitespace;
    this.indention = this.indention && isIndention;
  }

  /** Runs with deeper indentation. */
  deeper(flow: boolean, indentless: boolean, run: () => void): void {
    const before = this.level;
    if (before < 0) this.level = flow ? this.step : 0;
    else if (!indentless) this.level += this.step;
    run();
    this.level = before;
  }
}
