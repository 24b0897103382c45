// The state of parsing a Python expression, and its error.
import { HaliteError } from '../../errors/index.ts';
import type { Width } from './tree.ts';

export interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
  x: boolean;
  a: boolean;
}

/** The current offset. */
export interface Cursor {
  readonly text: readonly string[];
  at: number;
  flags: Flags;
  /** Case is ignored only in parts: letters are written in both cases instead of using the flag. */
  readonly expandCase: boolean;
  /** Closed groups and their widths; only these can be referenced. */
  readonly closed: Map<number, Width>;
  readonly names: Map<string, number>;
  count: number;
}

export function bad(cursor: Cursor, why: string): HaliteError {
  return new HaliteError('codec.malformed', `The regular expression is not valid: ${why} at character ${cursor.at}`, {
    details: { at: cursor.at, pattern: cursor.text.slice(0, 1000).join('') },
  });
}
