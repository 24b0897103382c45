// Errors of a function call, each with Salt's message.
import { HaliteError } from '../../base/errors/index.ts';

/** Arguments do not fit the function's signature: a TypeError in Python. */
export class ArgumentError extends HaliteError {
  constructor(message: string) {
    super('call.arguments', message);
    this.name = 'ArgumentError';
  }
}

/** A program the function needs is not installed. */
export class CommandNotFoundError extends HaliteError {
  constructor(command: string) {
    super('call.failed', command);
    this.name = 'CommandNotFoundError';
  }
}

/** Keyword arguments that a function does not have, as `key=value` texts. */
export function invalidKwargs(shown: readonly string[]): HaliteError {
  return new HaliteError('call.arguments', `The following keyword arguments are not valid: ${shown.join(', ')}`);
}
