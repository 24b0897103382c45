// What the master remembers of minions stays bounded, whoever knocks.
import { expect, it } from 'vitest';
import { Fleet } from './fleet.ts';

it('does not remember every name that strangers invent', () => {
  const fleet = new Fleet(
    {} as never,
    () => undefined,
    () => undefined,
  );
  for (let n = 0; n < 101_000; n++) fleet.signedIn(`stranger-${n}`, { result: 'pend', at: n, detail: '' });
  expect(fleet.ids()).toHaveLength(100_000);
  fleet.signedIn('stranger-0', { result: 'accept', at: 1, detail: '' });
  expect(fleet.known('stranger-0')?.lastAuth?.result).toBe('accept');
});
