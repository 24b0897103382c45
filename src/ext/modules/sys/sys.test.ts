// The answers of `sys` about the available functions.

import { testContext } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import event from '../event/index.ts';
import test from '../test/index.ts';
import sys from './index.ts';

const ctx = testContext({ modules: [sys, test, event] });

describe('sys', () => {
  it('lists modules and functions', async () => {
    expect(await ctx.call('sys.list_modules')).toEqual(['event', 'sys', 'test']);
    expect(await ctx.call('sys.list_modules', 's*')).toEqual(['sys']);
    expect(await ctx.call('sys.list_modules', '*.fire')).toEqual(['event']);
    expect(await ctx.call('sys.list_functions', 'event')).toEqual(['event.fire', 'event.fire_master', 'event.send']);
    expect(await ctx.call('sys.list_functions', 'test.p*')).toEqual(['test.ping', 'test.provider', 'test.providers']);
    expect(await ctx.call('sys.list_returners')).toEqual(expect.arrayContaining(['local_cache', 'mysql', 'redis']));
  });

  it('documents one function, a module or a glob', async () => {
    expect(Object.keys((await ctx.call('sys.doc', 'test.ping')) as object)).toEqual(['test.ping']);
    expect(Object.keys((await ctx.call('sys.doc', 'event')) as object)).toEqual([
      'event.fire',
      'event.fire_master',
      'event.send',
    ]);
    expect(Object.keys((await ctx.call('sys.doc', 'event.f*')) as object)).toEqual(['event.fire', 'event.fire_master']);
    expect(await ctx.call('sys.doc', 'nope')).toEqual({});
  });

  it('shows signatures', async () => {
    expect(await ctx.call('sys.argspec', 'test.arg')).toEqual({
      'test.arg': { args: null, defaults: null, varargs: true, kwargs: true },
    });
    expect(await ctx.call('sys.argspec', 'event.fire_master')).toEqual({
      'event.fire_master': { args: ['data', 'tag', 'preload'], defaults: [null], varargs: null, kwargs: null },
    });
    expect(await ctx.call('sys.argspec', '')).toEqual({});
  });

  it('takes markup out of documentation', async () => {
    const told = testContext({
      modules: [sys],
      registry: {
        functionNames: async () => ['a.b'],
        functionInfo: async (_, name) => ({
          name,
          doc: 'Text\n\n    .. code-block:: bash\n\n        salt x\n\n.. note:: hm',
          params: {},
        }),
      },
    });
    expect(await told.call('sys.doc', 'a')).toEqual({ 'a.b': 'Text\n\n        salt x\n\nNote: hm' });
  });
});
