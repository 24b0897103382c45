// Three shapes of a state function in which test mode cannot be forgotten: one resource, a set of changes, a forecast.

import { isTruthy } from '../../base/codec/python/index.ts';
import { type Dict, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { StateContext, StateExtra, StateResult } from './states.ts';

type Text = string | string[];
type Awaitable<T> = T | Promise<T>;
/** A value, or how it is worked out from what is known at that point. */
type Given<T, Known> = T | ((known: Known) => T);
/** Changes as they are written in code; `resource` makes a dictionary without prototype of them. */
export type Changes = Dict | Readonly<Record<string, Value>>;

/** What is known before the change. */
export interface BeforeChange<Found, Difference> {
  readonly found: Found;
  readonly difference: Difference;
}

/** What is known after the change. */
export interface AfterChange<Found, Difference, Answer> extends BeforeChange<Found, Difference> {
  /** What `change` gave. */
  readonly answer: Answer;
  /** What is there now: found again with `recheck`, otherwise the same as `found`. */
  readonly after: Found;
}

export interface Resource<Found, Difference, Answer> {
  /** Keys of every result (`name` when it is not that of the state). */
  readonly extra?: StateExtra;
  /**
   * What is there. Reads only: it runs under test too. `again` is true when it looks what became of the change. Without
   * it there is always something to do.
   */
  find?(again: boolean): Awaitable<Found>;
  /**
   * What is not as wanted; nothing (undefined, false, '', or empty) when everything is. Without it, finding something is
   * right, or finding nothing with `wanted: false`.
   */
  compare?(found: Found): Awaitable<Difference>;
  readonly wanted?: boolean;
  /** Why it cannot be done, now that this was found: the state fails with it. */
  refuse?(found: Found): Text | undefined;
  /**
   * Brings it about; never called under test. When `failed` is given, an answer that Python takes for false (`false`,
   * null, '', empty) means that it failed. Without `done` the answer is a result made by `ctx.ok`, `ctx.fail` or
   * `ctx.result`.
   */
  change(known: BeforeChange<Found, Difference>): Awaitable<Answer>;
  /** What the answer says went wrong, when falsehood does not tell. */
  problem?(answer: Answer): Text | undefined;
  /** Finds and compares again after the change: what still differs (or an answer of `false`) means that it failed. */
  readonly recheck?: boolean;
  /** The comment when nothing has to change, */
  readonly right?: Given<Text, { readonly found: Found }>;
  /** under test when something would change, */
  readonly would: Given<Text, BeforeChange<Found, Difference>>;
  /** after the change, */
  readonly done?: Given<Text, AfterChange<Found, Difference, Answer>>;
  /** and when it failed. */
  readonly failed?: Given<Text, AfterChange<Found, Difference, Answer>>;
  /**
   * What changes: a dictionary is known beforehand and shown under test too; a function is asked after the change, and
   * test mode shows nothing unless `testChanges` says what.
   */
  readonly changes?: Given<Changes, AfterChange<Found, Difference, Answer>>;
  readonly testChanges?: Given<Changes, BeforeChange<Found, Difference>>;
  /** The comment when something throws: its message, and whether it was looked for or changed. */
  error?(message: string, during: 'find' | 'change'): string;
}

const resourceKeys: KnownKeys<Resource<never, never, never>> = {
  ...{ find: true, compare: true, wanted: true, refuse: true, change: true, problem: true, recheck: true },
  ...{ right: true, would: true, done: true, failed: true, changes: true, testChanges: true, error: true, extra: true },
};

const given = <T extends Text | Changes, Known>(value: Given<T, Known>, known: Known): T =>
  typeof value === 'function' ? value(known) : value;
const asDict = (changes: Changes): Dict => (changes instanceof Map ? changes : newDict(Object.entries(changes)));

/** Runs work whose announced failures become the comment of a failed state. */
async function guarded<T>(
  work: () => Awaitable<T>,
  failure: ((message: string) => StateResult) | undefined,
): Promise<{ value: T } | { result: StateResult }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (failure === undefined || !(error instanceof HaliteError)) throw error;
    return { result: failure(error.message) };
  }
}

/**
 * A state that finds something, compares it with what is wanted, and changes it when it differs.
 *
 * ```ts
 * run: ({ name }, ctx) =>
 *   resource(ctx, {
 *     find: () => ctx.call('aliases.get_target', name),
 *     wanted: false,
 *     change: () => ctx.call('aliases.rm_alias', name),
 *     changes: () => ({ alias: name }),
 *     right: `Alias ${name} already absent`,
 *     would: `Alias ${name} is set to be removed`,
 *     done: `Removed alias ${name}`,
 *     failed: `Failed to remove alias ${name}`,
 *   }),
 * ```
 */
export async function resource<
  Found extends Value | undefined,
  Difference extends Value | undefined = boolean,
  Answer = unknown,
>(ctx: StateContext, spec: Resource<Found, Difference, Answer>): Promise<StateResult> {
  withKnownKeys<object>('resource()', spec, resourceKeys);
  const onError = (during: 'find' | 'change') =>
    spec.error && ((message: string) => ctx.fail(spec.error?.(message, during) ?? message, spec.extra));
  const differenceOf = async (found: Found): Promise<Difference> =>
    spec.compare
      ? await spec.compare(found)
      : // Without `compare` nobody gives another type to the difference than the one it has here.
        ((isTruthy(found) !== (spec.wanted ?? true)) as Difference);

  // What there is no function for is not there.
  const find = async (again: boolean): Promise<Found> => (spec.find ? await spec.find(again) : (undefined as Found));
  const looked = await guarded(async () => {
    const found = await find(false);
    const refusal = spec.refuse?.(found);
    return refusal === undefined ? { found, difference: await differenceOf(found) } : ctx.fail(refusal, spec.extra);
  }, onError('find'));
  if ('result' in looked) return looked.result;
  if ('result' in looked.value) return looked.value;
  const known = looked.value;
  if (!isTruthy(known.difference)) return ctx.ok(given(spec.right ?? '', known), spec.extra);

  const { changes, done, failed } = spec;
  const isKnown = changes !== undefined && typeof changes !== 'function';
  const planned = isKnown ? asDict(changes) : newDict();
  const result = await ctx.change(planned, '', {
    test: given(spec.would, known),
    ...(spec.testChanges === undefined ? {} : { testChanges: asDict(given(spec.testChanges, known)) }),
    async apply() {
      const changed = await guarded(() => spec.change(known), onError('change'));
      if ('result' in changed) return changed.result;
      const answer = changed.value;
      const problem = spec.problem?.(answer);
      if (problem !== undefined) return ctx.fail(problem);
      const refused = failed !== undefined && (spec.recheck ? answer === false : !isTruthy(answer as Value));
      const after = spec.recheck && !refused ? await find(true) : known.found;
      const outcome = { ...known, answer, after };
      if (refused || (spec.recheck && isTruthy(await differenceOf(after))))
        return ctx.fail(given(failed ?? '', outcome));
      if (done === undefined) return answer;
      return ctx.ok(given(done, outcome), {
        changes: changes === undefined ? newDict() : asDict(given(changes, outcome)),
      });
    },
  });
  return Object.assign(result, spec.extra);
}

/**
 * A state whose execution function finds and changes in one go (`cron.set_job` says whether it was there): under test
 * `forecast` answers, which reads only, otherwise `apply`.
 */
export const withForecast = async <Result extends StateResult | undefined>(
  ctx: StateContext,
  forecast: () => Awaitable<Result>,
  apply: () => Awaitable<Result>,
): Promise<Result> => (ctx.test ? forecast() : apply());
