// Maps errors to exit codes of commands, in one table.
import { type ErrorCode, HaliteError } from '../base/errors/index.ts';
import { exitCodes } from '../base/util/exit-codes.ts';

const byCode: Partial<Record<ErrorCode, number>> = {
  'cli.usage': exitCodes.usage,
  'target.empty': exitCodes.noReturn,
  'target.syntax': exitCodes.noReturn,
  'auth.denied': exitCodes.noReturn,
  'auth.failed': exitCodes.noReturn,
  'auth.pending': exitCodes.noReturn,
  'daemon.unreachable': exitCodes.unavailable,
  'wire.closed': exitCodes.unavailable,
  'wire.timeout': exitCodes.unavailable,
};

/** Halite's own errors by their code; any other error is a defect of the program. */
export function exitStatusOf(error: unknown): number {
  if (!(error instanceof HaliteError)) return exitCodes.software;
  const given = error.details['exitCode'];
  if (typeof given === 'number' && Number.isInteger(given) && given > 0 && given < 256) return given;
  return byCode[error.code] ?? exitCodes.generic;
}
