// The context of a state for functions of `file` that do a part of the work of the state `file.managed`.
import { type ModuleContext, newDict, type StateContext, type StateExtra, type StateResult } from 'halite/sdk';

/** Uses the files of `saltenv`; results are plain maps, because the functions return them. */
export function asState(ctx: ModuleContext, saltenv: string, name = ''): StateContext {
  const result = (fields: StateExtra): StateResult =>
    newDict([
      ['name', fields['name'] ?? name],
      ['changes', fields['changes'] ?? newDict()],
      ['comment', fields['comment'] ?? ''],
      ['result', fields['result'] ?? null],
    ]) as unknown as StateResult;
  const fail = (comment: string | string[], extra: StateExtra = {}): StateResult =>
    result({ ...extra, comment, result: false });
  // These functions do not use the rest of a state's context (its chunk, its run).
  return Object.assign(Object.create(ctx) as StateContext, { saltenv, result, fail });
}
