// Failures with the messages and exception types of Salt's functions.
import { HaliteError } from '../../base/errors/index.ts';

/** Corresponds to Salt's CommandExecutionError: operators see `ERROR: <message>`. */
export function commandError(message: string): HaliteError {
  return new HaliteError('call.failed', message);
}

/** Corresponds to Salt's CommandNotFoundError: a program that the function needs does not exist. */
export function commandNotFound(message: string): HaliteError {
  return Object.assign(commandError(message), { name: 'CommandNotFoundError' });
}

/** Corresponds to Salt's SaltInvocationError: the arguments do not fit together. */
export function invocationError(message: string): HaliteError {
  return new HaliteError('call.arguments', message);
}

/** Any other Python exception, shown to operators with its Python name (`ValueError: …`). */
export function pythonError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  // The stack trace shall end at the failure, not in this function.
  Error.captureStackTrace(error, pythonError);
  return error;
}
