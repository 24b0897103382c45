// The outcome of a function call, with the texts and codes of a Salt minion.
import { isTruthy } from '../../base/codec/python/index.ts';
import { dictGet, isDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, PythonEnded, PythonException } from '../../base/errors/index.ts';
import { ArgumentError, CommandNotFoundError } from './errors.ts';
import { pythonTraceback } from './traceback.ts';

/** The part of a job return that depends on the call. Multi-function jobs have a map per field. */
export interface Outcome {
  readonly return: Value;
  readonly retcode: Value;
  readonly success: Value;
  /** The outputter to print it with, when the function or the failure requires one. */
  readonly out?: string;
}

const generic = 1;

export function failed(text: Value, retcode = generic): Outcome {
  return { return: text, retcode, success: false, out: 'nested' };
}

/** A finished call: the function's own retcode, or 1 when it returned a map that reports failure. */
export function finished(value: Value, retcode: number, outputter: string | undefined): Outcome {
  const code = retcode === 0 && saysFailure(value) ? generic : retcode;
  return { return: value, retcode: code, success: code === 0, ...(outputter ? { out: outputter } : {}) };
}

function saysFailure(value: Value): boolean {
  if (!isDict(value)) return false;
  return ['result', 'success'].some((key) => {
    const said = dictGet(value, key);
    return said !== undefined && !isTruthy(said);
  });
}

/** A call that threw. `doc` is the function's documentation, printed when the arguments were wrong. */
export function thrownOutcome(fun: string, thrown: unknown, doc: string): Outcome {
  if (thrown instanceof ArgumentError || isPythonTypeError(thrown))
    return failed(`Passed invalid arguments to ${fun}: ${thrown.message}\n${doc}`);
  if (isCommandNotFound(thrown)) return failed(`Command required for '${fun}' not found: ${thrown.message}`);
  if (!isHaliteError(thrown)) return failed(`The minion function caused an exception: ${pythonTraceback(thrown)}`);
  return failed(
    thrown.code === 'call.failed' ? `ERROR: ${thrown.message}` : `ERROR executing '${fun}': ${thrown.message}`,
    thrown instanceof PythonEnded && thrown.status > 0 ? thrown.status : generic,
  );
}

/** User code may have its own copy of the class, so the name is compared, not the identity. */
export function isHaliteError(thrown: unknown): thrown is HaliteError {
  if (thrown instanceof HaliteError) return true;
  return thrown instanceof Error && thrown.name === 'HaliteError' && 'code' in thrown;
}

/** A program is missing: found by the engine, or reported by a module. */
export function isCommandNotFound(thrown: unknown): thrown is Error {
  return thrown instanceof CommandNotFoundError || (thrown instanceof Error && thrown.name === 'CommandNotFoundError');
}

/**
 * A TypeError that a module raises as Python's; JavaScript's own TypeError is a defect of the program and keeps its
 * trace, and so does one inside of a user's Python function, whose arguments were bound before.
 */
export function isPythonTypeError(thrown: unknown): thrown is Error {
  if (thrown instanceof TypeError || thrown instanceof PythonException) return false;
  return thrown instanceof Error && thrown.name === 'TypeError';
}
