// The one error class of Halite: a stable code, a message, and what to do next.
import type { ErrorCode } from './codes.ts';

export interface ErrorExtras {
  /** What to do next, one sentence. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A failure to do what was requested. Expected outcomes are values, not errors. */
export class HaliteError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'HaliteError';
    this.code = code;
    this.hint = extras.hint;
    this.details = extras.details ?? {};
  }
}

/** The text of anything thrown, for logs and replies. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
