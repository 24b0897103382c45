// The master's data about minions stays bounded, for any number of unknown ids.
import { expect, it } from 'vitest';
import { Fleet } from './fleet.ts';

const nothing = async (): Promise<undefined> => undefined;
const store = { loadMinionData: async () => new Map(), saveMinionData: nothing, dropMinionData: nothing };
/** No id has a key. */
const emptyFleet = (): Fleet =>
  new Fleet(
    store,
    () => undefined,
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
