// Options as outputters and the display read them: the configuration with the command's own values over it.
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import type { OpenOpts } from '../base/config/opts.ts';
import type { Settings } from './settings.ts';

/** `extra` is what only this call knows: `fun`, `arg`, `static`. */
export function outputOptions(settings: Settings<OpenOpts>, extra: Readonly<Record<string, Value>> = {}): PlainDict {
  const opts = newDict();
  // Not a copy by entries: the master's id is computed when somebody reads it, and that is slow.
  const config = settings.opts.raw;
  for (const name of Object.keys(config)) if (name !== 'id') opts[name] = config[name] as Value;
  for (const [dest, value] of Object.entries(settings.values)) if (value !== null) opts[dest] = value;
  return Object.assign(opts, extra);
}
