// The helpers for state functions: what they call and report under test, on a change, without a change, and on failure.
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { changeSet, resource, type StateContext, type StateResult, withForecast } from './index.ts';

/** The part of a state context that these functions use. */
function contextFor(test: boolean): StateContext {
  const built = new WeakSet<object>();
  const make = (fields: Record<string, unknown>): StateResult => {
    const made = { name: 'x', changes: newDict(), result: true, comment: '', ...fields } as StateResult;
    built.add(made);
    return made;
  };
  const context: Pick<StateContext, 'test' | 'ok' | 'fail' | 'result' | 'change'> = {
    test,
    ok: (comment, extra) => make({ comment, ...extra }),
    fail: (comment, extra) => make({ comment, result: false, ...extra }),
    result: (fields) => make(fields),
    async change(changes, comment, plan) {
      if (test) return make({ result: null, comment: plan.test, changes: plan.testChanges ?? changes });
      const done = await plan.apply();
      return typeof done === 'object' && done !== null && built.has(done)
        ? (done as StateResult)
        : make({ comment, changes });
    },
  };
  return context as StateContext;
}

const shown = ({ result, comment, changes }: StateResult): unknown => [result, comment, { ...changes }];

/** A resource that exists or not, and a state that manages it. */
function thing(start: Value, answer: Value = true) {
  const world = { value: start, calls: 0 };
  const state = (ctx: StateContext, more: Partial<Parameters<typeof resource<Value, boolean, Value>>[1]> = {}) =>
    resource<Value, boolean, Value>(ctx, {
      find: () => world.value,
      change() {
        world.calls++;
        if (answer) world.value = 'there';
        return answer;
      },
      changes: () => ({ new: 'there' }),
      right: 'already there',
      would: 'would be made',
      done: 'made',
      failed: 'not made',
      ...more,
    });
  return { world, state };
}

describe('resource', () => {
  it('does nothing when the resource is as wanted', async () => {
    const { world, state } = thing('there');
    expect(shown(await state(contextFor(false)))).toEqual([true, 'already there', {}]);
    expect(shown(await state(contextFor(true)))).toEqual([true, 'already there', {}]);
    expect(world.calls).toBe(0);
  });

  it('changes nothing under test, and reports what it would do', async () => {
    const { world, state } = thing(null);
    expect(shown(await state(contextFor(true)))).toEqual([null, 'would be made', {}]);
    expect(world.calls).toBe(0);
  });

  it('shows changes under test that are known beforehand, or named for it', async () => {
    const { state } = thing(null);
    expect(shown(await state(contextFor(true), { changes: { new: 'x' } }))).toEqual([
      null,
      'would be made',
      { new: 'x' },
    ]);
    expect(shown(await state(contextFor(true), { testChanges: ({ found }) => ({ old: found }) }))).toEqual([
      null,
      'would be made',
      { old: null },
    ]);
  });

  it('changes what differs', async () => {
    const { world, state } = thing(null);
    expect(shown(await state(contextFor(false)))).toEqual([true, 'made', { new: 'there' }]);
    expect(world).toEqual({ value: 'there', calls: 1 });
  });

  it('fails when the result says so, or when the change had no effect', async () => {
    expect(shown(await thing(null, false).state(contextFor(false)))).toEqual([false, 'not made', {}]);
    const idle = thing(null);
    const result = await idle.state(contextFor(false), { change: () => true, recheck: true });
    expect(shown(result)).toEqual([false, 'not made', {}]);
  });

  it('passes the resource after the change to the texts and changes', async () => {
    const { state } = thing('old');
    const result = await state(contextFor(false), {
      compare: (found) => found !== 'there',
      recheck: true,
      changes: ({ found, after }) => ({ old: found, new: after }),
      done: ({ answer }) => `made: ${String(answer)}`,
    });
    expect(shown(result)).toEqual([true, 'made: true', { old: 'old', new: 'there' }]);
  });

  it('removes a resource that is not wanted', async () => {
    const { state } = thing('there');
    expect(shown(await state(contextFor(false), { wanted: false }))).toEqual([true, 'made', { new: 'there' }]);
    expect(shown(await thing(null).state(contextFor(false), { wanted: false }))).toEqual([true, 'already there', {}]);
  });

  it('refuses what cannot be done, also under test', async () => {
    const { world, state } = thing(null);
    expect(shown(await state(contextFor(true), { refuse: () => 'cannot be' }))).toEqual([false, 'cannot be', {}]);
    expect(world.calls).toBe(0);
  });

  it('reports expected failures in its comment, and rethrows errors in the code', async () => {
    const { state } = thing(null);
    const error = (message: string, during: string): string => `${during}: ${message}`;
    const find = (): never => {
      throw new HaliteError('call.failed', 'gone');
    };
    expect(shown(await state(contextFor(false), { find, error }))).toEqual([false, 'find: gone', {}]);
    expect(shown(await state(contextFor(false), { change: find, error }))).toEqual([false, 'change: gone', {}]);
    const wrong = (): never => {
      throw new TypeError('a mistake');
    };
    await expect(state(contextFor(false), { change: wrong, error })).rejects.toThrow('a mistake');
  });

  it('fails with the error that the result contains', async () => {
    const { state } = thing(null);
    const problem = (answer: Value): string => `said ${String(answer)}`;
    expect(shown(await state(contextFor(false), { problem }))).toEqual([false, 'said true', {}]);
  });

  it('searches only once more after a change, and not when it was refused', async () => {
    const looks: boolean[] = [];
    const spec = (answer: boolean) => ({
      find: (again: boolean) => looks.push(again) > 1,
      change: () => answer,
      recheck: true,
      would: '',
      done: 'made',
      failed: 'not made',
    });
    expect(shown(await resource(contextFor(false), spec(true)))).toEqual([true, 'made', {}]);
    expect(looks.splice(0)).toEqual([false, true]);
    expect(shown(await resource(contextFor(false), spec(false)))).toEqual([false, 'not made', {}]);
    expect(looks).toEqual([false]);
  });

  it('always applies the change when there is no find', async () => {
    const always = { change: () => true, would: 'would run', done: 'ran' };
    expect(shown(await resource(contextFor(true), always))).toEqual([null, 'would run', {}]);
    expect(shown(await resource(contextFor(false), always))).toEqual([true, 'ran', {}]);
  });

  it('uses a result of the change unchanged, and adds keys to every result', async () => {
    const ctx = contextFor(false);
    const { world } = thing(null);
    const result = await resource(ctx, {
      find: () => world.value,
      change: () => ctx.fail('half done', { changes: newDict([['half', true]]) }),
      right: '',
      would: '',
      extra: { name: 'other' },
    });
    expect([result.name, ...(shown(result) as unknown[])]).toEqual(['other', false, 'half done', { half: true }]);
  });
});

describe('changeSet', () => {
  const texts = { right: 'fine', would: 'would change', done: 'changed' };
  const two = (ctx: StateContext, calls: string[], second: Value = true) =>
    changeSet(ctx, {
      async each(set) {
        await set.part({ changes: { a: 1 }, change: () => calls.push('a') });
        await set.part({ changes: { b: 2 }, change: () => calls.push('b') && second, failed: 'no b' });
      },
      ...texts,
    });

  it('applies part after part, and only reports them under test', async () => {
    const calls: string[] = [];
    expect(shown(await two(contextFor(true), calls))).toEqual([null, 'would change', { a: 1, b: 2 }]);
    expect(calls).toEqual([]);
    expect(shown(await two(contextFor(false), calls))).toEqual([true, 'changed', { a: 1, b: 2 }]);
    expect(calls).toEqual(['a', 'b']);
  });

  it('fails when a part does, and keeps the changes of the others', async () => {
    expect(shown(await two(contextFor(false), [], false))).toEqual([false, 'no b', { a: 1 }]);
  });

  it('changes nothing when no part differs', async () => {
    expect(shown(await changeSet(contextFor(false), { each: async () => {}, ...texts }))).toEqual([true, 'fine', {}]);
  });

  it('keeps the changes made before an error was thrown', async () => {
    const result = await changeSet(contextFor(false), {
      async each(set) {
        await set.part({ changes: { a: 1 } });
        throw new HaliteError('call.failed', 'gone');
      },
      ...texts,
      error: (message) => `Error: ${message}`,
    });
    expect(shown(result)).toEqual([false, 'Error: gone', { a: 1 }]);
  });

  it('hides changes under test, and does the work around the parts only outside of test mode', async () => {
    const work: string[] = [];
    const run = (ctx: StateContext) =>
      changeSet(ctx, {
        async each(set) {
          await set.run(() => work.push('around'));
          await set.part({ changes: { a: 1 }, testChanges: { a: 'planned' } });
        },
        would: (changes) => `would change ${Object.values(changes).join()}`,
        hidden: true,
        extra: { name: 'other' },
      });
    expect(shown(await run(contextFor(true)))).toEqual([null, 'would change planned', {}]);
    expect(work).toEqual([]);
    const done = await run(contextFor(false));
    expect([done.name, ...(shown(done) as unknown[]), ...work]).toEqual(['other', true, '', { a: 1 }, 'around']);
  });

  it('has one comment for all parts that failed', async () => {
    const each = async (set: Parameters<Parameters<typeof changeSet>[1]['each']>[0]): Promise<void> => {
      await set.part({ change: () => false, failed: '' });
    };
    const result = await changeSet(contextFor(false), { each, ...texts, failed: 'not all could be changed' });
    expect(shown(result)).toEqual([false, 'not all could be changed', {}]);
  });

  it('joins the comments of its parts', async () => {
    const each = async (set: Parameters<Parameters<typeof changeSet>[1]['each']>[0]): Promise<void> => {
      await set.part({ would: 'a would go', done: 'a went' });
      set.comments.push('b stays');
    };
    expect(shown(await changeSet(contextFor(true), { each }))).toEqual([null, 'a would go\nb stays', {}]);
    expect(shown(await changeSet(contextFor(false), { each }))).toEqual([true, 'a went\nb stays', {}]);
  });
});

describe('withForecast', () => {
  it('calls only the forecast under test', async () => {
    const run = (ctx: StateContext) =>
      withForecast(
        ctx,
        () => ctx.ok('forecast'),
        () => ctx.ok('applied'),
      );
    expect([(await run(contextFor(true))).comment, (await run(contextFor(false))).comment]).toEqual([
      'forecast',
      'applied',
    ]);
  });
});
