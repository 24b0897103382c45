// Exceptions of Python as errors of Halite, and errors of Halite as exceptions of Python.
import { asText, fieldOf, isTexts, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf, PythonException } from '../../base/errors/index.ts';
import { commandError, commandNotFound, invocationError, RenderError } from '../../extend/sdk/index.ts';

/** What a worker reports about an exception. */
export function errorOf(report: Value): Error {
  const type = asText(fieldOf(report, 'type')) ?? 'Exception';
  const message = asText(fieldOf(report, 'message')) ?? '';
  const bases = fieldOf(report, 'bases');
  const classes = isTexts(bases) ? bases : [type];
  if (classes.includes('CommandNotFoundError')) return commandNotFound(message);
  if (classes.includes('CommandExecutionError')) return commandError(message);
  if (classes.includes('SaltInvocationError')) return invocationError(message);
  if (classes.includes('SaltRenderError')) return new RenderError(message, placeOf(report) ?? {});
  const ref = fieldOf(report, 'ref');
  const trace = asText(fieldOf(report, 'trace')) ?? `${type}: ${message}`;
  return new PythonException(type, message, trace, placeOf(report), typeof ref === 'number' ? ref : undefined);
}

export function placeOf(report: Value): { file: string; line: number; source: string } | undefined {
  const file = asText(fieldOf(report, 'file'));
  const line = fieldOf(report, 'line');
  if (file === undefined || typeof line !== 'number') return undefined;
  return { file, line, source: asText(fieldOf(report, 'source')) ?? '' };
}

/** The status with which the user's code wanted to end its process; undefined for other exceptions. */
export function exitStatusOf(report: Value): number | undefined {
  const bases = fieldOf(report, 'bases');
  const status = fieldOf(report, 'status');
  return isTexts(bases) && bases.includes('SystemExit') && typeof status === 'number' ? status : undefined;
}

export interface Failure {
  readonly type: string;
  readonly message: string;
  readonly ref?: number;
}

/** The class that Salt raises for the same, so that `except` works as written. */
export function failureOf(thrown: unknown): Failure {
  const message = messageOf(thrown);
  if (thrown instanceof PythonException)
    return { type: thrown.name, message, ...(thrown.ref === undefined ? {} : { ref: thrown.ref }) };
  if (thrown instanceof RenderError) return { type: thrown.pyType, message };
  if (thrown instanceof HaliteError) return { type: classOf(thrown), message };
  // The names of Python's own exceptions, which modules of Halite use.
  if (
    thrown instanceof Error &&
    /^[A-Z]\w+(?:Error|Exception|Exit|Timeout)$/.test(thrown.name) &&
    !isOfJavaScript(thrown)
  )
    return { type: thrown.name, message };
  return { type: 'SaltException', message };
}

const isOfJavaScript = (error: Error): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof SyntaxError ||
  error instanceof ReferenceError;

function classOf(error: HaliteError): string {
  if (error.name === 'ArgumentError') return 'TypeError';
  if (error.name === 'CommandNotFoundError') return error.name;
  switch (error.code) {
    case 'call.unknown':
      return 'KeyError';
    case 'call.arguments':
      return 'SaltInvocationError';
    case 'wire.timeout':
      return 'SaltReqTimeoutError';
    case 'auth.denied':
      return 'AuthorizationError';
    default:
      return 'CommandExecutionError';
  }
}
