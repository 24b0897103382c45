// Tracking of jobs: memory stays bounded, every minion gets a verdict, no minion is asked twice.
import { describe, expect, it, vi } from 'vitest';
import { dictOf } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { VerdictRecord } from '../../store/jobs.ts';
import { Fleet } from '../fleet/fleet.ts';
import type { ActiveJob } from './active-job.ts';
import { Reasons } from './reasons.ts';
import { Tracker } from './tracker.ts';

const waiting = { timeoutMs: 5000, gatherMs: 5000 };
const jidOf = (n: number): string => `20260131${String(n).padStart(12, '0')}`;

interface Fake {
  readonly tracker: Tracker;
  readonly verdicts: VerdictRecord[];
  readonly keys: Set<string>;
  readonly asked: string[][];
  connect(id: string, boot: string): void;
}

async function fake(...ids: string[]): Promise<Fake> {
  const [verdicts, asked, keys]: [VerdictRecord[], string[][], Set<string>] = [[], [], new Set(ids)];
  const grains = dictOf([['haliteversion', '0.1.0']]);
  const store = {
    saveVerdicts: async (rows: readonly VerdictRecord[]) => void verdicts.push(...rows),
    saveMinionData: async () => undefined,
    dropMinionData: async () => undefined,
    loadMinionData: async () => new Map(ids.map((id) => [id, { grains, pillar: dictOf([]) }])),
  };
  const fleet = new Fleet(
    store,
    () => [],
    () => undefined,
  );
  await fleet.restore();
  const opts = { timeout: 5, publish_port: 4505, syndic_wait: 5 };
  const keyStore = {
    ids: () => [...keys].sort(),
    has: (state: string, id: string) => state === 'accepted' && keys.has(id),
    readText: () => undefined,
  };
  const unused = (): never => expect.fail('not durable');
  const ask = (_jid: string, to: readonly string[]) => {
    asked.push([...to]);
    return { active: tracker.open(jidOf(900_000 + asked.length), 'saltutil.find_job', to, [], waiting), send };
  };
  const send = async (): Promise<void> => undefined;
  const tracker: Tracker = new Tracker({
    ...{ opts, store, fleet, ask, keys: keyStore, log: nullLogger() },
    reasons: new Reasons({ opts, keys: keyStore, fleet }),
    durable: { keep: unused, arrived: unused },
    kill: async () => undefined,
  });
  // Over TCP the transport reports the id; its grains show that it is a Halite minion.
  const connect = (id: string, peer: string): void => fleet.subscriber({ kind: 'joined', topic: '', peer, id });
  return { tracker, verdicts, keys, asked, connect };
}

describe('the tracker', () => {
  it('ends jobs without waiting callers, with a verdict for each minion, instead of keeping them without limit', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { tracker, verdicts, connect } = await fake('web1');
      connect('web1', '10.0.0.1:1000');
      for (let n = 0; n < 600; n++) {
        tracker.begin(tracker.open(jidOf(n), 'test.ping', ['web1'], [], waiting), { poll: false });
      }
      expect(tracker.active()).toHaveLength(600);
      vi.setSystemTime(Date.now() + 2 * 3_600_000);
      for (let n = 600; n < 900; n++) tracker.open(jidOf(n), 'test.ping', ['web1'], [], waiting);
      expect(tracker.job(jidOf(0))).toBeUndefined();
      expect(tracker.active().length).toBeLessThan(700);
      expect(verdicts[0]).toMatchObject({ jid: jidOf(0), id: 'web1', verdict: 'missing', reason: 'silent' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not keep more open jobs than a limit, however fast they are published', async () => {
    const { tracker, connect } = await fake('web1');
    connect('web1', '10.0.0.1:1000');
    for (let n = 0; n < 11_000; n++) tracker.open(jidOf(n), 'test.ping', ['web1'], [], waiting);
    expect(tracker.active().length).toBeLessThanOrEqual(10_100);
    expect(tracker.job(jidOf(10_999))?.ended).toBe(false);
  });

  it('forgets ended jobs of a large fleet early, because each minion of each job needs memory', async () => {
    const { tracker } = await fake();
    const ids = Array.from({ length: 50_000 }, (_, at) => `web${at}`);
    const open = tracker.open(jidOf(0), 'test.sleep', ids, [], waiting);
    for (let n = 1; n <= 20; n++) {
      const { jid } = tracker.open(jidOf(n), 'test.ping', ids, [], waiting);
      for (const id of ids) tracker.returned({ id, jid, fun: 'test.ping', return: true });
    }
    const kept = Array.from({ length: 21 }, (_, n) => n).filter((n) => tracker.job(jidOf(n)));
    expect(kept.length).toBeLessThanOrEqual(13);
    expect(kept).toContain(20);
    expect(tracker.alreadyReturned(jidOf(20), 'web7')).toBe(true);
    // Nobody has a verdict for it yet.
    expect(tracker.job(jidOf(0))).toBe(open);
  });

  it('keeps a job with a waiting caller', async () => {
    const { tracker } = await fake('web1');
    const job = tracker.open(jidOf(0), 'test.ping', ['web1'], [], waiting);
    job.listen(() => {});
    for (let n = 1; n < 11_000; n++) tracker.open(jidOf(n), 'test.ping', ['web1'], [], waiting);
    expect(tracker.job(jidOf(0))).toBe(job);
    expect(job.ended).toBe(false);
  });

  it('ends the wait for a minion whose key is deleted, also while it reports that it runs the job', async () => {
    const { tracker, keys, connect, verdicts } = await fake('web1', 'web2');
    connect('web1', '10.0.0.1:1000');
    connect('web2', '10.0.0.2:1000');
    const job = tracker.open(jidOf(1), 'state.apply', ['web1', 'web2'], [], waiting);
    tracker.begin(job, { poll: true });
    for (const id of ['web1', 'web2']) tracker.phase(job.jid, id, 'started', { text: '' });
    keys.delete('web1');
    tracker.lost('web1');
    tracker.returned({ id: 'web2', jid: job.jid, fun: 'state.apply', return: true });
    expect(job.ended).toBe(true);
    expect(job.balance()).toMatchObject({ returned: 1, missing: 1 });
    expect(verdicts.find(({ id }) => id === 'web1')).toMatchObject({ reason: 'no-key' });
  });

  it('asks a minion that restarts repeatedly in one round, not in one per restart', async () => {
    vi.useFakeTimers();
    try {
      const { tracker, asked, connect } = await fake('web1');
      connect('web1', '10.0.0.1:1000');
      const job: ActiveJob = tracker.open(jidOf(1), 'state.apply', ['web1'], [], { ...waiting, timeoutMs: 600_000 });
      tracker.begin(job, { poll: true });
      for (let n = 0; n < 20; n++) {
        tracker.phase(job.jid, 'web1', 'started', { text: '' });
        tracker.restarted('web1');
      }
      await vi.advanceTimersByTimeAsync(4_000);
      expect(asked).toEqual([['web1']]);
    } finally {
      vi.useRealTimers();
    }
  });
});
