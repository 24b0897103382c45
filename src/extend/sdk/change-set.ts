// A state of several parts, each of which may have to change: one place that applies them, or only reports them under
// test.
import { isTruthy } from '../../base/codec/python/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { isFailure } from './fs/os-errors.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { Changes } from './resource.ts';
import type { StateContext, StateExtra, StateResult } from './states.ts';

export interface ChangePart {
  /**
   * Applies the change; never called under test. With `failed`, a result that is false in Python means that it failed.
   */
  readonly change?: () => unknown;
  /** Added to the changes of the state. */
  readonly changes?: Changes;
  /** The same under test, when it differs. */
  readonly testChanges?: Changes;
  /** Lines added to the comment: under test, */
  readonly would?: string;
  /** when the change is applied, */
  readonly done?: string;
  /** and when it failed; '' adds none. */
  readonly failed?: string;
}

const partKeys: KnownKeys<ChangePart> = {
  ...{ change: true, changes: true, testChanges: true },
  ...{ would: true, done: true, failed: true },
};

/** What was collected so far. */
export class ChangeSet {
  readonly changes: PlainDict = newDict();
  readonly comments: string[] = [];
  /** False when a part failed. */
  ok = true;
  /** True when a part was, or would be, changed. */
  isChanged = false;
  readonly #test: boolean;

  constructor(test: boolean) {
    this.#test = test;
  }

  /** One part that differs. True when it is changed, or would be. */
  async part(part: ChangePart): Promise<boolean> {
    withKnownKeys('set.part()', part, partKeys);
    const answer = this.#test ? true : await part.change?.();
    if (part.failed !== undefined && !isTruthy(answer as Value)) {
      this.fail(part.failed);
      return false;
    }
    this.isChanged = true;
    const text = this.#test ? part.would : part.done;
    if (text !== undefined) this.comments.push(text);
    Object.assign(this.changes, (this.#test ? part.testChanges : undefined) ?? part.changes);
    return true;
  }

  /** A part that cannot be changed: the state fails. */
  fail(comment: string): void {
    this.ok = false;
    if (comment !== '') this.comments.push(comment);
  }

  /** Work around the parts that does not count as a change itself; not done under test. */
  async run(work: () => unknown): Promise<void> {
    if (!this.#test) await work();
  }
}

export interface ChangeSetSpec {
  /** Compares part after part and passes those that differ to `set.part`. */
  each(set: ChangeSet): Promise<void>;
  /** The comment when no part has one: nothing had to change, */
  readonly right?: string | ((changes: PlainDict) => string);
  /** something would change, */
  readonly would?: string | ((changes: PlainDict) => string);
  /** something was changed, */
  readonly done?: string | ((changes: PlainDict) => string);
  /** or could not be changed. */
  readonly failed?: string;
  /** Keys of every result (`name` when it is not that of the state). */
  readonly extra?: StateExtra;
  /** The changes are not shown under test. */
  readonly hidden?: boolean;
  /** The comment when a function fails (`commandError` and the like, or an error of the operating system). */
  error?(message: string): string;
}

const changeSetKeys: KnownKeys<ChangeSetSpec> = {
  ...{ each: true, right: true, would: true, done: true },
  ...{ failed: true, extra: true, hidden: true, error: true },
};

/**
 * A state of several parts.
 *
 * ```ts
 * changeSet(ctx, {
 *   async each(set) {
 *     if (tags !== wanted)
 *       await set.part({ changes: { tags: wanted }, change: () => ctx.call('rabbitmq.set_user_tags', name, wanted) });
 *   },
 *   right: `'${name}' is already in the desired state.`,
 *   would: `Configuration for '${name}' will change.`,
 *   done: `'${name}' was configured.`,
 * })
 * ```
 */
export async function changeSet(ctx: StateContext, spec: ChangeSetSpec): Promise<StateResult> {
  withKnownKeys('changeSet()', spec, changeSetKeys);
  const set = new ChangeSet(ctx.test);
  const { changes, comments } = set;
  try {
    await spec.each(set);
  } catch (error) {
    if (spec.error === undefined || !isFailure(error)) throw error;
    return ctx.fail(spec.error(error.message), { changes, ...spec.extra });
  }
  const planned = ctx.test && set.isChanged;
  const text =
    !set.ok && spec.failed !== undefined ? spec.failed : planned ? spec.would : set.isChanged ? spec.done : spec.right;
  return ctx.result({
    result: set.ok ? (planned ? null : true) : false,
    comment: comments.length > 0 ? comments.join('\n') : ((typeof text === 'function' ? text(changes) : text) ?? ''),
    changes: planned && spec.hidden ? newDict() : changes,
    ...spec.extra,
  });
}
