// The master's data about minions stays bounded, for any number of unknown ids.
import { expect, it } from 'vitest';
import { Fleet } from './fleet.ts';

const nothing = async (): Promise<undefined> => undefined;
const store = { loadMinionData: async () => new Map(), saveMinionData: nothing, dropMinionData: nothing };
/** No id has a key. */
const emptyFleet = (): Fleet =>
  new Fleet(
    store,
    () => [],
    () => undefined,
  );

it('does not store every id that unauthenticated peers invent', () => {
  const fleet = emptyFleet();
  for (let n = 0; n < 101_000; n++) fleet.signedIn(`unknown-${n}`, { result: 'pend', at: n, detail: '' });
  expect(fleet.ids()).toHaveLength(100_000);
  fleet.signedIn('unknown-0', { result: 'accept', at: 1, detail: '' });
  expect(fleet.known('unknown-0')?.lastAuth?.result).toBe('accept');
});

it('stores the reason for the last refused unauthenticated peers, and drops no minion for them', () => {
  const fleet = emptyFleet();
  const auth = { result: 'too-old', at: 1, detail: 'speaks protocol 0' } as const;
  fleet.refusedWithoutKey('web1', auth);
  fleet.signedIn('web1', { result: 'accept', at: 2, detail: '' });
  for (let n = 0; n < 3000; n++) fleet.refusedWithoutKey(`unknown-${n}`, auth);
  expect(fleet.ids()).toHaveLength(1001);
  expect(fleet.known('web1')?.lastAuth?.result).toBe('accept');
  expect(fleet.known('unknown-2999')?.lastAuth).toEqual(auth);
  expect(fleet.known('unknown-0')).toBeUndefined();
});

it('no longer counts on seeing the connections of a minion that became one of Salt', () => {
  const fleet = emptyFleet();
  const auth = { result: 'accept', at: 1, detail: '' } as const;
  const event = { topic: '', peer: '127.0.0.1:1', id: 'web1' };
  fleet.subscriber({ kind: 'joined', ...event });
  fleet.signedIn('web1', auth, false);
  // One that is there may be another process with this id.
  expect(fleet.known('web1')?.tracked).toBe(true);
  fleet.subscriber({ kind: 'left', ...event });
  fleet.signedIn('web1', auth, true);
  expect(fleet.known('web1')?.tracked).toBe(true);
  fleet.signedIn('web1', auth, false);
  expect(fleet.known('web1')?.tracked).toBe(false);
  expect(fleet.connected('web1')).toBe('unknown');
});
