// Paths of the old machine and where they go on this one.
import { isAbsolute, normalize } from 'node:path';
import { asPlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { isInside } from '../../base/util/safe-join.ts';

export interface Mapping {
  readonly from: string;
  readonly to: string;
}

const plainFolder = (path: string): boolean => isAbsolute(path) && path !== '/' && !path.split('/').includes('..');
const trimmed = (path: string): string => normalize(path).replace(/(.)\/+$/, '$1');

/** `place=/old/salt:/srv/salt,/opt/x:/opt/y`. */
export function readMappings(value: string): Mapping[] {
  return listOf(value).map((pair) => {
    const [from = '', to = '', ...more] = pair.split(':');
    if (more.length > 0 || !plainFolder(from) || !plainFolder(to))
      throw new HaliteError('call.arguments', `place=${pair} is not /folder/there:/folder/here`);
    return { from: trimmed(from), to: trimmed(to) };
  });
}

/** `allow=/srv/other,/home/q/pgdba`. */
export function readFolders(name: string, value: string): string[] {
  return listOf(value).map((path) => {
    if (!plainFolder(path))
      throw new HaliteError('call.arguments', `${name}=${path} is not the absolute path of a folder`);
    return trimmed(path);
  });
}

const listOf = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** The place of a path here; the longest mapping that contains it counts. */
export function mapped(path: string, mappings: readonly Mapping[]): string {
  const [best] = mappings.filter(({ from }) => isInside(from, path)).sort((a, b) => b.from.length - a.from.length);
  return best ? best.to + path.slice(best.from.length) : path;
}

/** A value with every path in it mapped; the same object when nothing changes. */
export function mapValue(value: Value, mappings: readonly Mapping[]): Value {
  if (typeof value === 'string') return isAbsolute(value) ? mapped(value, mappings) : value;
  if (Array.isArray(value)) {
    const list = value.map((item) => mapValue(item, mappings));
    return list.some((item, at) => item !== value[at]) ? list : value;
  }
  const dict = asPlainDict(value);
  if (!dict) return value;
  const entries = Object.entries(dict).map(([key, item]): [string, Value] => [key, mapValue(item, mappings)]);
  return entries.some(([key, item]) => item !== dict[key]) ? Object.fromEntries(entries) : value;
}
