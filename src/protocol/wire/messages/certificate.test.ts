// What the API says about certificates: nobody else can say it, and not for long.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { claimedChain, claimFor } from './certificate.ts';

const key = Buffer.from('the key of the API');
const chain = [randomBytes(900), randomBytes(1_200)];
const now = 1_800_000_000_000;

it('are passed on in their order', () => {
  const text = claimFor(key, chain, now);
  expect(claimedChain(key, text, now)).toEqual(chain);
  expect(claimedChain(key, text, now + 29_000)).toEqual(chain);
});

it('count for a short time, with this key, and unchanged', () => {
  const text = claimFor(key, chain, now);
  expect(claimedChain(key, text, now + 31_000)).toBeUndefined();
  expect(claimedChain(key, text, now - 31_000)).toBeUndefined();
  expect(claimedChain(Buffer.from('another key'), text, now)).toBeUndefined();
  const parts = text.split('.');
  const signature = parts.at(-1)!;
  for (const wrong of [
    '',
    '.',
    text.slice(0, -1),
    `${text}A`.slice(1),
    [parts[0], parts[2], parts[1], signature].join('.'),
    [parts[0], parts[1], signature].join('.'),
    [String(now + 1), parts[1], parts[2], signature].join('.'),
    [parts[0], parts[1], parts[2], ''].join('.'),
  ])
    expect(claimedChain(key, wrong, now), wrong.slice(0, 40)).toBeUndefined();
});

it('are few and small', () => {
  expect(claimedChain(key, claimFor(key, [], now), now)).toBeUndefined();
  expect(claimedChain(key, claimFor(key, Array(9).fill(chain[0]!), now), now)).toBeUndefined();
  expect(claimedChain(key, claimFor(key, [randomBytes(50_000)], now), now)).toBeUndefined();
});
