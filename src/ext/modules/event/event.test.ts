// Events to the master.
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import event from './index.ts';

const kw = (entries: Record<string, Value>): PlainDict => newDict(Object.entries(entries));

function make(opts: Record<string, Value> = {}) {
  const fired: [string, Value][] = [];
  const requests: PlainDict[] = [];
  const ctx = testContext({
    modules: [event],
    opts,
    grains: kw({ id: 'web1', os: 'Debian' }),
    pillar: kw({ role: 'web', secret: 'x' }),
    minion: {
      fire: async (tag, data) => fired.push([tag, data]) > 0,
      masterRequest: async (load) => requests.push(load) > 0,
    },
  });
  return { ctx, fired, requests };
}

describe('event.send', () => {
  it('sends data and keywords together', async () => {
    const { ctx, fired } = make();
    expect(await ctx.callWith('event.send', ['a/b', newDict([['x', 1]])], kw({ y: 2 }))).toBe(true);
    expect(fired).toEqual([['a/b', { y: 2, x: 1 }]]);
  });

  it('adds the requested data', async () => {
    const { ctx, fired } = make({ saltenv: 'dev' });
    await ctx.callWith(
      'event.send',
      ['t'],
      kw({ with_grains: ['os'], with_pillar: ['role'], with_env: ['HOME'], with_env_opts: true }),
    );
    expect(fired[0]?.[1]).toEqual({
      environ: { HOME: process.env['HOME'] },
      grains: { os: 'Debian' },
      pillar: { role: 'web' },
      saltenv: 'dev',
      pillarenv: null,
    });
  });

  it('sends nothing from a minion without a master', async () => {
    for (const [name, value] of [
      ['local', true],
      ['file_client', 'local'],
      ['master_type', 'disable'],
    ] as const) {
      const { ctx, fired } = make({ [name]: value });
      expect(await ctx.call('event.send', 't')).toBe(false);
      expect(fired).toEqual([]);
    }
    const { ctx, fired } = make({ local: true, use_master_when_local: true });
    expect(await ctx.call('event.send', 't')).toBe(true);
    expect(fired.length).toBe(1);
  });

  it('changes the message itself with a preload', async () => {
    const { ctx, requests } = make();
    await ctx.callWith('event.fire_master', [newDict([['x', 1]]), 't', kw({ id: 'other' })], newDict());
    expect(requests).toEqual([{ cmd: '_minion_event', id: 'other', tag: 't', data: { x: 1 } }]);
  });
});
