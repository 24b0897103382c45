// A line on the terminal with the progress of a job, erased before anything else is printed.
import { isatty } from 'node:tty';
import { visibleLine } from '../../base/util/visible.ts';
import type { Terminal } from '../io.ts';

const wipe = '\r\x1b[K';
const bar = 20;
/** More of a minion's output than fits here is not read in passing. */
const widest = 119;

export interface ProgressLine {
  readonly done: number;
  readonly total: number;
  /** Last output of a minion that is still running. */
  readonly text: string;
}

/**
 * `[#####               ] 25%  Returns: [5/20]  web1: unpacking`, in one line of the terminal: what wraps could not be
 * erased again.
 */
export function progressText({ done, total, text }: ProgressLine, columns = 80): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.floor(share * bar);
  const counts = `${Math.floor(share * 100)}%  Returns: [${done}/${total}]`;
  const head = columns < 50 ? counts : `[${'#'.repeat(filled).padEnd(bar)}] ${counts}`;
  return (text === '' ? head : `${head}  ${visibleLine(text)}`).slice(0, Math.min(widest, Math.max(columns - 1, 10)));
}

export interface ProgressOptions {
  /** -p was given. */
  readonly asked: boolean;
  /** --no-progress was given. */
  readonly never: boolean;
  readonly io: Terminal;
  readonly isTerminal?: () => boolean;
  /** Of the terminal, which may be resized meanwhile. */
  readonly columns?: () => number;
}

/** A terminal that can erase a line; `dumb` is what Emacs and logs of builds say they are. */
const canErase = (): boolean => isatty(2) && process.env['TERM'] !== 'dumb';

/** Shown on a terminal on request, and by default from this many targets on. */
const many = 20;

export class LiveProgress {
  readonly #options: ProgressOptions;
  readonly #terminal: boolean;
  #shown = false;
  #on = false;
  #line: ProgressLine = { done: 0, total: 0, text: '' };

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#terminal = (options.isTerminal ?? canErase)();
  }

  start(total: number): void {
    const { asked, never } = this.#options;
    this.#line = { done: 0, total, text: '' };
    this.#on = this.#terminal && !never && (asked || total > many);
    this.#draw();
  }

  update(change: Partial<ProgressLine>): void {
    this.#line = { ...this.#line, ...change };
    this.#draw();
  }

  /** Call before printing anything else. */
  clear(): void {
    if (this.#shown) this.#options.io.err(wipe, 'all');
    this.#shown = false;
  }

  /** The final state; a separate line when there is no terminal. */
  end(): void {
    this.clear();
    const { asked, never, io } = this.#options;
    if (asked && !never && !this.#terminal) io.err(`${progressText(this.#line)}\n`);
    this.#on = false;
  }

  #draw(): void {
    if (!this.#on) return;
    const columns = (this.#options.columns ?? (() => process.stderr.columns))() || 80;
    this.#options.io.err(`${this.#shown ? wipe : ''}${progressText(this.#line, columns)}`, 'all');
    this.#shown = true;
  }
}
