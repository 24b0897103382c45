// Authentication modules of users, as plain functions with Salt's names.
import { expect, it } from 'vitest';
import type { AuthContext, Login } from '../sdk/index.ts';
import { plainAuth } from './plain-auth.ts';

const context = { opts: {} } as AuthContext;
const open = async (exports: Record<string, unknown>) =>
  plainAuth('own', exports, '// Mine.')?.open({} as never, context);
const login: Login = { username: 'fred', password: 'secret' };

it('accepts only true', async () => {
  for (const answer of [true, Promise.resolve(true)]) {
    const session = await open({ auth: () => answer });
    expect(await session?.check(login)).toEqual({});
  }
  for (const answer of [false, undefined, null, 1, 'yes', {}, [], Promise.resolve('true')]) {
    const session = await open({ auth: () => answer });
    expect(await session?.check(login), String(answer)).toBeUndefined();
  }
});

it('gives the functions what they need', async () => {
  const session = await open({
    auth(this: AuthContext, username: string, password: string) {
      return this === context && username === 'fred' && password === 'secret';
    },
    groups: (username: string) => [`${username}s`],
    acl: (username: string) => (username === 'fred' ? ['test.*'] : null),
  });
  expect(await session?.check(login)).toEqual({});
  expect(await session?.groups?.('fred')).toEqual(['freds']);
  expect(await session?.rules?.('fred', 'own')).toEqual(['test.*']);
  expect(await session?.rules?.('ann', 'own')).toBeUndefined();
});

it('is nothing without a function auth, and has no groups that are no texts', async () => {
  expect(plainAuth('own', { authenticate: () => true }, '')).toBeUndefined();
  expect(await (await open({ auth: () => true, groups: () => [7] }))?.groups?.('fred')).toEqual([]);
});
