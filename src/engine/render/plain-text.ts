// Texts without anything for Jinja in them come out as they went in: many SLS files and managed files are such.
import { dictSize, isDict, type Value } from '../../base/codec/value.ts';

const isSet = (value: Value | undefined): boolean =>
  value !== undefined && value !== null && !(isDict(value) && dictSize(value) === 0);

/** Whether Jinja would leave this text alone. Options of the environment may give other signs a meaning. */
export function hasNoJinja(source: string, opts: Readonly<Record<string, Value>>): boolean {
  if (isSet(opts['jinja_env']) || isSet(opts['jinja_sls_env'])) return false;
  return !/\{[{%#]|\r/.test(source);
}
