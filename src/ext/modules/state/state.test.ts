// The execution module `state`: its functions as jobs call them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDict, type PlainDict, type RunningJob, type Value } from 'halite/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { asJson, type TestTree, YamlTreeMinion } from '../../../engine/state/testing.ts';

let minion: YamlTreeMinion;
afterEach(() => minion.remove());

const files = {
  'base/top.sls': "base:\n  '*': [web]\n  other: [db]\n",
  'base/web.sls': 'include: [common]\npage:\n  test.succeed_with_changes:\n    - require:\n      - test: base\n',
  'base/common.sls': 'base: test.nop\n',
  'base/db.sls': 'store: test.nop\n',
  'base/bad.sls': 'one: test.fail_without_changes\n',
};
const start = (tree: Partial<TestTree> = {}): YamlTreeMinion => {
  minion = new YamlTreeMinion({ files, ...tree });
  return minion;
};
const job = (fields: Partial<RunningJob>): RunningJob => ({
  jid: '20250101000000000000',
  fun: 'state.apply',
  arg: [],
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
  user: 'root',
  pid: 77,
  ...fields,
});
const tags = (value: Value): string[] => Object.keys(value as PlainDict);

describe('applying', () => {
  it('uses the top file without names, SLS files with names', async () => {
    const whole = await start().call('state.apply');
    expect(tags(whole.return)).toEqual(['test_|-base_|-base_|-nop', 'test_|-page_|-page_|-succeed_with_changes']);
    expect([whole.retcode, whole.success, whole.out]).toEqual([0, true, 'highstate']);
    const some = await minion.call('state.apply', ['db,common']);
    expect(tags(some.return)).toEqual(['test_|-store_|-store_|-nop', 'test_|-base_|-base_|-nop']);
  });

  it('sets return codes: 2 for a failure, 1 for a compile error', async () => {
    expect((await start().call('state.apply', ['bad'])).retcode).toBe(2);
    const missing = await minion.call('state.apply', ['nothere']);
    expect([missing.return, missing.retcode]).toEqual([["No matching sls found for 'nothere' in env 'base'"], 1]);
  });

  it('accepts test in every spelling', async () => {
    for (const kwargs of [{ test: true }, { Test: true }, { TEST: 'true' }] as Record<string, Value>[]) {
      const { return: results } = await start().call('state.apply', ['web'], kwargs);
      expect((results as Record<string, PlainDict>)['test_|-page_|-page_|-succeed_with_changes']!['result']).toBeNull();
      minion.remove();
    }
    const off = await start({ opts: { test: true } }).call('state.apply', ['web'], { test: false });
    expect((off.return as Record<string, PlainDict>)['test_|-page_|-page_|-succeed_with_changes']!['result']).toBe(
      true,
    );
  });

  it('merges pillar over the minion’s own, and requires a dict', async () => {
    const tree = {
      files: { 'base/p.sls': "one:\n  test.check_pillar:\n    - present: [given, 'own:deep']\n" },
      pillar: newDict([['own', newDict([['deep', 1]])]]),
    };
    const good = await start(tree).call('state.apply', ['p'], { pillar: newDict([['given', 1]]) });
    expect(good.retcode).toBe(0);
    const bad = await minion.call('state.apply', ['p'], { pillar: 'text' });
    expect(bad.return).toBe(
      "ERROR executing 'state.apply': Pillar data must be formatted as a dictionary, unless pillar_enc is specified.",
    );
  });

  it('refuses to go on with a broken pillar unless forced', async () => {
    const pillar = newDict([['_errors', ['it is broken']]]);
    const refused = await start({ pillar }).call('state.apply', ['common']);
    expect([refused.return, refused.retcode]).toEqual([
      ['Pillar failed to render with the following messages:', 'it is broken'],
      5,
    ]);
    expect((await minion.call('state.highstate')).retcode).toBe(5);
    expect((await minion.call('state.show_sls', ['common'])).return).toBe(
      'ERROR: Pillar failed to render. Additional info follows:\n\n- it is broken',
    );
    expect((await minion.call('state.apply', ['common'], { force: true })).retcode).toBe(0);
  });

  it('omits what is excluded or clean', async () => {
    const excluded = await start().call('state.highstate', [], { exclude: 'common' });
    expect(tags(excluded.return)).toEqual(['test_|-page_|-page_|-succeed_with_changes']);
    const terse = await minion.call('state.apply', [], { terse: true });
    expect(tags(terse.return)).toEqual(['test_|-page_|-page_|-succeed_with_changes']);
  });

  it('calls nothing with mock', async () => {
    const { return: results } = await start().call('state.apply', ['bad'], { mock: true });
    expect(Object.values(results as Record<string, PlainDict>)[0]).toMatchObject({
      comment: 'Not called, mocked',
      result: true,
    });
  });

  it('applies single states, chunks, high data, templates and other top files', async () => {
    const single = await start().call('state.single', ['test.succeed_with_changes', 'foo'], { comment: 'mine' });
    expect(asJson(single.return)).toMatchObject({
      'test_|-foo_|-foo_|-succeed_with_changes': { comment: 'mine', __sls__: null, __id__: 'foo' },
    });
    expect((await minion.call('state.single', ['nodot', 'x'])).return).toBe('Invalid function passed');
    expect((await minion.call('state.single', ['test.nope', 'x'])).return).toEqual([
      "Specified state 'test.nope' was not found",
    ]);
    expect(
      asJson(
        (
          await minion.call('state.low', [
            newDict([
              ['state', 'test'],
              ['fun', 'nop'],
              ['name', 'x'],
            ]),
          ])
        ).return,
      ),
    ).toMatchObject({ name: 'x', result: true });
    const high = newDict([['x', newDict([['test', ['nop']]])]]);
    expect(tags((await minion.call('state.high', [high])).return)).toEqual(['test_|-x_|-x_|-nop']);
    expect(tags((await minion.call('state.template_str', ['y: test.nop'])).return)).toEqual(['test_|-y_|-y_|-nop']);
    expect(await minion.call('state.template_str', [''])).toMatchObject({ return: {}, retcode: 2 });
    writeFileSync(join(minion.folder, 'own.sls'), 'z: test.nop\n');
    expect(tags((await minion.call('state.template', [join(minion.folder, 'own')])).return)).toEqual([
      'test_|-z_|-z_|-nop',
    ]);
    expect((await minion.call('state.template', ['/nowhere/x'])).return).toEqual([
      'Specified SLS /nowhere/x.sls on local filesystem cannot be found.',
    ]);
  });

  it('applies one id with its requirements', async () => {
    const found = await start().call('state.sls_id', ['page', 'web']);
    expect(tags(found.return)).toEqual(['test_|-base_|-base_|-nop', 'test_|-page_|-page_|-succeed_with_changes']);
    const none = await minion.call('state.sls_id', ['nobody', 'web']);
    expect(none.return).toBe(
      "ERROR executing 'state.sls_id': No matches for ID 'nobody' found in SLS 'web' within saltenv 'base'",
    );
  });

  it('applies another top file', async () => {
    const tree = { files: { ...files, 'base/second.sls': "base:\n  '*': [db]\n" } };
    expect(tags((await start(tree).call('state.top', ['second.sls'])).return)).toEqual(['test_|-store_|-store_|-nop']);
  });

  it('keeps the last high data, and applies it again', async () => {
    await start().call('state.apply', ['web']);
    expect(existsSync(join(minion.folder, 'cache', 'highstate.cache.p'))).toBe(true);
    expect(tags((await minion.call('state.apply', ['db'], { cache: true })).return)).toContain(
      'test_|-page_|-page_|-succeed_with_changes',
    );
    expect((await minion.call('state.clear_cache')).return).toEqual(['highstate.cache.p']);
    expect(tags((await minion.call('state.apply', ['db'], { cache: true })).return)).toEqual([
      'test_|-store_|-store_|-nop',
    ]);
  });

  it('keeps a cache name inside the cache folder', async () => {
    await start().call('state.apply', ['db'], { cache_name: '../../outside' });
    expect(existsSync(join(minion.folder, 'cache', 'outside.cache.p'))).toBe(true);
    expect(existsSync(join(minion.folder, '..', 'outside.cache.p'))).toBe(false);
  });
});

describe('showing', () => {
  it('shows what would be applied', async () => {
    expect((await start().call('state.show_top')).return).toEqual(newDict([['base', ['web']]]));
    expect(tags((await minion.call('state.show_highstate')).return)).toEqual(['page', 'base']);
    const low = (await minion.call('state.show_lowstate')).return as PlainDict[];
    expect(low.map((chunk) => chunk['__id__'])).toEqual(['base', 'page']);
    expect((await minion.call('state.show_states')).return).toEqual(['common', 'web']);
    expect(tags((await minion.call('state.show_sls', ['db'])).return)).toEqual(['store']);
    expect(((await minion.call('state.show_low_sls', ['db'])).return as PlainDict[])[0]).toMatchObject({
      fun: 'nop',
      order: 10_000,
    });
    expect((await minion.call('state.sls_exists', ['db'])).return).toBe(true);
    expect((await minion.call('state.sls_exists', ['gone'])).return).toBe(false);
    expect((await minion.call('state.id_exists', ['page,base', 'web'])).return).toBe(true);
    expect((await minion.call('state.id_exists', ['page,gone', 'web'])).return).toBe(false);
    expect(asJson((await minion.call('state.show_state_usage')).return)).toMatchObject({
      base: { used: ['web'], count_all: 5, count_used: 1 },
    });
  });

  it('draws graphs', async () => {
    const dot = await start().call('state.graph');
    expect(dot.return).toContain('s0 -> s1 [label="require"];');
    expect(dot.out).toBe('txt');
    const svg = String((await minion.call('state.graph', ['web'], { format: 'svg' })).return);
    expect(svg).toMatch(/^<svg xmlns=/);
    expect(svg).toContain('test.succeed_with_changes');
    expect((await minion.call('state.graph', ['gone'])).return).toEqual([
      "No matching sls found for 'gone' in env 'base'",
    ]);
  });
});

describe('one run at a time', () => {
  it('refuses while another runs, with Salt’s message', async () => {
    const refused = await start({
      minion: { running: async () => [job({}), job({ fun: 'test.ping', jid: '20250101000000000001' })] },
    }).call('state.apply', ['db']);
    expect([refused.return, refused.retcode]).toEqual([
      [
        'The function "state.apply" is running as PID 77 and was started at 2025, Jan 01 00:00:00.000000 with jid 20250101000000000000',
      ],
      1,
    ]);
    expect((await minion.call('state.running')).return).toEqual(refused.return);
    expect((await minion.call('state.running', [true])).return).toEqual([]);
    expect((await minion.call('state.apply', ['db'], { concurrent: true })).retcode).toBe(0);
  });

  it('ignores itself', async () => {
    expect(
      (
        await start({ minion: { running: async () => [job({ jid: '20260101000000000000' })] } }).call('state.apply', [
          'db',
        ])
      ).retcode,
    ).toBe(0);
  });

  it('waits with queue until earlier runs have ended', async () => {
    let left = 2;
    const running = async (): Promise<RunningJob[]> =>
      left-- > 0 ? [job({})] : [job({ jid: '20990101000000000000' })];
    expect((await start({ minion: { running } }).call('state.apply', ['db'], { queue: true })).retcode).toBe(0);
    expect(left).toBeLessThan(0);
  });

  it('waits with a number only while fewer wait', async () => {
    const running = async (): Promise<RunningJob[]> => [job({}), job({ jid: '20250101000000000005' })];
    const refused = await start({ minion: { running } }).call('state.apply', ['db'], { queue: 2 });
    expect(refused.return).toHaveLength(2);
  });
});

describe('requests', () => {
  it('are tested, stored, run and removed', async () => {
    const tried = await start().call('state.request', ['web']);
    expect(
      (tried.return as Record<string, PlainDict>)['test_|-page_|-page_|-succeed_with_changes']!['result'],
    ).toBeNull();
    const kept = asJson((await minion.call('state.check_request')).return) as Record<string, PlainDict>;
    expect(kept['default']).toMatchObject({ mods: 'web', kwargs: { test: true } });
    const ran = await minion.call('state.run_request');
    expect((ran.return as Record<string, PlainDict>)['test_|-page_|-page_|-succeed_with_changes']!['result']).toBe(
      true,
    );
    expect(asJson((await minion.call('state.check_request')).return)).toEqual({});
    expect(asJson((await minion.call('state.run_request')).return)).toEqual({});
  });

  it('are dropped by name or all', async () => {
    await start().call('state.request', ['web'], { name: 'mine' });
    expect((await minion.call('state.clear_request', ['other'])).return).toBe(false);
    expect((await minion.call('state.clear_request', ['mine'])).return).toBe(true);
    expect(asJson((await minion.call('state.check_request')).return)).toEqual({});
    expect((await minion.call('state.clear_request')).return).toBe(true);
  });
});

describe('switching off', () => {
  it('keeps SLS files and highstates from being applied', async () => {
    const grains = newDict([
      ['id', 'm1'],
      ['shell', '/bin/sh'],
      ['state_runs_disabled', ['highstate', 'db', 'web.*']],
    ]);
    const whole = await start({ grains }).call('state.highstate');
    expect(asJson(whole.return)).toMatchObject({ comment: 'Disabled', result: 'False' });
    const one = await minion.call('state.apply', ['db']);
    expect([one.return, one.retcode]).toEqual([
      ['The state file "db" is currently disabled, to re-enable, run state.enable db.'],
      1,
    ]);
    expect((await minion.call('state.apply', ['web.nginx'])).return).toEqual([
      'The state file "web.nginx" is currently disabled by "web.*", to re-enable, run state.enable web.*.',
    ]);
    expect((await minion.call('state.list_disabled')).return).toEqual(['highstate', 'db', 'web.*']);
  });
});

describe('pausing', () => {
  it('writes the file that a run checks, and only for job ids', async () => {
    const jid = '20250101000000000000';
    await start({ minion: { running: async () => [job({ jid })] } }).call('state.pause', [jid, 'web', 5]);
    await minion.call('state.soft_kill', [jid]);
    expect(asJson((await minion.call('state.get_pauses')).return)).toEqual({
      [jid]: { web: { duration: 5 }, __all__: { kill: true } },
    });
    await minion.call('state.resume', [jid, 'web']);
    expect(asJson((await minion.call('state.get_pauses')).return)).toEqual({ [jid]: { __all__: { kill: true } } });
    await minion.call('state.resume', [jid]);
    expect(asJson((await minion.call('state.get_pauses', [jid])).return)).toEqual({ [jid]: {} });
    expect((await minion.call('state.pause', ['../../x'])).return).toContain('is not a job id');
    expect(readFileSync(join(minion.folder, 'cache', 'state_pause', jid)).length).toBeGreaterThan(0);
  });
});
