// Puts a job and its outcome together into the load of a `_return` request, in the order real minions write it.
import { type Dict, dictGet, isDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { Outcome } from './outcome.ts';

/** The fields of a return. */
export function returnLoad(id: string, job: Dict, outcome: Outcome): PlainDict {
  const load = newDict([
    ['cmd', '_return'],
    ['id', id],
    ['success', outcome.success],
    ['return', outcome.return],
    ['retcode', outcome.retcode],
    ['jid', dictGet(job, 'jid') ?? ''],
    ['fun', dictGet(job, 'fun') ?? ''],
    ['fun_args', dictGet(job, 'arg') ?? []],
  ]);
  for (const key of ['user', 'master_id', 'ret_config', 'ret_kwargs', 'schedule'] as const) {
    const value = dictGet(job, key);
    if (value !== undefined) load[key] = value;
  }
  const metadata = dictGet(job, 'metadata');
  if (metadata !== undefined && isDict(metadata)) load['metadata'] = metadata;
  if (outcome.out !== undefined) load['out'] = outcome.out;
  return load;
}
