// `/jobs`: the list of jobs, and one job with its results.
import { readValue } from '../../base/codec/json/index.ts';
import { dictEntries, fieldOf, isDict, newDict, type Value } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import type { Exchange } from '../http/exchange.ts';
import { chunksOf } from '../lowstate/chunk.ts';
import type { Caller } from '../master.ts';
import { runFor } from './minions.ts';

export async function jobs(api: Api, exchange: Exchange, caller: Caller, jid: string): Promise<void> {
  const timeout = exchange.query.get('timeout');
  const chunk = newDict([
    ['client', 'runner'],
    ['fun', jid ? 'jobs.list_job' : 'jobs.list_jobs'],
    ...(jid ? [['jid', jid] as const] : []),
    ...(timeout ? [['timeout', timeout] as const] : []),
  ]);
  const items = await runFor(api, exchange, caller, chunksOf(chunk));
  if (!jid) exchange.sendItems(items);
  else {
    const info = items.map(readValue);
    exchange.send({
      value: newDict([
        ['info', info],
        ['return', [resultsOf(info[0] ?? null)]],
      ]),
    });
  }
}

/** The results alone, by minion. */
function resultsOf(job: Value): Value {
  const found = fieldOf(job, 'Result');
  if (!isDict(found)) return newDict();
  return new Map<Value, Value>(dictEntries(found).map(([id, result]) => [id, fieldOf(result, 'return') ?? null]));
}
