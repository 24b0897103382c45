// The mine: through requests to a master, or in the minion's own store without a master.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, describe, expect, it } from 'vitest';
import config from '../config.ts';
import match from '../match.ts';
import test from '../test/index.ts';
import mine, { parseDefinition } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-mine-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const modules = [mine, test, config, match];
const kw = (entries: Record<string, Value>): PlainDict => newDict(Object.entries(entries));

describe('with a master', () => {
  const sent: PlainDict[] = [];
  const ctx = testContext({
    modules,
    opts: {
      mine_functions: {
        'test.ping': [],
        alias: [{ mine_function: 'test.echo' }, 'hello'],
        'no.such': [],
        secret: { mine_function: 'test.ping', allow_tgt: 'web*' },
      },
    } as unknown as Record<string, Value>,
    minion: {
      hasMaster: true,
      masterRequest: async (load) => {
        sent.push(load);
        return load['cmd'] === '_mine_get'
          ? newDict([
              ['testminion', 1],
              ['other', 2],
            ])
          : true;
      },
    },
  });

  it('sends the results of the configured functions', async () => {
    expect(await ctx.call('mine.update')).toBe(true);
    expect(sent.at(-1)).toEqual({
      cmd: '_mine',
      id: 'testminion',
      clear: false,
      data: { 'test.ping': true, alias: 'hello', secret: { __data__: true, __saltmine_acl__: 1, allow_tgt: 'web*' } },
    });
  });

  it('sends one result, or reports that there is none', async () => {
    expect(await ctx.callWith('mine.send', ['greeting', 'hi'], kw({ mine_function: 'test.echo' }))).toBe(true);
    expect(sent.at(-1)?.['data']).toEqual({ greeting: 'hi' });
    expect(await ctx.call('mine.send', 'no.such')).toBe(false);
  });

  it('requests the data of other minions', async () => {
    expect(await ctx.callWith('mine.get', ['*', 'test.ping'], kw({ exclude_minion: true }))).toEqual({ other: 2 });
    expect(sent.at(-1)).toEqual({ cmd: '_mine_get', id: 'testminion', tgt: '*', fun: 'test.ping', tgt_type: 'glob' });
  });

  it('removes', async () => {
    await ctx.call('mine.delete', 'alias');
    await ctx.call('mine.flush');
    expect(sent.slice(-2).map((load) => load['cmd'])).toEqual(['_mine_delete', '_mine_flush']);
  });

  it('shows what is configured and can be run', async () => {
    expect(await ctx.call('mine.valid')).toEqual({
      'test.ping': [],
      alias: { 'test.echo': ['hello'] },
      secret: { 'test.ping': [] },
    });
  });
});

describe('without a master', () => {
  const ctx = testContext({ modules, opts: { file_client: 'local', cachedir: folder } });

  it('keeps data of this minion only', async () => {
    expect(await ctx.call('mine.update')).toBeNull();
    await ctx.call('mine.send', 'test.ping');
    await ctx.callWith('mine.send', ['a', 'x'], kw({ mine_function: 'test.echo' }));
    expect(await ctx.call('mine.get', '*', 'test.ping')).toEqual({ testminion: true });
    expect(await ctx.call('mine.get', '*', 'test.ping,a')).toEqual({
      'test.ping': { testminion: true },
      a: { testminion: 'x' },
    });
    expect(await ctx.call('mine.get', 'other*', 'a')).toEqual({});
    await ctx.call('mine.delete', 'a');
    expect(await ctx.call('mine.get', '*', 'a')).toEqual({});
    await ctx.call('mine.flush');
    expect(await ctx.call('mine.get', '*', 'test.ping')).toEqual({});
  });
});

describe('definitions', () => {
  it('may be lists or dictionaries', () => {
    expect(parseDefinition('x', [1, { a: 2 }, { mine_function: 'y.z' }] as unknown as Value)).toMatchObject({
      fun: 'y.z',
      args: [1],
      kwargs: { a: 2 },
    });
    expect(parseDefinition('x', { a: 2 } as unknown as Value)).toMatchObject({ fun: 'x', args: [], kwargs: { a: 2 } });
    expect(parseDefinition('x', null)).toMatchObject({ fun: 'x', args: [], kwargs: {} });
  });
});
