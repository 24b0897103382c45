// Finds texts without Jinja syntax, which need no rendering: many SLS files and managed files are such.
import { dictSize, isDict, type Value } from '../../base/codec/value.ts';

const isSet = (value: Value | undefined): boolean =>
  value !== undefined && value !== null && !(isDict(value) && dictSize(value) === 0);

/** Whether Jinja would not change this text. Options of the environment may define other delimiters. */
export function hasNoJinja(source: string, opts: Readonly<Record<string, Value>>): boolean {
  if (isSet(opts['jinja_env']) || isSet(opts['jinja_sls_env'])) return false;
  return !/\{[{%#]|\r/.test(source);
}
