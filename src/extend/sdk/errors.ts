// Failures in the words and kinds Salt's functions use.
import { HaliteError } from '../../base/errors/index.ts';

/** What Salt raises as CommandExecutionError: operators see `ERROR: <message>`. */
export function commandError(message: string): HaliteError {
  return new HaliteError('call.failed', message);
}

/** What Salt raises as CommandNotFoundError: a program that a function is of no use without is not there. */
export function commandNotFound(message: string): HaliteError {
  return Object.assign(commandError(message), { name: 'CommandNotFoundError' });
}

/** What Salt raises as SaltInvocationError: the arguments make no sense together. */
export function invocationError(message: string): HaliteError {
  return new HaliteError('call.arguments', message);
}

/** Any other Python exception, shown to operators with its Python name (`ValueError: …`). */
export function pythonError(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  // The traceback shall end where the failure is, not in here.
  Error.captureStackTrace(error, pythonError);
  return error;
}
