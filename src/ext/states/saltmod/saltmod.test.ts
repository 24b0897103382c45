// The results of `salt.state` and `salt.function` for answers of minions.
import { newDict, type PlainDict, type StateContext, type StateResult, type Value } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { functionFunction } from './function.ts';
import { stateFunction } from './state.ts';

/** A state's context whose master gives these answers. */
function contextOf(returns: Record<string, Value>): StateContext {
  const made = (fields: object): StateResult =>
    Object.assign(newDict(Object.entries({ name: 'step', result: true, comment: '' })), fields) as StateResult;
  const answered = Object.fromEntries(Object.entries(returns).map(([id, ret]) => [id, { ret, retcode: 0 }]));
  const context = {
    opts: newDict(),
    low: newDict(),
    test: false,
    result: made,
    fail: (comment: string, fields: object = {}) => made({ ...fields, comment, result: false }),
    master: {
      fireEvent: async () => undefined,
      runJob: async () => ({ jid: '20260101000000000000', returns: answered, missing: {} }),
    },
  };
  return context as unknown as StateContext;
}

const asked: PlainDict = newDict(
  Object.entries({
    ...{ name: 'step', tgt: '*', ssh: false, tgt_type: 'glob', ret: '', ret_config: null, ret_kwargs: null },
    ...{ fail_minions: null, timeout: null, batch: null, subset: null, failhard: null, expect_minions: true },
  }),
);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('an answer of None', () => {
  it('is shown unchanged by salt.function, and is not a failure', async () => {
    const args = { ...asked, name: 'some.fun', fail_function: null, arg: null, kwarg: null, kwargs: newDict() };
    const result = await functionFunction.run(args as never, contextOf({ m1: null, m2: true }));
    expect(plain(result)).toMatchObject({
      result: true,
      comment: 'Function ran successfully. Function some.fun ran on m1, m2.',
      changes: { ret: { m1: null, m2: true } },
    });
  });

  it('is a failure of salt.state that is shown unchanged', async () => {
    const args = { ...asked, sls: 'web', highstate: null, top: null, allow_fail: 0, concurrent: false, test: null };
    const more = { pillar: null, pillarenv: null, saltenv: null, exclude: null, queue: false };
    const result = await stateFunction.run({ ...args, ...more } as never, contextOf({ m1: null }));
    expect(plain(result)).toMatchObject({
      result: false,
      comment: 'Run failed on minions: m1\nMinion m1 returned None instead of a state result.',
      changes: { out: 'highstate', ret: { m1: null } },
    });
  });
});
