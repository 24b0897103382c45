import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { eventMessage, fleetMessages, jobMessages } from './messages.ts';

const dict = (given: Record<string, Value>) => newDict(Object.entries(given));

describe('messages of a live stream', () => {
  it('cut a large window into parts of at most 64 kB, and tell an empty one', () => {
    const rows = Array.from({ length: 1_000 }, (_, at): Value => [`web${at}`, 'x'.repeat(200)]);
    const parts = fleetMessages('fleet:a', dict({ type: 'page', page: dict({ rows, total: 1_000, version: 3 }) }));
    for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(64 * 1024);
    expect(parts.flatMap(([, , cells]) => cells as Value[])).toHaveLength(2_000);
    expect(fleetMessages('fleet:a', dict({ page: dict({ rows: [], total: 0 }) }))).toEqual([
      ['f', 0, [], [], 0, 'fleet:a'],
    ]);
    expect(fleetMessages('fleet:a', dict({ cells: [[0, 1, 'away']], gone: [4], total: 4, version: 9 }))).toEqual([
      ['f', 9, [[0, 1, 'away']], [4], 4, 'fleet:a'],
    ]);
  });

  it('of jobs begin with the verdicts of all minions, or without any for the topic of all jobs', () => {
    const job = dict({
      type: 'job',
      jid: '1',
      fun: 'test.ping',
      minions: ['a', 'b'],
      verdicts: 'wo',
      balance: newDict(),
    });
    expect(jobMessages(job, '1')).toMatchObject([
      ['j', '1', { fun: 'test.ping', minions: 2 }, 'wo'],
      ['v', '1', 0, [], {}],
    ]);
    const listed = dict({ type: 'job', jid: '1', load: dict({ fun: 'test.ping' }), balance: dict({ w: 2 }) });
    expect(jobMessages(listed, '')).toMatchObject([
      ['j', '1', { fun: 'test.ping' }, ''],
      ['v', '1', 0, [], { w: 2 }],
    ]);
    expect(jobMessages(dict({ type: 'other' }), '1')).toEqual([]);
  });

  it('do not carry whole files', () => {
    const large = dict({ type: 'job', jid: '1', arg: ['x'.repeat(100_000)], minions: [], verdicts: '' });
    expect(JSON.stringify(jobMessages(large, '1')).length).toBeLessThan(4_000);
    expect(eventMessage('t', dict({ x: 'y'.repeat(100_000) }), 'e-1')).toMatchObject([
      't',
      't',
      { _truncated: 100_009 },
      'e-1',
    ]);
  });
});
