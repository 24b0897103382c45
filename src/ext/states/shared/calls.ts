// Helpers for calls of execution functions: whether they exist, their errors, and their dictionaries.
import {
  HaliteError,
  isDict,
  messageOf,
  newDict,
  type PlainDict,
  type StateContext,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { plainNested } from '../../shared/output/nested-text.ts';

/** Whether an execution function is available on this minion. */
export async function hasFunction(ctx: StateContext, fun: string): Promise<boolean> {
  return (await ctx.registry.functionInfo('modules', fun)) !== undefined;
}

/** Data as text for comments. */
export function readable(value: Value): string {
  return plainNested(value).trimEnd();
}

/** The data of a failed command besides its message. */
export interface Failure {
  readonly message: string;
  /** Changes made before it failed; undefined when nothing is known of them. */
  readonly changes: PlainDict | undefined;
  /** The message without those changes. */
  readonly short: string;
}

export function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  const info = error instanceof HaliteError ? error.details['info'] : undefined;
  if (info === undefined || !isDict(info as Value)) return { message, changes: undefined, short: message };
  const { changes, ...rest } = textKeyed(info as Value);
  const head = message.split('Additional info follows:')[0]?.trimEnd() ?? message;
  const short =
    Object.keys(rest).length > 0
      ? `${head} Additional info follows:\n\n${readable(newDict(Object.entries(rest)))}`
      : head.replace(/\.$/, '');
  return { message, changes: textKeyed(changes), short };
}

/** Whether an error is an expected failure (a command failed, arguments are invalid), not a programming error. */
export const isExpected = (error: unknown): boolean => error instanceof HaliteError;
