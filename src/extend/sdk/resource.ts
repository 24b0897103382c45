// Three helpers for state functions in which test mode cannot be forgotten: one resource, a set of changes, a forecast.

import { isTruthy } from '../../base/codec/python/index.ts';
import { type Dict, newDict, type Value } from '../../base/codec/value.ts';
import { isFailure } from './fs/os-errors.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { StateContext, StateExtra, StateResult } from './states.ts';

type Text = string | string[];
type Awaitable<T> = T | Promise<T>;
/** A value, or a function that computes it from what is known at that point. */
type Given<T, Known> = T | ((known: Known) => T);
/** Changes as written in code; `resource` converts them to a dictionary without prototype. */
export type Changes = Dict | Readonly<Record<string, Value>>;

/** What is known before the change. */
export interface BeforeChange<Found, Difference> {
  readonly found: Found;
  readonly difference: Difference;
}

/** What is known after the change. */
export interface AfterChange<Found, Difference, Answer> extends BeforeChange<Found, Difference> {
  /** The result of `change`. */
  readonly answer: Answer;
  /** The current state: found again with `recheck`, otherwise the same as `found`. */
  readonly after: Found;
}

export interface Resource<Found, Difference, Answer> {
  /** Keys of every result (`name` when it is not that of the state). */
  readonly extra?: StateExtra;
  /**
   * Finds the current state. Read-only: it runs under test too. `again` is true when it checks the effect of the
   * change. Without it the change is always applied.
   */
  find?(again: boolean): Awaitable<Found>;
  /**
   * The difference from what is wanted; undefined, false, '' or empty when there is none. Without it, a found resource
   * is as wanted, or a missing one with `wanted: false`.
   */
  compare?(found: Found): Awaitable<Difference>;
  readonly wanted?: boolean;
  /** Why the change is impossible in the found state: the state fails with it. */
  refuse?(found: Found): Text | undefined;
  /**
   * Applies the change; never called under test. When `failed` is given, a result that is false in Python (`false`,
   * null, '', empty) means that it failed. Without `done` the result is one of `ctx.ok`, `ctx.fail` or
   * `ctx.result`.
   */
  change(known: BeforeChange<Found, Difference>): Awaitable<Answer>;
  /** The error that the result of `change` contains, when falsehood does not indicate it. */
  problem?(answer: Answer): Text | undefined;
  /**
   * Finds and compares again after the change: a remaining difference (or a result of `false`) means that it failed.
   */
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
   * The changes: a dictionary is known in advance and shown under test too; a function is called after the change, and
   * test mode shows nothing unless `testChanges` is given.
   */
  readonly changes?: Given<Changes, AfterChange<Found, Difference, Answer>>;
  readonly testChanges?: Given<Changes, BeforeChange<Found, Difference>>;
  /**
   * The comment when a function fails (`commandError` and the like, or an error of the operating system): its message,
   * and whether finding or changing failed. Any other error is a mistake in the code and is shown with its trace.
   */
  error?(message: string, during: 'find' | 'change'): string;
}

const resourceKeys: KnownKeys<Resource<never, never, never>> = {
  ...{ find: true, compare: true, wanted: true, refuse: true, change: true, problem: true, recheck: true },
  ...{ right: true, would: true, done: true, failed: true, changes: true, testChanges: true, error: true, extra: true },
};

const given = <T extends Text | Changes, Known>(value: Given<T, Known>, known: Known): T =>
  typeof value === 'function' ? value(known) : value;
const changesDict = (changes: Changes): Dict => (changes instanceof Map ? changes : newDict(Object.entries(changes)));

/** Runs work whose expected failures become the comment of a failed state. */
async function guarded<T>(
  work: () => Awaitable<T>,
  failure: ((message: string) => StateResult) | undefined,
): Promise<{ value: T } | { result: StateResult }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (failure === undefined || !isFailure(error)) throw error;
    return { result: failure(error.message) };
  }
}

/**
 * A state that finds a resource, compares it with what is wanted, and changes it when it differs.
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
      : // Without `compare` the difference has exactly this type.
        ((isTruthy(found) !== (spec.wanted ?? true)) as Difference);

  // A resource whose function does not exist is absent.
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
  const planned = isKnown ? changesDict(changes) : newDict();
  const result = await ctx.change(planned, '', {
    test: given(spec.would, known),
    ...(spec.testChanges === undefined ? {} : { testChanges: changesDict(given(spec.testChanges, known)) }),
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
        changes: changes === undefined ? newDict() : changesDict(given(changes, outcome)),
      });
    },
  });
  return Object.assign(result, spec.extra);
}

/**
 * A state, or a step of one, whose function finds and changes at once (`cron.set_job` returns whether the job existed):
 * under test `forecast` is called, which only reads, otherwise `apply`.
 */
export const withForecast = async <Result>(
  ctx: StateContext,
  forecast: () => Awaitable<Result>,
  apply: () => Awaitable<Result>,
): Promise<Result> => (ctx.test ? forecast() : apply());
