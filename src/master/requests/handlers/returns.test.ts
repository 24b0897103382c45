// Results that arrive twice: passed on once, acknowledged only when they are stored.
import { describe, expect, it } from 'vitest';
import { type Dict, newDict, type PlainDict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { nullLogger } from '../../../base/log/index.ts';
import { Tracker } from '../../tracking/tracker.ts';
import type { Sender } from '../sender.ts';
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

function setUp(saveReturn: (record: { load: Dict }) => Promise<'stored'>) {
  const unused = (): never => expect.fail('not for a result that was asked for');
  const opts = { raw: newDict(), timeout: 5, syndic_wait: 5 };
  const log = nullLogger();
  const store = {
    ...{ saveReturn, saveVerdicts: async () => undefined },
    ...{ saveJob: unused, load: unused, expected: unused, hasReturn: unused },
  };
  const tracker = new Tracker({
    ...{ opts, log, store },
    keys: { ids: unused, has: unused },
    fleet: { connected: unused, isHalite: unused, known: unused, record: unused },
    reasons: {
      isSuspect: unused,
      silence: unused,
      evidenceOf: unused,
      knownAbsent: unused,
      unfinished: unused,
      via: unused,
    },
    durable: { arrived: unused, keep: unused },
    ask: unused,
    kill: unused,
  });
  const job = tracker.open(jid, 'test.ping', ['web1'], [], { timeoutMs: 5000, gatherMs: 5000 });
  const [events, handed]: [string[], string[]] = [[], []];
  job.listen((update) => {
    if (update.type === 'return') handed.push(update.id);
  });
  const handlers = returnHandlers({
    ...{ opts, log, store, tracker },
    keys: { accepted: unused },
    lower: { on: false, has: unused, mayBe: unused, isNoMinion: unused, returned: unused },
    bus: { fire: (tag: string) => void events.push(tag) },
    durable: { returned: () => undefined },
    known: { isFor: () => false, owner: () => undefined },
    passOn: async () => undefined,
  });
  const take = async (): Promise<unknown> => handlers['_return']!.run(result(), sender);
  return { take, events, handed };
}

describe('a result that arrives twice', () => {
  it('is stored the second time when storing failed the first time, and is not acknowledged before', async () => {
    const stored: Dict[] = [];
    let full = true;
    const { take, events, handed } = setUp(async ({ load }) => {
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

  it('waits for the first one while that is not stored yet', async () => {
    let store = (_word: 'stored'): void => {};
    let saved = 0;
    const { take } = setUp(() => {
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

describe('a result of a minion that was not asked', () => {
  it('is not taken in the moment when the publication is here, and the record of the job is not', async () => {
    const stored: string[] = [];
    let record: PlainDict | undefined;
    const unused = (): never => expect.fail('not for a result of a job that another master published');
    const store = {
      saveReturn: async ({ id }: { id: string }) => {
        stored.push(id);
        return 'stored' as const;
      },
      load: async () => record,
      ...{ expected: async () => ['web2'], hasReturn: async () => false, saveJob: unused },
    };
    const handlers = returnHandlers({
      ...{ log: nullLogger(), store },
      tracker: { job: () => undefined, alreadyReturned: () => false, returned: unused },
      keys: { accepted: unused },
      lower: { on: false, has: unused, mayBe: unused, isNoMinion: unused, returned: unused },
      bus: { fire: unused },
      durable: { returned: unused },
      known: { isFor: (_jid, id) => id === 'web2', owner: () => 1 },
      passOn: unused,
    });
    const take = async (): Promise<unknown> => handlers['_return']!.run(result(), sender);
    // Not acknowledged: should it have been asked after all, it sends it again.
    await expect(take()).rejects.toThrow(/web1.*not known yet/);
    record = newDict([['jid', jid]]);
    expect(await take()).toBeNull();
    expect(stored).toEqual([]);
  });
});
