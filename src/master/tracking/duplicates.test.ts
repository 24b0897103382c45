// Two users of one id, wherever they are connected; links of one process are one user.
import { expect, it } from 'vitest';
import type { FleetConnection } from '../fleet/fleet.ts';
import { duplicateText } from './reasons.ts';

const at = Date.UTC(2026, 10, 18, 12);
const link = (random: string, pid: number, address: string, member?: string): FleetConnection => ({
  ...{ boot: `${random}~${pid}~${address}`, peer: 'zeromq', since: at, pid, address },
  ...(member === undefined ? {} : { member }),
});

it('are named with address and process, and with member and time where members matter', () => {
  expect(duplicateText([link('a', 1, '10.0.0.1'), link('b', 2, '10.0.0.2')])).toBe(
    '10.0.0.1 pid 1 since 2026-11-18 12:00:00 UTC and 10.0.0.2 pid 2 since 2026-11-18 12:00:00 UTC',
  );
  expect(duplicateText([link('a', 1, '10.0.0.1'), link('b', 2, '10.0.0.2', 'm2')])).toBe(
    '10.0.0.1 pid 1 at this master since 2026-11-18 12:00:00 UTC and 10.0.0.2 pid 2 at m2 since 2026-11-18 12:00:00 UTC',
  );
});

it('are not the links of one process to several members, whatever address each link uses', () => {
  expect(duplicateText([link('a', 1, '10.0.0.1'), link('a', 1, '10.1.0.1', 'm2'), link('a', 1, '', 'm3')])).toBe('');
  const tcp = (peer: string, member?: string): FleetConnection => ({
    ...{ boot: peer, peer, since: at, pid: 0, address: peer },
    ...(member === undefined ? {} : { member }),
  });
  expect(duplicateText([tcp('10.0.0.1:5000'), tcp('10.0.0.1:6000', 'm2')])).toBe('');
  expect(duplicateText([tcp('10.0.0.1:5000'), tcp('10.0.0.2:6000', 'm2')])).toContain('10.0.0.2:6000 at m2');
  // At one master, the port distinguishes two of them.
  expect(duplicateText([tcp('10.0.0.1:5000'), tcp('10.0.0.1:6000')])).not.toBe('');
});
