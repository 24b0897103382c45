// State of the translation of a Python expression, and its error.
import { HaliteError } from '../errors/index.ts';

export interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
  x: boolean;
  a: boolean;
}

/** Where the translation stands. */
export interface Cursor {
  readonly text: readonly string[];
  at: number;
  flags: Flags;
  /** Case is ignored in parts only: letters are written in both cases instead of using the flag. */
  readonly expandCase: boolean;
  /** Python group number → JavaScript group number; they differ after an atomic group. */
  readonly groups: number[];
  readonly names: Set<string>;
  count: number;
}

export function bad(cursor: Cursor, why: string): HaliteError {
  return new HaliteError('codec.malformed', `The regular expression is not valid: ${why} at character ${cursor.at}`, {
    details: { at: cursor.at, pattern: cursor.text.join('') },
  });
}
