// A job as the list of jobs shows it; stores keep this form precomputed, so that a long list is only concatenated.
import {
  asList,
  type Dict,
  dictGet,
  dictHas,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { isJid, jidToTime } from '../../base/util/jid.ts';

/** The entry of `jobs.list_jobs` for each job. */
export function formatJob(load: Dict): PlainDict {
  // Field by field for speed: there may be very many jobs.
  const shown = newDict();
  shown['Function'] = dictGet(load, 'fun') ?? 'unknown-function';
  shown['Arguments'] = dictGet(load, 'arg') ?? [];
  shown['Target'] = dictGet(load, 'tgt') ?? 'unknown-target';
  shown['Target-type'] = dictGet(load, 'tgt_type') ?? 'list';
  shown['User'] = dictGet(load, 'user') ?? 'root';
  const asked = dictGet(load, 'cmd') === '_return' ? dictGet(load, 'halite_for') : undefined;
  if (asked !== undefined) shown['Asked-by'] = asked;
  const metadata = metadataOf(load);
  if (metadata !== undefined && metadata !== null) shown['Metadata'] = metadata;
  return shown;
}

/** Given with the job, or among its arguments as written on a command line. */
export function metadataOf(load: Dict): Value | undefined {
  const own = dictGet(load, 'metadata');
  if (own !== undefined && own !== null) return own;
  const kwargs = dictGet(load, 'kwargs');
  if (isDict(kwargs)) return dictGet(kwargs, 'metadata');
  const args = dictGet(load, 'arg');
  for (const each of asList(args) ?? []) {
    if (isDict(each) && dictGet(each, '__kwarg__') === true && dictHas(each, 'metadata'))
      return dictGet(each, 'metadata');
  }
  return undefined;
}

export const startTime = (jid: string): string => (isJid(jid) ? jidToTime(jid) : '');

/** The entry with the time, as in the list. */
export function listedJob(jid: string, load: Dict): PlainDict {
  const shown = formatJob(load);
  shown['StartTime'] = startTime(jid);
  return shown;
}
