// Jobs, extensions, caches and keys of the minion itself.
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileClient, newDict, type PlainDict, type RunningJob, type Value } from 'halite/sdk';
import { pack } from 'halite/sdk/codec';
import { testContext } from 'halite/testing';
import { afterAll, describe, expect, it } from 'vitest';
import saltutil from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-saltutil-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const job = (jid: string, fun: string): RunningJob => ({
  jid,
  fun,
  arg: [],
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
  user: 'root',
  pid: 42,
});
const jobs = [
  job('20240101000000000001', 'test.sleep'),
  job('20240101000000000002', 'cmd.run'),
  job('20240101000000000003', 'saltutil.running'),
];

describe('jobs', () => {
  const signals: [string, number][] = [];
  const ctx = testContext({
    modules: [saltutil],
    job: { jid: '20240101000000000003' },
    minion: {
      running: async () => jobs,
      signalJob: async (jid, signal) => {
        if (!jobs.some((known) => known.jid === jid)) return '';
        signals.push([jid, signal]);
        return `Signal ${signal} sent to job ${jid} at pid 42`;
      },
    },
  });

  it('lists all except the calling one', async () => {
    expect(((await ctx.call('saltutil.running')) as PlainDict[]).map((entry) => entry['fun'])).toEqual([
      'test.sleep',
      'cmd.run',
    ]);
    expect(((await ctx.call('saltutil.is_running', 'cmd.*')) as PlainDict[]).length).toBe(1);
  });

  it('finds one', async () => {
    expect(await ctx.call('saltutil.find_job', '20240101000000000001')).toEqual({ ...jobs[0] });
    expect(await ctx.call('saltutil.find_job', '20240101000000000009')).toEqual({});
  });

  it('ends them with the right signal', async () => {
    expect(await ctx.call('saltutil.kill_job', '20240101000000000002')).toBe(
      'Signal 9 sent to job 20240101000000000002 at pid 42',
    );
    expect(await ctx.call('saltutil.term_job', '20990101000000000000')).toBe('');
    expect(await ctx.call('saltutil.signal_job', '20240101000000000001', '10')).toMatch(/^Signal 10 /);
    signals.length = 0;
    await ctx.call('saltutil.kill_all_jobs');
    expect(signals).toEqual([
      ['20240101000000000001', 9],
      ['20240101000000000002', 9],
    ]);
  });
});

describe('caches', () => {
  const cachedir = join(folder, 'cache');
  const ctx = testContext({ modules: [saltutil], opts: { cachedir } });

  it('reads a finished job and removes old ones', async () => {
    const jid = '20240101000000000007';
    expect(await ctx.call('saltutil.find_cached_job', jid)).toMatch(
      /^Local jobs cache directory not found; you may need/,
    );
    mkdirSync(join(cachedir, 'minion_jobs', jid), { recursive: true });
    writeFileSync(join(cachedir, 'minion_jobs', jid, 'return.p'), pack(newDict([['return', true]])));
    expect(await ctx.call('saltutil.find_cached_job', jid)).toEqual({ return: true });
    expect(await ctx.call('saltutil.find_cached_job', '../../x')).toMatch(/^Local jobs cache directory not found/);
    expect(await ctx.call('saltutil.clear_job_cache', 1)).toBe(true);
    expect(existsSync(join(cachedir, 'minion_jobs', jid))).toBe(true);
    utimesSync(join(cachedir, 'minion_jobs', jid), 1000, 1000);
    expect(await ctx.call('saltutil.clear_job_cache', 1)).toBe(true);
    expect(existsSync(join(cachedir, 'minion_jobs', jid))).toBe(false);
  });

  it('empties the cache folder but keeps folders', async () => {
    mkdirSync(join(cachedir, 'files/base'), { recursive: true });
    writeFileSync(join(cachedir, 'files/base/x'), 'x');
    expect(await ctx.call('saltutil.clear_cache')).toBe(true);
    expect(existsSync(join(cachedir, 'files/base/x'))).toBe(false);
    expect(existsSync(join(cachedir, 'files/base'))).toBe(true);
  });
});

describe('extensions', () => {
  function make(touched: boolean) {
    const calls: string[] = [];
    const files = {
      syncExtensions: async (kinds: readonly string[]) => {
        calls.push(`sync ${kinds.join(',')}`);
        return { synced: { modules: touched ? ['modules.own'] : [] }, touched, problems: [] };
      },
    } as unknown as FileClient;
    const minion = {
      reloadExtensions: async () => void calls.push('reload'),
      refreshGrains: async () => void calls.push('grains'),
      refreshPillar: async () => calls.push('pillar') > 0,
    };
    return { calls, ctx: testContext({ modules: [saltutil], files, minion, opts: { file_client: 'remote' } }) };
  }

  it('loads what is new', async () => {
    const { calls, ctx } = make(true);
    expect(await ctx.call('saltutil.sync_modules')).toEqual(['modules.own']);
    expect(calls).toEqual(['sync modules', 'reload']);
  });

  it('keeps job processes when nothing is new', async () => {
    const { calls, ctx } = make(false);
    expect(await ctx.call('saltutil.sync_states')).toEqual([]);
    expect(calls).toEqual(['sync states']);
  });

  it('syncs every kind at once and refreshes', async () => {
    const { calls, ctx } = make(true);
    const found = (await ctx.call('saltutil.sync_all')) as PlainDict;
    expect(Object.keys(found).sort()).toEqual([
      ...['beacons', 'clouds', 'engines', 'executors', 'grains', 'log_handlers', 'matchers', 'modules', 'output'],
      ...['proxymodules', 'renderers', 'returners', 'sdb', 'serializers', 'states', 'thorium', 'utils'],
    ]);
    expect(found['modules']).toEqual(['modules.own']);
    expect(calls.slice(1)).toEqual(['reload', 'grains', 'pillar']);
  });

  it('refuses unknown keywords of refresh_grains', async () => {
    const { ctx } = make(false);
    await expect(ctx.callWith('saltutil.refresh_grains', [], newDict([['bad', 1]]))).rejects.toThrow(
      'The following keyword arguments are not valid: bad=1',
    );
  });
});

describe('the master', () => {
  it('is asked to delete the key of this minion', async () => {
    const sent: Value[] = [];
    const ctx = testContext({
      modules: [saltutil],
      minion: { masterRequest: async (load) => sent.push(load) > 0 },
    });
    expect(await ctx.call('saltutil.revoke_auth', true)).toBe(true);
    expect(sent).toEqual([{ cmd: 'revoke_auth', id: 'testminion', preserve_minion_cache: true }]);
    expect(await testContext({ modules: [saltutil] }).call('saltutil.revoke_auth')).toBe(false);
  });

  it('must be on this machine for runners', async () => {
    const ctx = testContext({ modules: [saltutil], opts: { conf_file: join(folder, 'minion') } });
    await expect(ctx.call('saltutil.runner', 'jobs.active')).rejects.toThrow('located on the master');
  });
});
