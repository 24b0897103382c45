// The indent that is set on the command line or in the configuration.
import type { OutputOptions } from 'halite/sdk';

/** More is a mistake, and multiplies with the depth of the data; YAML also has `.inf`. */
const mostColumns = 1_000;

/** undefined: not set; null: everything on one line; 'pretty' or a number as given. */
export function askedIndent(options: OutputOptions): number | 'pretty' | null | undefined {
  const asked = options.indent ?? options.opts['output_indent'];
  if (asked === undefined || asked === null || asked === 'pretty') return asked;
  return typeof asked === 'number' && !Number.isNaN(asked) ? Math.min(asked, mostColumns) : undefined;
}
