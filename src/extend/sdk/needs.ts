// What an extension needs to be of use here: programs on this machine, or functions of another extension.
import type { Availability } from './availability.ts';
import { which } from './system/which.ts';

type Ask = (system: Availability) => true | string | Promise<true | string>;

/** Programs that must be there. `text` is the reason when one is not; it can name the one that is missing. */
export function needsPrograms(programs: readonly string[], text: (missing: string) => string): Ask {
  return () => {
    const missing = programs.find((program) => which(program) === null);
    return missing === undefined || text(missing);
  };
}

/**
 * An execution function that the states of a module work with. Salt's sentence about it comes first, then what really is
 * missing, because "could not be loaded" helps nobody.
 */
export function needsFunction(fullName: string, text: string): Ask {
  return async ({ callable }) => {
    const why = await callable(fullName);
    return why === true || `${text} (${why})`;
  };
}
