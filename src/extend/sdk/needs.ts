// Requirements of an extension: programs on this machine, or functions of another extension.
import type { Availability } from './availability.ts';
import { which } from './system/which.ts';

type Ask = (system: Availability) => true | string | Promise<true | string>;

/** Programs that must exist. `text` is the reason when one is missing; it can contain its name. */
export function needsPrograms(programs: readonly string[], text: (missing: string) => string): Ask {
  return () => {
    const missing = programs.find((program) => which(program) === null);
    return missing === undefined || text(missing);
  };
}

/**
 * An execution function that the states of a module need. Salt's message comes first, then the actual
 * reason, because "could not be loaded" alone does not help.
 */
export function needsFunction(fullName: string, text: string): Ask {
  return async ({ callable }) => {
    const why = await callable(fullName);
    return why === true || `${text} (${why})`;
  };
}
