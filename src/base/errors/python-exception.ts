// An exception of users' Python code, with Python's own trace.

import { HaliteError } from './error.ts';

/** Where in the user's file it was raised. */
export interface PythonPlace {
  readonly file: string;
  readonly line: number;
  /** The text of that line. */
  readonly source: string;
}

export class PythonException extends Error {
  /** Python's text, which begins with `Traceback (most recent call last):`. */
  readonly trace: string;
  readonly place: PythonPlace | undefined;
  /** Identifies the exception object in its worker: it comes back there as the same object. */
  readonly ref: number | undefined;

  constructor(type: string, message: string, trace: string, place?: PythonPlace, ref?: number) {
    super(message);
    this.name = type;
    this.trace = trace;
    this.place = place;
    this.ref = ref;
  }
}

/** The Python process of a call has ended before the call did. */
export class PythonEnded extends HaliteError {
  /** Its exit status; 128+n when it was ended by signal n. */
  readonly status: number;

  constructor(message: string, status: number) {
    super('call.failed', message);
    this.status = status;
  }
}
