// The indent that is set on the command line or in the configuration.
import type { OutputOptions } from 'halite/sdk';

/** undefined: not set; null: everything on one line; 'pretty' or a number as given. */
export function askedIndent(options: OutputOptions): number | 'pretty' | null | undefined {
  if (options.indent !== undefined) return options.indent;
  const setting = options.opts['output_indent'];
  if (setting === undefined || setting === null || setting === 'pretty') return setting;
  return typeof setting === 'number' ? setting : undefined;
}
