import { afterEach, describe, expect, it, vi } from 'vitest';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { UnfinishedJob } from '../../store/jobs.ts';
import { Adoption, type AdoptionParts } from './adoption.ts';
import { Fabric } from './testing.ts';

const jid = '20261118120000000002';
const cutOff = (): HaliteError => new HaliteError('cluster.cut-off', 'The cluster cannot be reached');

/** m1 with an open job of m2, whose claims fail so often. */
function setUp(failures: number, claimed: 'before' | 'not' = 'not') {
  const fabric = new Fabric();
  const [m1] = [fabric.join('m1'), fabric.join('m2')];
  const job = { jid, fun: 'test.ping', user: 'root', owner: 1, ids: ['web1'] } as UnfinishedJob;
  const opened: string[] = [];
  const parts = {
    cluster: {
      ...{
        name: 'test',
        self: m1.self,
        members: () => m1.members(),
        onChange: m1.onChange.bind(m1),
        signals: m1.signals,
      },
      registry: {
        ...m1.registry,
        claim: async (name: string, ttlMs: number): Promise<boolean> => {
          if (failures-- <= 0) return m1.registry.claim(name, ttlMs);
          if (claimed === 'before') await m1.registry.claim(name, ttlMs);
          throw cutOff();
        },
      },
    },
    ...{ opts: { timeout: 5, gather_job_timeout: 5 }, log: nullLogger(), bus: { fire: () => undefined } },
    store: {
      unfinished: async () => [job],
      load: async () => undefined,
      returns: async () => [],
      saveVerdicts: vi.fn(),
    },
    tracker: {
      job: () => undefined,
      open: (id: string) => {
        opened.push(id);
        return { jid: id };
      },
      ...{ begin: () => undefined, returned: () => undefined, alreadyReturned: () => false },
    },
  } as unknown as AdoptionParts;
  return { fabric, opened, adoption: new Adoption(parts) };
}

describe('the jobs of a master that is gone', () => {
  afterEach(() => vi.useRealTimers());

  it.each([
    [0, 'not'],
    [3, 'not'],
    [1, 'before'],
  ] as const)('are continued after %i claims without an answer (claimed: %s)', async (failures, claimed) => {
    vi.useFakeTimers();
    const { fabric, opened, adoption } = setUp(failures, claimed);
    fabric.leave('m2');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toEqual([jid]);
    adoption.stop();
  });

  it('are left to it when it is back before the engine answers', async () => {
    vi.useFakeTimers();
    const { fabric, opened, adoption } = setUp(1);
    fabric.leave('m2');
    await vi.advanceTimersByTimeAsync(1_500);
    fabric.join('m2');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toEqual([]);
    adoption.stop();
  });
});
