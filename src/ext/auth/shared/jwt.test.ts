// Claims of tokens: times, audiences and parties.
import { expect, it } from 'vitest';
import { checkClaims } from './jwt.ts';

const now = 1_000_000;
const good = { iss: 'https://id.example.com', aud: 'salt', exp: now + 100, iat: now - 100 };
const expected = { issuer: 'https://id.example.com', audiences: ['salt', 'api'] };
const check = (more: Record<string, unknown>) => () => checkClaims({ ...good, ...more } as never, expected, now);

it.each([
  {},
  { aud: ['api'] },
  { aud: ['salt', 'x'], azp: 'salt' },
  { nbf: now },
  { exp: now - 30 },
  { iat: now + 30 },
])('accepts %j', (more) => {
  expect(check(more)).not.toThrow();
});

it.each<[Record<string, unknown>, RegExp]>([
  [{ iss: 'https://id.example.com/' }, /another issuer/],
  [{ iss: ['https://id.example.com'] }, /another issuer/],
  [{ aud: 'other' }, /another audience/],
  [{ aud: [] }, /another audience/],
  [{ aud: null }, /another audience/],
  [{ aud: { salt: 1 } }, /another audience/],
  [{ aud: ['salt', 'x'] }, /another party/],
  [{ aud: ['salt', 'x'], azp: 'x' }, /another party/],
  [{ exp: now - 61 }, /expired/],
  [{ exp: undefined }, /expired/],
  [{ exp: '9999999999' }, /expired/],
  [{ nbf: now + 61 }, /not valid yet/],
  [{ iat: now + 61 }, /not valid yet/],
  [{ nbf: 'soon' }, /not valid yet/],
])('refuses %j', (more, why) => {
  expect(check(more)).toThrow(why);
});
