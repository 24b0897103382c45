// Rendezvous order: the same everywhere, evenly spread, and stable when members come and go.
import { describe, expect, it } from 'vitest';
import { rendezvous } from './rendezvous.ts';

const members = ['m1', 'm2', 'm3', 'm4'];
const keys = Array.from({ length: 4000 }, (_, n) => `minion-${n}.example`);

describe('rendezvous order', () => {
  it('does not depend on the order in which members are known', () => {
    for (const key of keys.slice(0, 200))
      expect(rendezvous(key, [...members].reverse())).toEqual(rendezvous(key, members));
  });

  it('gives each member a fair part', () => {
    const counts = new Map<string, number>();
    for (const key of keys) {
      const [first = ''] = rendezvous(key, members);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    for (const member of members) expect(counts.get(member)).toBeGreaterThan(keys.length / members.length / 1.2);
  });

  it('moves only what was at the member that left', () => {
    for (const key of keys) {
      const before = rendezvous(key, members);
      expect(
        rendezvous(
          key,
          members.filter((name) => name !== 'm2'),
        ),
      ).toEqual(before.filter((name) => name !== 'm2'));
    }
  });
});
