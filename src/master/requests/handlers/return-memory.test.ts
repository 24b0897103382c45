import { describe, expect, it } from 'vitest';
import { ReturnMemory } from './return-memory.ts';

describe('what the handlers of results remember', () => {
  it('limits the jobs of other masters for one minion, not for the others', () => {
    const memory = new ReturnMemory();
    for (let i = 0; i < 10_000; i++) memory.countKept('evil');
    expect(() => memory.countKept('evil')).toThrow(/evil brings results of too many jobs/);
    memory.countKept('web1');
  });

  it('assigns the same jid to the same run, and forgets the oldest', () => {
    const memory = new ReturnMemory();
    const first = memory.jidFor('x', 'web1');
    expect(memory.jidFor('x', 'web1')).toBe(first);
    expect(memory.jidFor('x', 'web2')).not.toBe(first);
    memory.saw('first');
    for (let i = 0; i < 10_000; i++) memory.saw(String(i));
    expect([memory.hasSeen('first'), memory.hasSeen('0'), memory.hasSeen('9999')]).toEqual([false, true, true]);
  });
});
