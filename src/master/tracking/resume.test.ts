// Jobs that were open when the master went: followed again after its start, each minion to its verdict.
import { describe, expect, it } from 'vitest';
import { type Dict, dictOf } from '../../base/codec/value.ts';
import type { UnfinishedJob, VerdictRecord } from '../../store/jobs.ts';
import type { Master } from '../core.ts';
import { Fleet } from '../fleet/fleet.ts';
import { resume } from './resume.ts';
import { Tracker } from './tracker.ts';

const jid = '20260131235959000001';

/** A job of three minions: one is back, one has no key any more, the result of one comes while the store is asked. */
function fake(keepReturns = true) {
  const unfinished: UnfinishedJob[] = [{ jid, fun: 'state.apply', user: 'root', ids: ['back', 'gone', 'just'] }];
  const [verdicts, asked]: [VerdictRecord[], string[][]] = [[], []];
  const stored = new Map<string, Dict>();
  const tracker = new Tracker();
  const store = {
    unfinished: async () =>
      unfinished.splice(0).map((job) => ({ ...job, ids: job.ids.filter((id) => !stored.has(id)) })),
    returns: async () => stored,
    load: async () => dictOf([['fun', 'state.apply']]),
    saveVerdicts: async (rows: VerdictRecord[]) => {
      verdicts.push(...rows);
      if (rows.length > 0) return;
      stored.set('just', dictOf([['retcode', 0]]));
      unfinished.push({ jid, fun: 'state.apply', user: 'root', ids: ['back', 'gone'] });
    },
  };
  const fleet = new Fleet(
    store as never,
    () => undefined,
    () => undefined,
  );
  fleet.subscriber({ kind: 'joined', topic: '', peer: '10.0.0.1:1', id: 'back' } as never);
  const keys = ['back', 'just'];
  const master = {
    ...{ tracker, store, fleet, opts: { timeout: 0.01, gather_job_timeout: 10 } },
    returnerSettings: { keepReturns },
    keys: { ids: () => keys, has: (state: string, id: string) => state === 'accepted' && keys.includes(id) },
    log: { info: () => undefined, error: () => undefined, limited: () => undefined },
  } as unknown as Master;
  const ask = (_jid: string, ids: readonly string[]) => {
    asked.push([...ids]);
    const question = '20260131235959000002';
    const active = tracker.open(question, 'saltutil.find_job', ids, [], { timeoutMs: 10, gatherMs: 10 });
    // Nobody runs it any more.
    const send = async (): Promise<void> => {
      for (const id of ids) tracker.returned(question, id, dictOf([['return', dictOf([])]]) as never);
    };
    return { active, send };
  };
  tracker.connect(master, ask, async () => undefined);
  return { master, tracker, verdicts, asked };
}

describe('after a restart', () => {
  it('every minion of a job that was open ends in a verdict', async () => {
    const { master, tracker, verdicts, asked } = fake();
    expect(await resume(master)).toBe(1);
    const job = tracker.job(jid)!;
    await new Promise<void>((resolve) => {
      job.listen((update) => {
        if (update.type === 'end') resolve();
      });
      if (job.ended) resolve();
    });
    expect(job.balance()).toMatchObject({ returned: 1, missing: 2, waiting: 0, running: 0 });
    expect(new Map(verdicts.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([
        ['back', 'no-record'],
        ['gone', 'no-key'],
      ]),
    );
    expect(asked[0]).toEqual(['back']);
  });

  it('asks nobody when results are not stored', async () => {
    const { master, asked } = fake(false);
    expect(await resume(master)).toBe(0);
    expect(asked).toEqual([]);
  });

  it('has nothing to do when nothing was open', async () => {
    const { master } = fake();
    await resume(master);
    expect(await resume(master)).toBe(0);
  });
});
