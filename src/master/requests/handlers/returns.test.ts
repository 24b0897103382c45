// Results that come twice: handed on once, acknowledged only when they are stored.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Master, Sender } from '../../core.ts';
import { Tracker } from '../../tracking/tracker.ts';
import { returnHandlers } from './returns.ts';

const jid = '20260131235959000001';
const sender: Sender = { id: 'web1', trust: 'proven', version: 3, peer: '', transport: 'zeromq' };
const result = (): PlainDict =>
  newDict([
    ['jid', jid],
    ['id', 'web1'],
    ['fun', 'test.ping'],
    ['return', true],
    ['retcode', 0],
    ['success', true],
  ]);

function fake(saveReturn: (record: { load: PlainDict }) => Promise<string>) {
  const tracker = new Tracker();
  const job = tracker.open(jid, 'test.ping', ['web1'], [], { timeoutMs: 5000, gatherMs: 5000 });
  const [events, handed]: [string[], string[]] = [[], []];
  const master = {
    tracker,
    store: { saveReturn, saveVerdicts: async () => undefined },
    durable: { returned: () => undefined },
    bus: { fire: (tag: string) => void events.push(tag) },
    log: { limited: () => undefined },
  } as unknown as Master;
  tracker.connect(
    master,
    () => expect.fail('nobody is asked'),
    async () => undefined,
  );
  job.listen((update) => {
    if (update.type === 'return') handed.push(update.id);
  });
  const handlers = returnHandlers(master);
  const take = async (): Promise<unknown> => handlers['_return']!.run(result(), sender);
  return { take, events, handed };
}

describe('a result that comes twice', () => {
  it('is stored the second time when that failed the first time, and never acknowledged before', async () => {
    const stored: PlainDict[] = [];
    let full = true;
    const { take, events, handed } = fake(async ({ load }) => {
      if (full) throw new HaliteError('store.unavailable', 'disk full');
      stored.push(load);
      return 'stored';
    });
    await expect(take()).rejects.toThrow('disk full');
    await expect(take()).rejects.toThrow('disk full');
    full = false;
    await take();
    expect(stored).toHaveLength(1);
    expect(handed).toEqual(['web1']);
    expect(events).toHaveLength(1);
  });

  it('waits for the first one when that is not stored yet', async () => {
    let store = (_word: string): void => {};
    let saved = 0;
    const { take } = fake(() => {
      saved++;
      return new Promise((resolve) => {
        store = resolve;
      });
    });
    const both = Promise.all([take(), take()]);
    let done = false;
    void both.then(() => {
      done = true;
    });
    await new Promise(setImmediate);
    expect(done).toBe(false);
    store('stored');
    await both;
    expect(saved).toBe(1);
  });
});
