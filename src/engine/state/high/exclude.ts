// Applies `__exclude__`: removes ids, and the ids of whole SLS files, from the high data.
import { asList, dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { hasGlob, matchesGlob } from '../../../base/util/index.ts';
import { type High, isBody, isHidden } from '../data.ts';

/** Removes what is excluded. A bare text names an SLS; SLS names may be globs. */
export function applyExcludes(high: High): void {
  const excludes = high.get('__exclude__');
  if (excludes === undefined) return;
  high.delete('__exclude__');
  const ids = new Set<Value>();
  const sls = new Set<string>();
  for (const item of asList(excludes) ?? []) {
    if (typeof item === 'string') sls.add(item);
    if (!isDict(item)) continue;
    const entries = dictEntries(item);
    const [key, value] = entries[0] ?? [null, null];
    if (entries.length !== 1) continue;
    if (key === 'sls' && typeof value === 'string') sls.add(value);
    else if (key === 'id') ids.add(value);
  }
  if (sls.size > 0) collectIds(high, sls, ids);
  for (const id of ids) high.delete(id);
}

function collectIds(high: High, sls: ReadonlySet<string>, ids: Set<Value>): void {
  const globs = [...sls].filter(hasGlob);
  for (const [id, body] of high) {
    if (isHidden(id) || !isBody(body)) continue;
    const from = body.get('__sls__');
    if (typeof from !== 'string' || from === '') continue;
    if (sls.has(from) || globs.some((glob) => matchesGlob(from, glob))) ids.add(id);
  }
}
