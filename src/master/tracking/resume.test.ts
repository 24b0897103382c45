// Jobs that were open when the master ended: tracked again after its start, until each minion has a verdict.
import { describe, expect, it } from 'vitest';
import { type Dict, dictOf } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { UnfinishedJob, VerdictRecord } from '../../store/jobs.ts';
import { Fleet } from '../fleet/fleet.ts';
import { Reasons } from './reasons.ts';
import { ResumedJobs } from './resume.ts';
import { Tracker } from './tracker.ts';

const jid = '20260131235959000001';

/**
 * A job of three minions: one is back, one has no key any more, the result of one arrives while the store is queried.
 */
function fake(keepReturns = true) {
  const unfinished: UnfinishedJob[] = [{ jid, fun: 'state.apply', user: 'root', ids: ['back', 'gone', 'just'] }];
  const [verdicts, asked]: [VerdictRecord[], string[][]] = [[], []];
  const stored = new Map<string, Dict>();
  const unused = (): never => expect.fail('not needed here');
  const store = {
    unfinished: async () =>
      unfinished.splice(0).map((job) => ({ ...job, ids: job.ids.filter((id) => !stored.has(id)) })),
    returns: async () => stored,
    load: async () => dictOf([['fun', 'state.apply']]),
    ...{ expected: unused, verdicts: unused, pending: unused },
    loadMinionData: async () => new Map(),
    saveMinionData: async () => undefined,
    dropMinionData: async () => undefined,
    saveVerdicts: async (rows: readonly VerdictRecord[]) => {
      verdicts.push(...rows);
      if (rows.length > 0) return;
      stored.set('just', dictOf(Object.entries({ return: true, retcode: 0 })));
      unfinished.push({ jid, fun: 'state.apply', user: 'root', ids: ['back', 'gone'] });
    },
  };
  const fleet = new Fleet(
    store,
    () => [],
    () => undefined,
  );
  fleet.subscriber({ kind: 'joined', topic: '', peer: '10.0.0.1:1', id: 'back' });
  const accepted = ['back', 'just'];
  const opts = { timeout: 0.01, gather_job_timeout: 10, publish_port: 4505, syndic_wait: 5 };
  const keys = {
    ids: () => accepted,
    has: (state: string, id: string) => state === 'accepted' && accepted.includes(id),
    readText: () => undefined,
  };
  const log = nullLogger();
  const ask = (_jid: string, ids: readonly string[]) => {
    asked.push([...ids]);
    const question = '20260131235959000002';
    const active = tracker.open(question, 'saltutil.find_job', ids, [], { timeoutMs: 10, gatherMs: 10 });
    // No minion runs it any more.
    const send = async (): Promise<void> => {
      for (const id of ids) tracker.returned({ id, jid: question, fun: 'saltutil.find_job', return: dictOf([]) });
    };
    return { active, send };
  };
  const tracker: Tracker = new Tracker({
    ...{ opts, log, store, fleet, keys, ask },
    reasons: new Reasons({ opts, keys, fleet }),
    durable: { keep: unused, arrived: unused },
    kill: async () => undefined,
  });
  const parts = { opts, log, store, fleet, tracker, returnerSettings: { keepReturns } };
  return { parts, tracker, verdicts, asked };
}

describe('after a restart', () => {
  it('every minion of a job that was open ends in a verdict', async () => {
    const { parts, tracker, verdicts, asked } = fake();
    expect(await new ResumedJobs(parts).run()).toBe(1);
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

  it('asks no minion when results are not stored', async () => {
    const { parts, asked } = fake(false);
    expect(await new ResumedJobs(parts).run()).toBe(0);
    expect(asked).toEqual([]);
  });

  it('has nothing to do when nothing was open', async () => {
    const { parts } = fake();
    await new ResumedJobs(parts).run();
    expect(await new ResumedJobs(parts).run()).toBe(0);
  });
});
