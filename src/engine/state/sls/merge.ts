// Merges the high data of several SLS files and reports ids that were declared twice.
import { pyStr } from '../../../base/codec/python/index.ts';
import { dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { pyEquals } from '../../../base/util/index.ts';
import { type Body, type High, isBody } from '../data.ts';

/** Adds `state` to `high`; extensions and exclusions pile up, ids must be unique unless equal. */
export function mergeStates(high: High, state: High, errors: string[]): void {
  for (const key of ['__extend__', '__exclude__']) {
    const more = state.get(key);
    if (more === undefined) continue;
    state.delete(key);
    const list = high.get(key);
    if (Array.isArray(list) && Array.isArray(more)) list.push(...more);
    else high.set(key, more);
  }
  for (const [id, body] of state) {
    const other = high.get(id);
    if (other !== undefined && other !== body && !pyEquals(other, body)) errors.push(conflict(id, other, body));
    high.set(id, body);
  }
}

function conflict(id: Value, first: Value, second: Value): string {
  const place = (body: Value): string => {
    const from = (key: string): string => pyStr(isBody(body) ? (body as Body).get(key) : null);
    return `'${from('__env__')}:${from('__sls__')}'`;
  };
  return (
    'Detected conflicting IDs, SLS IDs need to be globally unique.\n    The conflicting ID is ' +
    `'${pyStr(id)}' and is found in SLS ${place(first)} and SLS ${place(second)}`
  );
}

/** The same extension found in two ways counts once; afterwards each has its own dict. */
export function cleanExtensions(high: High): void {
  const extensions = high.get('__extend__');
  if (!Array.isArray(extensions)) return;
  const kept: [Value, Value][] = [];
  const byName = new Map<Value, Value[]>();
  for (const extension of extensions) {
    if (!isDict(extension)) continue;
    for (const [name, body] of dictEntries(extension)) {
      const known = byName.get(name) ?? [];
      if (known.some((other) => pyEquals(other, body))) continue;
      byName.set(name, [...known, body]);
      kept.push([name, body]);
    }
  }
  high.set(
    '__extend__',
    kept.map(([name, body]) => new Map([[name, body]])),
  );
}
