// Options for outputters: the configuration, overridden by the command's own values.
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import type { OpenOpts } from '../base/config/opts.ts';
import type { Settings } from './settings.ts';

/** `extra` are values of this call: `fun`, `arg`, `static`. */
export function outputOptions(settings: Settings<OpenOpts>, extra: Readonly<Record<string, Value>> = {}): PlainDict {
  const opts = newDict();
  // Not copied entry by entry: the master's id is computed when it is read, and that is slow.
  const config = settings.opts.raw;
  for (const name of Object.keys(config)) if (name !== 'id') opts[name] = config[name] as Value;
  for (const [dest, value] of Object.entries(settings.values)) if (value !== null) opts[dest] = value;
  return Object.assign(opts, extra);
}
