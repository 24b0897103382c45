// What the `_pillar` handler reads from a minion, answers and stores.
import { describe, expect, it } from 'vitest';
import { dictGet, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { PillarRequest } from '../../../engine/pillar/types.ts';
import type { MinionData } from '../../../store/jobs.ts';
import type { Sender } from '../sender.ts';
import { type PillarParts, pillarHandlers } from './pillar.ts';

function setUp(compile: (request: PillarRequest) => PlainDict, opts: Partial<PillarParts['opts']> = {}) {
  const stored: [string, MinionData][] = [];
  const fired: string[] = [];
  const asked: [PillarRequest, boolean][] = [];
  const quiet = (): void => undefined;
  const parts: PillarParts = {
    opts: { minion_data_cache: true, minion_data_cache_events: true, ...opts },
    log: { error: quiet, limited: quiet },
    bus: { fire: (tag: string) => void fired.push(tag) },
    fleet: {
      data: () => ({ grains: newDict(), pillar: newDict([['old', 1]]) }),
      setData: async (id: string, data: MinionData) => void stored.push([id, data]),
    },
    pillars: {
      compile: async (request: PillarRequest) => compile(request),
      async get(request: PillarRequest, clean = false) {
        asked.push([request, clean]);
        return compile(request);
      },
    },
  };
  const sender: Sender = { id: 'web1', trust: 'proven', version: 3, peer: '', transport: 'tcp' };
  const ask = (load: Record<string, Value>): Promise<unknown> =>
    Promise.resolve(pillarHandlers(parts)['_pillar']!.run(newDict(Object.entries(load)), sender));
  return { ask, stored, fired, asked };
}

const pillar = newDict([['x', 1]]);

describe('_pillar', () => {
  it('compiles for the sender, independent of the id in its grains, and stores both', async () => {
    const { ask, stored, fired, asked } = setUp(() => pillar);
    expect(
      await ask({ grains: newDict(Object.entries({ id: 'other', os: 'Debian' })), saltenv: 'dev', pillarenv: null }),
    ).toBe(pillar);
    const [[request]] = asked as [[PillarRequest, boolean]];
    expect(request).toMatchObject({ minionId: 'web1', saltenv: 'dev', pillarenv: undefined, override: undefined });
    expect({ ...request.grains }).toEqual({ os: 'Debian', id: 'web1' });
    expect(stored).toEqual([['web1', { grains: request.grains, pillar }]]);
    expect(fired).toEqual(['minion/refresh/web1']);
  });
  it('reads the old name of the environment, and requests a clean cache', async () => {
    const { ask, asked } = setUp(() => pillar);
    await ask({ grains: newDict(), env: 'qa', clean_cache: true });
    expect(asked[0]).toMatchObject([{ saltenv: 'qa' }, true]);
  });
  it('does not store values of one command', async () => {
    const { ask, stored } = setUp(() => pillar);
    await ask({ grains: newDict(), pillar_override: newDict([['x', 2]]) });
    expect(stored).toEqual([]);
  });
  it('answers with an error when compiling fails, and keeps the previous pillar', async () => {
    const { ask, stored } = setUp(() => {
      throw new Error('worker died');
    });
    const answer = await ask({ grains: newDict([['os', 'x']]) });
    expect(dictGet(answer as PlainDict, '_errors')).toEqual(['The pillar could not be compiled: worker died']);
    expect({ ...stored[0]?.[1].pillar }).toEqual({ old: 1 });
  });
  it('stores nothing when disabled, and accepts loads of any form', async () => {
    const { ask, stored, fired } = setUp(() => pillar, { minion_data_cache: false });
    for (const grains of [null, 'text', 5, [], new Map([[1, 2]])] as Value[])
      expect(await ask({ grains })).toBe(pillar);
    expect(stored).toEqual([]);
    expect(fired).toEqual([]);
  });
});
