// state_compress_ids: several names under one state id become one entry per result.
import {
  asNumber,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  isFloat,
  isTruthy,
  PyFloat,
  pyStr,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { pyRound } from '../fixed.ts';
import { need, unfit } from './result.ts';

type Info = Map<Value, Value>;
type Host = Map<string, Info>;

const rolledUp = 'compressed changes';

/** The data with ids rolled up; unchanged when some entry does not allow it. */
export function compressIds(data: Dict): Dict {
  const copy = new Map<Value, Value>();
  const compressed = new Map<Value, Value>();
  let failed = false;
  for (const [host, results] of dictEntries(data)) {
    const own = copyHost(results);
    copy.set(host, own ?? results);
    if (failed || !own) {
      failed = true;
      continue;
    }
    try {
      compressed.set(host, compressHost(own));
    } catch {
      // Where entries were merged, the merged values are shown, as in Salt.
      failed = true;
    }
  }
  return failed ? copy : compressed;
}

function copyHost(results: Value): Host | undefined {
  if (!isDict(results)) return undefined;
  const host: Host = new Map();
  for (const [tag, info] of dictEntries(results)) {
    if (!isDict(info)) return undefined;
    host.set(pyStr(tag), new Map(dictEntries(info)));
  }
  return host;
}

const groupOf = (tag: string, info: Info): string =>
  [tag.split('_|-')[0], ...['__id__', '__sls__', 'result'].map((key) => pyStr(need(info, key)))].join('_');

function compressHost(host: Host): Host {
  const counts = new Map<string, number>();
  for (const [tag, info] of host) {
    const group = groupOf(tag, info);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const out: Host = new Map();
  for (const [tag, info] of host) {
    const count = counts.get(groupOf(tag, info)) ?? 1;
    if (count === 1) {
      out.set(tag, info);
      continue;
    }
    const rolled = rolledUpTag(tag, info, count);
    const first = out.get(rolled);
    if (first) merge(first, info);
    else out.set(rolled, info);
  }
  return out;
}

function rolledUpTag(tag: string, info: Info, count: number): string {
  const parts = tag.split('_|-');
  if (parts.length < 3) throw unfit('tag');
  const [id, sls, result] = ['__id__', '__sls__', 'result'].map((key) => pyStr(need(info, key)));
  parts[1] = `${id} (${count})`;
  parts[2] = ['state_compressed', sls, id, result].join('_');
  return parts.join('_|-');
}

function number(info: Info, key: string): number {
  const value = asNumber(need(info, key));
  if (value === undefined) throw unfit(key);
  return value;
}

function text(info: Info, key: string): string {
  const value = need(info, key);
  if (typeof value !== 'string') throw unfit(key);
  return value;
}

function merge(first: Info, info: Info): void {
  first.set('__run_num__', Math.min(number(first, '__run_num__'), number(info, '__run_num__')));
  const total = pyRound(number(info, 'duration') + number(first, 'duration'), 3);
  const fraction = isFloat(need(info, 'duration')) || isFloat(need(first, 'duration'));
  first.set('duration', fraction && Number.isInteger(total) ? new PyFloat(total) : total);
  first.set('start_time', [text(info, 'start_time'), text(first, 'start_time')].sort(compareText)[0]!);
  const added = info.get('changes');
  if (!isTruthy(added)) return;
  const before = first.get('changes');
  const name = pyStr(need(info, 'name'));
  if (!isTruthy(before)) {
    first.set('changes', new Map([[rolledUp, new Map([[name, added as Value]])]]));
    return;
  }
  if (!isDict(before!)) throw unfit('changes');
  let names = dictGet(before, rolledUp);
  if (!(names instanceof Map)) {
    names = new Map([[pyStr(need(first, 'name')), before]]);
    first.set('changes', new Map([[rolledUp, names]]));
  }
  names.set(name, added as Value);
}

/** The number of entries that a tag represents. */
export function compressedCount(tag: string): number {
  if (!tag.includes('_|-state_compressed_')) return 1;
  const parts = tag.split('_|-');
  if (parts.length !== 4) throw unfit('tag');
  const match = /\((\d+)\)$/.exec(parts[1]!);
  return match ? Number(match[1]) : 1;
}

/** Changes counted for a rolled-up state: one per name. */
export function rolledUpChanges(changes: Value): number {
  if (!isDict(changes)) throw unfit('changes');
  const names = dictGet(changes, rolledUp);
  return (names !== undefined && isDict(names) ? dictEntries(names).length : 0) || 1;
}
