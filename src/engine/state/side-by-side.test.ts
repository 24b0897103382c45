// Parallel states, disabled states and events that the master does not accept: they do not affect the rest of the run.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { defineState, p, type StateContext, type StateResult, state } from '../../extend/sdk/index.ts';
import { appliedOn, type Results, resultOf, type TestTree, YamlTreeMinion } from './testing.ts';

let minion: YamlTreeMinion | undefined;
afterEach(() => minion?.remove());

function apply(sls: string, tree: Omit<TestTree, 'files'> = {}, opts: Record<string, Value> = {}): Promise<Results> {
  minion = new YamlTreeMinion({ ...tree, files: { 'base/a.sls': sls } });
  return appliedOn(minion, opts);
}

/** A module `mine` whose function `go` is the given code. */
const mine = (run: (ctx: StateContext, kwargs: PlainDict) => Promise<StateResult>) => ({
  mine: defineState({
    name: 'mine',
    doc: 'for the test',
    functions: {
      go: state({
        doc: 'x',
        params: { name: p.string(), kwargs: p.kwargs() },
        run: (args, ctx) => run(ctx, args.kwargs),
      }),
    },
  }),
});

describe('parallel states', () => {
  it('are retried independently, and report the later attempts', async () => {
    let times = 0;
    const states = mine(async (ctx) => (++times < 3 ? ctx.fail(`try ${times}`) : ctx.ok('works')));
    const sls = 'one:\n  mine.go:\n    - parallel: true\n    - retry: {attempts: 2, interval: 0}\n';
    expect(resultOf(await apply(sls, { states }), 'one')).toMatchObject({
      result: true,
      __parallel__: true,
      comment:
        'try 1\nAttempt 1: Returned a result of "False", with the following comment: "try 2"\n' +
        'Attempt 2: Returned a result of "True", with the following comment: "works"',
    });
    times = -5;
    expect(resultOf(await apply(sls, { states }), 'one')).toMatchObject({ result: false });
    expect(times).toBe(-2);
  });

  it('without a result fail alone', async () => {
    const states = mine(async () => null as never);
    const results = await apply('one:\n  mine.go:\n    - parallel: true\ntwo:\n  test.nop: []\n', { states });
    expect(resultOf(results, 'one')['comment']).toMatch(/Malformed state return/);
    expect(resultOf(results, 'two')).toMatchObject({ result: true });
  });

  it('have ended when another one has failed hard behind a requisite', async () => {
    const states = mine(async (ctx) => {
      await sleep(50);
      return ctx.ok('done');
    });
    const results = await apply(
      'slow:\n  mine.go:\n    - parallel: true\nneeds:\n  test.nop:\n    - require:\n      - test: fails\n' +
        'fails:\n  test.fail_without_changes:\n    - failhard: true\nlate: test.nop\n',
      { states },
    );
    expect(resultOf(results, 'slow')).toMatchObject({ result: true, comment: 'done', __parallel__: true });
    expect(resultOf(results, 'late')).toBeUndefined();
  });

  it('do not change the umask of the process, and end before it is changed', async () => {
    const seen: Record<string, string> = {};
    const states = mine(async (ctx) => {
      const before = process.umask();
      await sleep(30);
      seen[ctx.stateId] = `${before.toString(8)} ${process.umask().toString(8)}`;
      return ctx.ok('done');
    });
    const own = process.umask(0o22);
    try {
      await apply(
        "one:\n  mine.go:\n    - parallel: true\n    - umask: '077'\ntwo:\n  mine.go:\n    - parallel: true\n" +
          "three:\n  mine.go:\n    - umask: '027'\nfour:\n  mine.go: []\n",
        { states },
      );
      expect(process.umask()).toBe(0o22);
    } finally {
      process.umask(own);
    }
    expect(seen).toEqual({ one: '22 22', two: '22 22', three: '27 27', four: '22 22' });
  });

  it('do not decide conditions of other states by their return codes', async () => {
    const states = mine(async (ctx) => {
      for (let i = 0; i < 20; i++) {
        ctx.setRetcode(1);
        await sleep(2);
      }
      return ctx.ok('done');
    });
    const check = '    - onlyif:\n      - fun: test.sleep\n        length: 0.02\n';
    const results = await apply(`one:\n  mine.go:\n    - parallel: true\ntwo:\n  test.nop:\n${check}`, { states });
    expect(resultOf(results, 'two')).toMatchObject({ result: true, comment: 'Success!' });
  });
});

describe('disabled states', () => {
  it('are not found by requisites and listeners', async () => {
    const grains = newDict([
      ['id', 'm1'],
      ['state_runs_disabled', ['test.succeed_with_changes']],
    ]);
    const results = await apply(
      'gone:\n  test.succeed_with_changes: []\nneeds:\n  test.nop:\n    - require:\n      - test: gone\n' +
        'listens:\n  test.nop:\n    - listen:\n      - test: gone\n',
      { grains },
    );
    expect(results['test_|-gone_|-gone_|-succeed_with_changes']).toMatchObject({ result: false, __run_num__: 0 });
    expect(resultOf(results, 'needs')['comment']).toMatch(/^The following requisites were not found/);
    expect(results['Listen_Error_|-listen_gone_|-listen_test_|-Listen_Error']).toMatchObject({ result: false });
  });
});

describe('events', () => {
  it('of a master that does not accept them delay the run once, not once per state', async () => {
    let asked = 0;
    const fire = async (): Promise<boolean> => {
      asked++;
      await sleep(200);
      return false;
    };
    const sls = Array.from({ length: 50 }, (_, at) => `s${at}: test.nop\n`).join('');
    const results = await apply(sls, { opts: { file_client: 'remote', state_events: true }, minion: { fire } });
    expect(Object.keys(results).length).toBe(50);
    expect(asked).toBeLessThan(50);
  });
});

describe('texts', () => {
  it('show rendered dicts as Salt does', async () => {
    const list = async (sls: string): Promise<unknown> => (await apply(sls)) as unknown;
    expect(await list('one:\n  test.nop:\n    - require:\n      - test: {x: 1}\n')).toEqual([
      'Illegal requisite "OrderedDict([(\'x\', 1)])", please check your syntax.\n',
    ]);
    expect(await list('one:\n  test.nop:\n    - require:\n      - [{test: [y]}]\n')).toEqual([
      "Requisite declaration [OrderedDict([('test', ['y'])])] in SLS a is not formed as a single key dictionary",
    ]);
  });

  it('of conditions are a list inside what is said about retries', async () => {
    const sls = 'one:\n  test.nop:\n    - creates: /\n    - retry: {attempts: 2, interval: 0}\n';
    expect(resultOf(await apply(sls, {}, { test: true }), 'one')['comment']).toMatch(
      /^\['\/ exists'\] {2}The state would/,
    );
  });

  it('of slots may have blanks before the sign that appends', async () => {
    const comment = (slot: string): string => `one:\n  test.configurable_test_state:\n    - comment: ${slot}\n`;
    const good = await apply(comment('"__slot__:salt:test.echo(a) ~ /b"'));
    expect(resultOf(good, 'one')['comment']).toBe('a/b');
    const bad = await apply(comment('"__slot__:salt:test.echo(a)path"'));
    expect(resultOf(bad, 'one')).toMatchObject({ result: false });
  });
});
