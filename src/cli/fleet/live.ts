// Shows the table while a fleet runs: redrawn in place on a terminal, a line now and then where there is none.
import { isatty } from 'node:tty';
import { visibleLine } from '../../base/util/visible.ts';
import type { Terminal } from '../io.ts';

const clearBelow = '\x1b[J';
const bold = (text: string): string => `\x1b[1m${text}\x1b[22m`;

export interface LiveOptions {
  readonly io: Terminal;
  readonly quiet: boolean;
  readonly isTerminal?: boolean;
  readonly columns?: () => number;
  readonly color?: boolean;
}

export class LiveTable {
  readonly #options: LiveOptions;
  readonly onTerminal: boolean;
  readonly #color: boolean;
  #lines = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.onTerminal = options.isTerminal ?? isatty(2);
    this.#color = this.onTerminal && (options.color ?? !process.env['NO_COLOR']);
  }

  /** A line that fills the last column would wrap, and the next table would begin too low. */
  get width(): number {
    const columns = this.#options.columns?.() ?? process.stderr.columns;
    return this.onTerminal ? Math.max(20, (columns || 80) - 1) : 0;
  }

  show(lines: readonly string[]): void {
    if (this.#options.quiet) return;
    const safe = lines.map(visibleLine);
    if (!this.onTerminal) {
      this.#options.io.err(`${safe.join(' |')}\n`);
      return;
    }
    const [title = '', ...others] = safe;
    const text = [this.#color ? bold(title) : title, ...others].join('\n');
    this.#options.io.err(`${this.#back()}${text}\n`, 'all');
    this.#lines = lines.length;
  }

  /** Removes it, before anything else is printed. */
  clear(): void {
    if (this.#lines > 0) this.#options.io.err(this.#back(), 'all');
    this.#lines = 0;
  }

  #back(): string {
    return this.#lines > 0 ? `\x1b[${this.#lines}A\r${clearBelow}` : '';
  }
}
