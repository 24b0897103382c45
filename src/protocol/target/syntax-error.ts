// Errors that show the expression with a mark under the faulty word.
import { HaliteError } from '../../base/errors/index.ts';

/** A word of an expression and its offset. */
export interface Word {
  readonly text: string;
  readonly at: number;
}

/** The words of a text, split at white space as Python's str.split() does. */
export function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(/\S+/g), (found) => ({ text: found[0], at: found.index }));
}

/** Words that were given as a list, with their offsets when joined by spaces. */
export function placed(texts: readonly string[]): Word[] {
  let at = 0;
  return texts
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const word = { text, at };
      at += text.length + 1;
      return word;
    });
}

const context = 60;
const mostDetail = 2000;

export function syntaxError(
  message: string,
  expression: string,
  at: number,
  length: number,
  hint?: string,
): HaliteError {
  // Long expressions are truncated so that the mark stays visible.
  const from = Math.max(0, at - context);
  const to = Math.min(expression.length, at + Math.min(length, context) + context);
  const before = (from > 0 ? '…' : '') + expression.slice(from, at);
  const shown = before + expression.slice(at, to) + (to < expression.length ? '…' : '');
  const mark = ' '.repeat(before.length) + '^'.repeat(Math.max(1, Math.min(length, context)));
  return new HaliteError('target.syntax', `${message}\n  ${shown}\n  ${mark}`, {
    ...(hint === undefined ? {} : { hint }),
    details: { expression: expression.slice(0, mostDetail), at, length },
  });
}

/** An error about the whole expression. */
export function wholeError(message: string, expression: string, hint?: string): HaliteError {
  return syntaxError(message, expression, 0, expression.length, hint);
}
