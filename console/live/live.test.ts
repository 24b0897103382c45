import { describe, expect, it } from 'vitest';
import { EventLines } from './event-lines.ts';
import { isFor, readMessage } from './messages.ts';

describe('records of the stream', () => {
  it('are read whole, however they are cut', () => {
    const text = 'retry: 500\n\n: ping\n\nid: 7\ndata: [1,\ndata: 2]\n\ndata: "x"\n\n';
    const lines = new EventLines();
    const found = [...text].flatMap((character) => lines.push(character));
    expect(found).toEqual([
      { name: 'message', id: '7', data: '[1,\n2]' },
      { name: 'message', id: undefined, data: '"x"' },
    ]);
  });

  it('are refused when one never ends', () => {
    const lines = new EventLines();
    const fill = (): unknown => lines.push('x'.repeat(1024 * 1024));
    for (let at = 0; at < 4; at++) fill();
    expect(fill).toThrow('too large');
  });
});

describe('messages', () => {
  it('are read by their kind', () => {
    expect(readMessage(['v', '2026', 3, [[0, 'o'], ['bad'], [1, 'f']], { o: 1, f: 1 }])).toEqual({
      kind: 'verdicts',
      jid: '2026',
      seq: 3,
      changes: [
        [0, 'o'],
        [1, 'f'],
      ],
      balance: { o: 1, f: 1 },
    });
    expect(readMessage(['f', 1, [[0, 1, 'away'], null], [3], 9, 'fleet:a'])).toMatchObject({
      cells: [[0, 1, 'away']],
      gone: [3],
    });
  });

  it.each([[null], [{}], [[]], [['constructor']], [['?']], ['v']])('%j is left out', (value) => {
    expect(readMessage(value)).toBeUndefined();
  });

  it('with wrong parts become empty ones, not errors', () => {
    for (const kind of 'fsjvoektgx') expect(readMessage([kind, null, 'x', {}, [], 1, 2])).toBeDefined();
  });

  it('are for the topics that asked for them', () => {
    const end = readMessage(['e', '1', {}, 5])!;
    expect(['job:1', 'jobs', 'job:2', 'summary'].map((topic) => isFor(topic, end))).toEqual([true, true, false, false]);
    const gap = readMessage(['g', 'events', 5])!;
    expect([isFor('events:*', gap), isFor('jobs', gap)]).toEqual([true, false]);
  });
});
