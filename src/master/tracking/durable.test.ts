// Races of durable jobs: when cancelled, expired and delivered at the same time, each ends in exactly one way.
import { describe, expect, it } from 'vitest';
import { dictOf, newDict } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { DurableJobs } from './durable.ts';

const jid = '20260131235959000001';

interface Fake {
  readonly durable: DurableJobs;
  readonly fired: string[];
  readonly sent: PublishedJob[];
  /** Lets pending store operations continue. */
  release(): void;
  failPending: boolean;
}

/** A master whose store answers only when the test releases it. */
async function fake(options: { halite: boolean; held?: boolean }): Promise<Fake> {
  const [fired, sent, waiting]: [string[], PublishedJob[], (() => void)[]] = [[], [], []];
  const later = <T>(value: T): Promise<T> =>
    options.held ? new Promise((resolve) => waiting.push(() => resolve(value))) : Promise.resolve(value);
  const state = { failPending: false };
  const store = {
    pending: async () => [],
    savePending: async () => {
      if (state.failPending) throw new Error('no space left');
    },
    dropPending: async () => undefined,
    saveVerdicts: async () => undefined,
    verdicts: () => later([]),
    hasReturn: () => later(false),
    load: () => later(dictOf(Object.entries({ jid, fun: 'test.ping', arg: [], tgt: '*' }))),
  };
  const durable = await DurableJobs.open({
    store,
    log: nullLogger(),
    activeJob: () => undefined,
    fleet: { isHalite: () => options.halite, known: () => undefined },
    bus: { fire: (tag: string) => void fired.push(tag) },
    reasons: { evidenceOf: () => newDict() },
    publications: {
      send: async (job: PublishedJob) => {
        sent.push(job);
        return {};
      },
    },
  });
  const release = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  return Object.assign(state, { durable, fired, sent, release });
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
async function until(what: () => boolean, release: () => void = () => {}): Promise<void> {
  for (const end = Date.now() + 30_000; !what(); await turn()) {
    release();
    if (Date.now() > end) expect.fail('it never happened');
  }
}

describe('durable jobs', () => {
  it('end once, however often expiry is checked', async () => {
    const { durable, fired, release } = await fake({ halite: true, held: true });
    const kept = durable.keep(jid, ['web1'], Date.now() - 1);
    durable.expire();
    durable.expire();
    let done = false;
    void kept.then(() => {
      done = true;
    });
    await until(() => done, release);
    durable.expire();
    expect(fired).toEqual([`halite/job/${jid}/expired/web1`]);
    expect(durable.list()).toEqual([]);
  });

  it('do not keep the timer running after they were delivered', async () => {
    const { durable, sent } = await fake({ halite: true });
    await durable.keep(jid, ['web1'], Date.now() + 1500);
    durable.arrived('web1', 'joined');
    await until(() => sent.length > 0);
    let looks = 0;
    const expire = durable.expire.bind(durable);
    durable.expire = (now?: number) => {
      looks++;
      expire(now);
    };
    const past = durable.list()[0]!.until + 100;
    await until(() => Date.now() > past);
    expect(looks).toBeLessThanOrEqual(1);
    expect(durable.deliveredAt(jid, 'web1')).toBeGreaterThan(0);
  });

  it('that were cancelled are not delivered to a minion that reconnects meanwhile', async () => {
    const { durable, sent, fired, release } = await fake({ halite: true, held: true });
    const kept = durable.keep(jid, ['web1'], Date.now() + 60_000);
    await turn();
    release();
    await kept;
    durable.arrived('web1', 'joined');
    // The store is being asked about the delivery now.
    await new Promise((resolve) => setTimeout(resolve, 400));
    const cancelled = durable.cancel(jid);
    await until(() => fired.length > 0, release);
    for (let n = 0; n < 20; n++) {
      release();
      await turn();
    }
    expect(await cancelled).toEqual(['web1']);
    expect(sent).toEqual([]);
    expect(fired).toEqual([`halite/job/${jid}/cancelled/web1`]);
  });

  it('that could not be stored are not delivered later', async () => {
    const master = await fake({ halite: true });
    master.failPending = true;
    await expect(master.durable.keep(jid, ['web1'], Date.now() + 60_000)).rejects.toThrow('no space');
    expect(master.durable.list()).toEqual([]);
  });

  it('are kept for very many minions without blocking for long', async () => {
    const { durable } = await fake({ halite: true });
    const ids = Array.from({ length: 10_000 }, (_, at) => `web${at}`);
    const began = process.cpuUsage();
    await Promise.all(ids.map((id) => durable.keep(jid, [id], Date.now() + 60_000)));
    // CPU time, not wall-clock time: other processes may use the CPU too.
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(10_000);
    expect(durable.list()).toHaveLength(ids.length);
  });
});
