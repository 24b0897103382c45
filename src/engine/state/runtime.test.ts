// Features of a run besides ordering: warnings, parallel states, events, hooks of modules, pauses, reloading.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { pack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { defineState, p, type StateContext, type StateModule, state } from '../../extend/sdk/index.ts';
import { appliedOn, asJson, type Results, resultOf, type TestTree, YamlTreeMinion } from './testing.ts';

let minion: YamlTreeMinion | undefined;
afterEach(() => minion?.remove());

type Result = Record<string, unknown>;

function apply(sls: string, tree: Omit<TestTree, 'files'> = {}, opts: Record<string, Value> = {}): Promise<Results> {
  minion = new YamlTreeMinion({ ...tree, files: { 'base/a.sls': sls } });
  return appliedOn(minion, opts);
}
const only = (results: Record<string, Result>): Result => Object.values(results)[0]!;

/** A module whose function is the given code. */
const module = (
  run: (ctx: StateContext, args: PlainDict) => Promise<ReturnType<StateContext['ok']>>,
  more: Partial<StateModule> = {},
) =>
  defineState({
    name: 'mine',
    doc: 'for the test',
    functions: {
      go: state({
        doc: 'x',
        params: { name: p.string(), kwargs: p.kwargs() },
        run: (args, ctx) => run(ctx, args.kwargs),
      }),
    },
    ...more,
  });

describe('arguments', () => {
  it('that are unknown are reported with a suggestion, and the run continues', async () => {
    const results = await apply(
      'one:\n  test.configurable_test_state:\n    - changes: false\n    - comnent: x\n    - requre: [a]\ntwo: test.nop\n',
    );
    expect(resultOf(results, 'one')['warnings']).toEqual([
      "'comnent' and 'requre' are invalid keyword arguments for 'test.configurable_test_state'. " +
        "Did you mean 'comment' for 'comnent', 'require' for 'requre'?",
    ]);
    expect(resultOf(results, 'one')['result']).toBe(true);
    expect(resultOf(results, 'two')['result']).toBe(true);
  });

  it('of the wrong type fail only that state', async () => {
    const mine = defineState({
      name: 'mine',
      doc: 'for the test',
      functions: {
        go: state({
          doc: 'x',
          params: { name: p.string(), size: p.int() },
          run: (args, ctx) => ctx.ok(`size ${args.size}`),
        }),
      },
    });
    const results = await apply(
      "one:\n  mine.go:\n    - size: big\ntwo:\n  mine.go:\n    - size: '5'\nthree:\n  mine.go: []\n",
      { states: { mine } },
    );
    expect(resultOf(results, 'one')['comment']).toBe("go() argument 'size' must be an integer, not 'big'");
    expect(resultOf(results, 'two')['comment']).toBe('size 5');
    expect(results['mine_|-three_|-three_|-go']!['comment']).toBe('Missing parameter size for state mine.go\n');
  });
});

describe('the context of a state', () => {
  it('has the chunk, the run and the environment', async () => {
    let seen: unknown;
    const mine = module(async (ctx) => {
      seen = [
        ctx.stateId,
        ctx.sls,
        ctx.saltenv,
        ctx.low['name'],
        ctx.test,
        Object.keys(ctx.running),
        ctx.lowstate.length,
        ctx.id,
      ];
      expect(ctx.instanceId).toMatch(/^\d+$/);
      return ctx.ok('seen');
    });
    await apply('first: test.nop\nsecond:\n  mine.go:\n    - name: x\n', { states: { mine } });
    expect(seen).toEqual(['second', 'a', 'base', 'x', false, ['test_|-first_|-first_|-nop'], 2, 'm1']);
  });

  it('applies changes only outside of test=True', async () => {
    let applied = 0;
    const mine = module((ctx) =>
      ctx.change(newDict([['k', 'v']]), 'Done', {
        test: 'Would be done',
        apply: () => {
          applied++;
        },
      }),
    );
    const sls = 'one:\n  mine.go: []\n';
    expect(only(await apply(sls, { states: { mine } }, { test: true }))).toMatchObject({
      result: null,
      comment: 'Would be done',
      changes: { k: 'v' },
    });
    expect(applied).toBe(0);
    minion?.remove();
    expect(only(await apply(sls, { states: { mine } }))).toMatchObject({
      result: true,
      comment: 'Done',
      changes: { k: 'v' },
    });
    expect(applied).toBe(1);
  });

  it('uses the result of apply when it is one, and fails with its message', async () => {
    const own = module((ctx) =>
      ctx.change(newDict([['a', 1]]), 'Done', {
        test: '',
        apply: () => ctx.ok('Better', { changes: newDict([['b', 2]]) }),
      }),
    );
    expect(only(await apply('one:\n  mine.go: []\n', { states: { mine: own } }))).toMatchObject({
      comment: 'Better',
      changes: { b: 2 },
    });
    minion?.remove();
    const failing = module((ctx) =>
      ctx.change(newDict([['a', 1]]), 'Done', {
        test: '',
        apply: () => {
          throw new HaliteError('call.failed', 'no such thing');
        },
      }),
    );
    expect(only(await apply('one:\n  mine.go: []\n', { states: { mine: failing } }))).toMatchObject({
      result: false,
      comment: 'no such thing',
      changes: {},
    });
  });

  it('calls other states', async () => {
    const mine = module(async (ctx) => {
      const inner = await ctx.state('test.succeed_with_changes', { name: 'inner' });
      return ctx.ok(`inner: ${String(inner.comment)} ${inner.name}`);
    });
    expect(only(await apply('one:\n  mine.go: []\n', { states: { mine } }))['comment']).toBe('inner: Success! inner');
  });

  it('converts an exception to a failure with its message', async () => {
    const mine = module(async () => {
      throw new TypeError('broken');
    });
    const results = await apply('one:\n  mine.go: []\ntwo: test.nop\n', { states: { mine } });
    expect(resultOf(results, 'one')['comment']).toMatch(
      /^An exception occurred in this state: Traceback [\s\S]*TypeError: broken\n$/,
    );
    expect(resultOf(results, 'two')['result']).toBe(true);
  });

  it('refuses a return value that is not a result', async () => {
    const mine = module(async () => 5 as never);
    expect(only(await apply('one:\n  mine.go: []\n', { states: { mine } }))['comment']).toBe(
      'An exception occurred in this state: Malformed state return. Data must be a dictionary type.',
    );
  });
});

describe('hooks of modules', () => {
  it('initialize once, aggregate, and watch', async () => {
    const calls: string[] = [];
    const mine = module(async (ctx, args) => ctx.ok(`names ${JSON.stringify(args['all'] ?? null)}`), {
      modInit: () => {
        calls.push('init');
        return true;
      },
      modAggregate: (low, chunks) => {
        const others = chunks.filter((chunk) => chunk['aggregate'] === true && !chunk['__agg__']);
        for (const chunk of others) (chunk as PlainDict)['__agg__'] = true;
        return Object.assign(newDict(Object.entries(low)), {
          all: [low['name']!, ...others.map((chunk) => chunk['name']!)],
        });
      },
      modWatch: state({
        doc: 'x',
        params: { name: p.string(), sfun: p.string({ default: null }), kwargs: p.kwargs() },
        run: (args, ctx) => ctx.ok(`watched ${args.sfun} ${ctx.watchedFunction} ${Object.keys(ctx.requisites).join()}`),
      }),
    });
    const sls =
      'zero: test.succeed_with_changes\none:\n  mine.go:\n    - aggregate: true\ntwo:\n  mine.go:\n    - aggregate: true\n    - require:\n      - test: late\n' +
      'three:\n  mine.go:\n    - watch:\n      - test: zero\nlate: test.nop\n';
    const results = await apply(sls, { states: { mine: defineState(mine) } });
    expect(calls).toEqual(['init']);
    expect(resultOf(results, 'one')['comment']).toBe('names ["one","two"]');
    expect(resultOf(results, 'three')['comment']).toBe('watched go go watch');
    // The requisites of the combined states apply to the one that does their work too.
    expect(Number(resultOf(results, 'late')['__run_num__'])).toBeLessThan(
      Number(resultOf(results, 'one')['__run_num__']),
    );
  });

  it('report parts of their own', async () => {
    const mine = module(async (ctx) =>
      ctx.ok('whole', {
        sub_state_run: [
          newDict([
            [
              'low',
              newDict([
                ['state', 'mine'],
                ['__id__', 'part'],
                ['name', 'part'],
                ['fun', 'sub'],
              ]),
            ],
            ['changes', newDict([['x', 1]])],
            ['result', true],
            ['comment', 'a part'],
          ]),
        ],
      }),
    );
    const results = await apply('one:\n  mine.go: []\n', { states: { mine } });
    expect(results['mine_|-part_|-part_|-sub']).toMatchObject({
      comment: 'a part',
      changes: { x: 1 },
      __id__: 'one',
      __run_num__: 2,
      __state_ran__: true,
    });
    expect(results['mine_|-one_|-one_|-go']).not.toHaveProperty('sub_state_run');
  });
});

describe('parallel states', () => {
  it('run in parallel, and are awaited by dependent states', async () => {
    const order: string[] = [];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((open) => {
      release = open;
    });
    const mine = module(async (ctx) => {
      order.push(`start ${ctx.stateId}`);
      if (ctx.stateId === 'slow') await gate;
      if (ctx.stateId === 'quick') release();
      order.push(`end ${ctx.stateId}`);
      return ctx.ok(ctx.stateId);
    });
    const sls =
      'slow:\n  mine.go:\n    - parallel: true\nquick:\n  mine.go:\n    - parallel: true\nafter:\n  mine.go:\n    - require:\n      - mine: slow\n';
    const results = await apply(sls, { states: { mine } });
    expect(order).toEqual(['start slow', 'start quick', 'end quick', 'end slow', 'start after', 'end after']);
    expect(resultOf(results, 'slow')).toMatchObject({ __parallel__: true, result: true, comment: 'slow' });
    expect(resultOf(results, 'after')).not.toHaveProperty('__parallel__');
  });
});

describe('events and progress', () => {
  it('report every state to the master with state_events, and those with fire_event', async () => {
    const sls =
      'one: test.nop\ntwo:\n  test.nop:\n    - name: x\n    - fire_event: true\nthree:\n  test.nop:\n    - fire_event: my/tag\n';
    await apply(sls, { opts: { file_client: 'remote', state_events: true }, jid: '20260101000000000001' });
    expect(minion!.events.map(([tag]) => tag)).toEqual([
      'salt/job/20260101000000000001/prog/m1/0',
      'salt/state_result/20260101000000000001/m1/x',
      'salt/state_result/20260101000000000001/m1/my/tag',
    ]);
    expect(asJson(minion!.events[0]![1])).toMatchObject({ ret: { name: 'one', result: true }, len: 3 });
    expect(minion!.progress).toEqual(['1/3 test.nop one', '2/3 test.nop two', '3/3 test.nop three']);
  });

  it('are not sent without a master', async () => {
    await apply('one:\n  test.nop:\n    - fire_event: true\n', { opts: { state_events: true } });
    expect(minion!.events).toEqual([]);
  });
});

describe('reloading', () => {
  it('grains, pillar and modules are loaded again when a state requests it', async () => {
    let compiled = 0;
    const seen: Value[] = [];
    const mine = module(async (ctx) => {
      seen.push(await ctx.call('pillar.get', 'count', 0));
      return ctx.ok('x', { changes: newDict([['a', 1]]) });
    });
    await apply(
      'one:\n  mine.go:\n    - reload_pillar: true\ntwo:\n  mine.go:\n    - reload_modules: true\nthree:\n  mine.go: []\n',
      {
        states: { mine },
        minion: { compilePillar: async () => newDict([['count', ++compiled]]) },
      },
    );
    expect(seen).toEqual([1, 2, 2]);
  });
});

describe('runas', () => {
  it('of a state is the user of every command inside it', async () => {
    const mine = module(async (ctx) => {
      const out = await ctx.call('cmd.run', 'id -un').catch((error: unknown) => String(error));
      return ctx.ok(String(out));
    });
    const results = await apply('one:\n  mine.go:\n    - runas: nobody-here-at-all\ntwo:\n  mine.go: []\n', {
      states: { mine },
    });
    expect(resultOf(results, 'one')['comment']).toContain('nobody-here-at-all');
    expect(resultOf(results, 'two')['comment']).not.toContain('nobody-here-at-all');
  });
});

describe('global state conditions', () => {
  it('prevent states from running where no target matches', async () => {
    const opts = {
      global_state_conditions: newDict([
        ['test.nop', ['not m1']],
        ['cmd', ['m1']],
      ]),
    };
    const results = await apply('one: test.nop\ntwo: test.succeed_without_changes\n', { opts });
    expect(resultOf(results, 'one')).toMatchObject({
      result: null,
      comment: 'Failed to meet global state conditions. State not called.',
    });
    expect(resultOf(results, 'two')['result']).toBe(true);
  });
});

describe('umask', () => {
  it('applies while the state runs', async () => {
    const before = process.umask();
    const seen: number[] = [];
    const mine = module(async (ctx) => {
      seen.push(process.umask());
      return ctx.ok('x');
    });
    await apply("one:\n  mine.go:\n    - umask: '077'\n", { states: { mine } });
    expect(seen).toEqual([0o077]);
    expect(process.umask()).toBe(before);
  });
});

describe('pauses', () => {
  it('end a run before a state', async () => {
    const jid = '20260101000000000002';
    minion = new YamlTreeMinion({ files: { 'base/a.sls': 'one: test.nop\ntwo: test.nop\nthree: test.nop\n' }, jid });
    const folder = join(minion.folder, 'cache', 'state_pause');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, jid), pack(newDict([['two', newDict([['kill', true]])]])));
    const results = (await (await minion.open({ opts: { saltenv: 'base' } })).apply.sls(['a'], {})).return as PlainDict;
    expect(Object.keys(results)).toEqual(['test_|-one_|-one_|-nop']);
    expect(() => readFileSync(join(folder, jid))).toThrow();
  });
});

describe('requisites without end', () => {
  it('fail the state instead of running endlessly', async () => {
    const sls =
      'bz0:\n  test.nop:\n    - order: 0.5\n    - onchanges:\n      - test: cy1\ncy1:\n  test.nop:\n    - prereq:\n      - test: cz2\n    - onfail_in:\n      - test: name0\n' +
      'cz2: test.nop\nbx5:\n  test.succeed_with_changes:\n    - onchanges_any:\n      - test: cx*\ncx6:\n  test.nop:\n    - name: name0\n    - onfail_in:\n      - test: bx5\n    - prereq_in:\n      - test: bx5\n      - test: cx6\n';
    const results = await apply(sls);
    expect(Object.values(results).some((result) => result['comment'] === 'Recursive requisite found')).toBe(true);
  });
});

describe("users' own states", () => {
  it('work as plain functions', async () => {
    minion = new YamlTreeMinion({
      files: { 'base/a.sls': 'hello:\n  greet.present:\n    - greeting: Hi\n    - other: 1\n' },
    });
    mkdirSync(join(minion.folder, 'ext', 'states'), { recursive: true });
    writeFileSync(
      join(minion.folder, 'ext', 'states', 'greet.mjs'),
      `/** Greets. */
export function present(name, greeting = 'Hello') {
  return { name, changes: {}, result: true, comment: greeting + ' ' + name + ' from ' + this.stateId + ' in ' + this.sls };
}
`,
    );
    const results = asJson(
      (await (await minion.open({ opts: { saltenv: 'base' } })).apply.sls(['a'], {})).return,
    ) as Record<string, Result>;
    expect(only(results)).toMatchObject({
      result: true,
      comment: 'Hi hello from hello in a',
      warnings: ["'other' is an invalid keyword argument for 'greet.present'"],
    });
  });
});
