// Jobs and results as a job store takes them.
import { newDict } from '../../src/base/codec/value.ts';
import type { JobRecord, ReturnRecord } from '../../src/store/jobs.ts';

export function job(jid: string, extra: Partial<JobRecord> = {}): JobRecord {
  const load = newDict([
    ['fun', extra.fun ?? 'test.ping'],
    ['arg', []],
    ['tgt', extra.tgt ?? '*'],
    ['jid', jid],
  ]);
  return {
    jid,
    fun: 'test.ping',
    tgt: '*',
    tgt_type: 'glob',
    user: 'root',
    load,
    expected: ['a', 'b'],
    started: Date.now(),
    internal: false,
    ...extra,
  };
}

export function ret(jid: string, id: string, value: unknown = true): ReturnRecord {
  const load = newDict([
    ['jid', jid],
    ['id', id],
    ['return', value as never],
    ['retcode', 0],
    ['success', true],
  ]);
  return { jid, id, fun: 'test.ping', retcode: 0, success: true, load, received: Date.now() };
}
