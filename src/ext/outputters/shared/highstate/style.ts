// The options for the display of state results.
import { asList, dictEntries, fieldOf, isDict, isTruthy, type OutputOptions, type Value } from 'halite/sdk';
import { type Colors, colorsFor, stripsColors } from '../../../shared/output/colors.ts';

export interface HighstateStyle {
  readonly colors: Colors;
  readonly strip: boolean;
  /** `full`, `terse`, `mixed`, `changes` or `filter`, with or without `_id`. */
  readonly mode: string;
  /** Show states that succeeded and changed nothing. */
  readonly verbose: boolean;
  readonly onlyChanged: boolean;
  /** Start times, durations and the total. */
  readonly profile: boolean;
  readonly percent: boolean;
  /** Aligned columns for terse lines, or a custom format. */
  readonly tabular: boolean | string;
  readonly compressIds: boolean;
  /** Results (`True`, `False`, `None`) that `filter` leaves out or shows terse. */
  readonly exclude: readonly string[];
  readonly terse: readonly string[];
}

function words(value: Value | undefined): string[] {
  if (typeof value === 'string') return value.split(',');
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** `exclude=` and `terse=` among the arguments of the function take precedence over the configuration. */
function filterSettings(opts: OutputOptions['opts']): { exclude: string[]; terse: string[] } {
  let kwargs: Value = null;
  for (const item of asList(opts['arg']) ?? []) {
    if (isDict(item) && dictEntries(item).some(([key]) => key === '__kwarg__')) kwargs = item;
  }
  const pick = (name: string, setting: string): string[] => words(fieldOf(kwargs, name) ?? opts[setting]);
  return { exclude: pick('exclude', 'state_output_exclude'), terse: pick('terse', 'state_output_terse') };
}

export function highstateStyle(options: OutputOptions): HighstateStyle {
  const { opts } = options;
  const { state_tabular: tabular, state_output: mode } = opts;
  return {
    colors: colorsFor(options),
    strip: stripsColors(options),
    mode: typeof mode === 'string' ? mode.toLowerCase() : 'full',
    verbose: isTruthy(opts['state_verbose'] ?? false),
    onlyChanged: isTruthy(opts['state_output_diff'] ?? false),
    profile: isTruthy(opts['state_output_profile'] ?? false),
    percent: isTruthy(opts['state_output_pct'] ?? false),
    tabular: typeof tabular === 'string' ? tabular : tabular === true,
    compressIds: isTruthy(opts['state_compress_ids'] ?? false),
    ...filterSettings(opts),
  };
}
