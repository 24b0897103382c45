// State of the reading of a Python expression, and its error.
import { HaliteError } from '../../errors/index.ts';
import type { Width } from './tree.ts';

export interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
  x: boolean;
  a: boolean;
}

/** Where the reading stands. */
export interface Cursor {
  readonly text: readonly string[];
  at: number;
  flags: Flags;
  /** Case is ignored in parts only: letters are written in both cases instead of using the flag. */
  readonly expandCase: boolean;
  /** Groups that are closed, and how wide they are; only these can be referred to. */
  readonly closed: Map<number, Width>;
  readonly names: Map<string, number>;
  count: number;
}

export function bad(cursor: Cursor, why: string): HaliteError {
  return new HaliteError('codec.malformed', `The regular expression is not valid: ${why} at character ${cursor.at}`, {
    details: { at: cursor.at, pattern: cursor.text.slice(0, 1000).join('') },
  });
}
