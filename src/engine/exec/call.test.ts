import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { Loader } from '../../extend/loader/index.ts';
import { defineModule, fn, type MinionServices, p } from '../../extend/sdk/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../../protocol/wire/messages/job.ts';
import { returnMessage } from '../../protocol/wire/messages/job-return.ts';
import { executeJob } from './call.ts';
import { CommandNotFoundError } from './errors.ts';
import { jobReturn } from './return-load.ts';
import type { Runtime } from './runtime.ts';

const demo = defineModule({
  name: 'demo',
  doc: 'Demonstrates.',
  functions: {
    ping: fn({ doc: 'Returns True.', examples: ["salt '*' demo.ping"], run: () => true }),
    echo: fn({ doc: 'Returns its argument.', params: { text: p.any() }, run: ({ text }) => text }),
    arg: fn({
      doc: 'Shows.',
      params: { args: p.rest(), kwargs: p.kwargs() },
      run: ({ args, kwargs }) =>
        newDict([
          ['args', args],
          ['kwargs', kwargs],
        ]),
    }),
    code: fn({ doc: '', params: { code: p.int() }, run: ({ code }, ctx) => void ctx.setRetcode(code) }),
    nothing: fn({ doc: '', run: () => undefined }),
    shown: fn({ doc: '', outputter: 'txt', run: () => 'x' }),
    failed: fn({ doc: '', run: () => newDict([['result', false]]) }),
    unsuccessful: fn({ doc: '', run: () => newDict([['success', '']]) }),
    raise: fn({
      doc: '',
      params: { kind: p.string() },
      run: ({ kind }) => {
        throw errors[kind]!;
      },
    }),
    across: fn({ doc: '', run: (_args, ctx) => ctx.callWith<string>('demo.echo', [], newDict([['text', 'there']])) }),
    deep: fn({ doc: '', run: (_args, ctx) => ctx.call<string>('demo.code', 9) }),
    lost: fn({ doc: '', run: (_args, ctx) => ctx.call<string>('demo.nothere') }),
  },
});
const errors: Record<string, Error> = {
  failed: new HaliteError('call.failed', 'it did not work'),
  invocation: new HaliteError('call.arguments', 'not like that'),
  client: new HaliteError('wire.timeout', 'no master'),
  missing: new CommandNotFoundError('lvm'),
  type: new TypeError('x is not a function'),
  plain: new Error('boom'),
};

function runtime(opts: Record<string, Value> = {}, pillar: PlainDict = newDict()): Runtime {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const table = { modules: { demo: { load: async () => ({ default: demo }) } } };
  return {
    id: 'm1',
    loader: new Loader({ opts: () => opts, grains: () => newDict(), log, userCode: 'import', builtin: table }),
    log,
    minion: {} as MinionServices,
    opts: () => opts,
    grains: () => newDict(),
    pillar: () => pillar,
    exec: () => Promise.reject(new Error('no programs here')),
    match: async () => true,
  };
}
const published = (fields: Record<string, Value>): PublishedJob => {
  const job = readPublishedJob(newDict(Object.entries({ tgt: '*', ...fields })));
  if (isProblem(job)) throw new Error(job.problem);
  return job;
};
const run = (
  fun: Value,
  arg: Value[] = [],
  more: { opts?: Record<string, Value>; pillar?: PlainDict; job?: Record<string, Value> } = {},
) =>
  executeJob(runtime(more.opts, more.pillar), {
    job: published({ jid: '20200101000000000001', fun, arg, ...more.job }),
    signal: new AbortController().signal,
    progress: () => undefined,
    retcode: 0,
  });

describe('outcomes, in the words of a Salt minion', () => {
  it('of functions that work', async () => {
    expect(await run('demo.ping')).toEqual({ return: true, retcode: 0, success: true });
    expect(await run('demo.nothing')).toEqual({ return: null, retcode: 0, success: true });
    expect(await run('demo.shown')).toEqual({ return: 'x', retcode: 0, success: true, out: 'txt' });
    expect(await run('demo.across')).toMatchObject({ return: 'there', success: true });
  });

  it('of functions that report failure', async () => {
    expect(await run('demo.code', [3])).toEqual({ return: null, retcode: 3, success: false });
    expect(await run('demo.deep')).toMatchObject({ retcode: 9 });
    expect(await run('demo.failed')).toMatchObject({ retcode: 1, success: false });
    expect(await run('demo.unsuccessful')).toMatchObject({ retcode: 1, success: false });
  });

  it.each([
    ['failed', 'ERROR: it did not work'],
    ['invocation', "ERROR executing 'demo.raise': not like that"],
    ['client', "ERROR executing 'demo.raise': no master"],
    ['missing', "Command required for 'demo.raise' not found: lvm"],
  ])('of functions that raise %s', async (kind, text) => {
    expect(await run('demo.raise', [kind])).toEqual({ return: text, retcode: 1, success: false, out: 'nested' });
  });

  it('of functions with a defect', async () => {
    expect((await run('demo.raise', ['plain'])).return).toMatch(
      /^The minion function caused an exception: Traceback \(most recent call last\):\n {2}File "[\s\S]*\nException: boom\n$/,
    );
    expect((await run('demo.raise', ['type'])).return).toMatch(/\nTypeError: x is not a function\n$/);
  });

  it('of errors with names of Python and Salt', async () => {
    const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
    errors['pythonType'] = named('TypeError', 'not that');
    errors['noProgram'] = Object.assign(new HaliteError('call.failed', 'no dig'), { name: 'CommandNotFoundError' });
    expect((await run('demo.raise', ['pythonType'])).return).toBe('Passed invalid arguments to demo.raise: not that\n');
    expect((await run('demo.raise', ['noProgram'])).return).toBe("Command required for 'demo.raise' not found: no dig");
  });

  it('of wrong arguments', async () => {
    const doc = '\n\n    Returns its argument.\n    ';
    expect((await run('demo.echo')).return).toBe(
      `Passed invalid arguments to demo.echo: echo() missing 1 required positional argument: 'text'${doc}`,
    );
    expect((await run('demo.ping', ['a', 'b', 'c'])).return).toContain(
      'ping() takes 0 positional arguments but 3 were given\n',
    );
    expect(
      (
        await run('demo.ping', [
          newDict([
            ['__kwarg__', true],
            ['a', 1],
          ]),
        ])
      ).return,
    ).toBe("ERROR executing 'demo.ping': The following keyword arguments are not valid: a=1");
  });

  it('of functions that do not exist', async () => {
    expect(await run('no.such')).toEqual({
      return: "'no.such' is not available.",
      retcode: 1,
      success: false,
      out: 'nested',
    });
    const docs = (await run('demo.pin')).return as PlainDict;
    expect(docs['demo.ping']).toBe("\n    Returns True.\n\n    CLI Example:\n\n        salt '*' demo.ping\n    ");
    expect(docs['demo.pin']).toBe("'demo.pin' is not available.");
    expect((await run('demo.lost')).return).toContain("'demo.nothere' is not available.");
  });

  it('gives the published job to functions that take any keyword', async () => {
    const shown = (
      await run(
        'demo.arg',
        [
          1,
          newDict([
            ['__kwarg__', true],
            ['a', 'b'],
          ]),
        ],
        { job: { user: 'root' } },
      )
    ).return as PlainDict;
    expect(shown['args']).toEqual([1]);
    expect(Object.keys(shown['kwargs'] as PlainDict)).toEqual([
      'a',
      '__pub_fun',
      '__pub_arg',
      '__pub_tgt',
      '__pub_jid',
      '__pub_tgt_type',
      '__pub_user',
    ]);
  });

  it('hides the job from functions that the master runs on itself', async () => {
    const { return: shown } = await run('demo.arg', [1], { opts: { __role: 'master' } });
    expect(shown).toEqual({ args: [1], kwargs: {} });
  });

  it('respects a blackout and its exceptions, and reports that executors are missing', async () => {
    const pillar = newDict([
      ['minion_blackout', true],
      ['minion_blackout_whitelist', ['demo.ping']],
    ]);
    expect((await run('demo.echo', [1], { pillar })).return).toContain('Minion in blackout mode');
    expect((await run('demo.ping', [], { pillar })).return).toBe(true);
    expect((await run('demo.ping', [], { job: { module_executors: ['docker'] } })).return).toContain(
      "Executor 'docker' is not available",
    );
    expect((await run('demo.ping', [], { opts: { module_executors: ['direct_call'] } })).return).toBe(true);
  });
});

describe('jobs with several functions', () => {
  const arg: Value[] = [[], [7], [], []];
  const funs = ['demo.ping', 'demo.code', 'no.such', 'demo.nothing'];

  it('return a map per field', async () => {
    const outcome = await run(funs, arg);
    expect(outcome.return).toEqual(
      newDict([
        ['demo.ping', true],
        ['demo.code', null],
        ['no.such', "'no.such' is not available."],
        ['demo.nothing', null],
      ]),
    );
    expect(outcome.retcode).toEqual(
      newDict([
        ['demo.ping', 0],
        ['demo.code', 7],
        ['no.such', 1],
        ['demo.nothing', 0],
      ]),
    );
    expect(outcome.success).toEqual(
      newDict([
        ['demo.ping', true],
        ['demo.code', false],
        ['no.such', false],
        ['demo.nothing', true],
      ]),
    );
  });

  it('return lists with multifunc_ordered', async () => {
    expect((await run(funs, arg, { opts: { multifunc_ordered: true } })).retcode).toEqual([0, 7, 1, 0]);
  });
});

describe('the return load', () => {
  it('has the fields and order of a real minion', async () => {
    const job = published({ fun: 'demo.ping', arg: [1], jid: '1', ret: '', user: 'root', metadata: { a: 1 } });
    const load = returnMessage(jobReturn('m1', job, await run('demo.shown')));
    expect(Object.keys(load)).toEqual([
      'cmd',
      'id',
      'success',
      'return',
      'retcode',
      'jid',
      'fun',
      'fun_args',
      'user',
      'metadata',
      'out',
    ]);
  });
});
