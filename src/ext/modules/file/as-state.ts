// The context of a state for functions of `file` that do a part of what the state `file.managed` does.
import { type ModuleContext, newDict, type StateContext, type StateExtra, type StateResult } from 'halite/sdk';

/** Files of `saltenv`; results are plain maps, as the functions answer them. */
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
  // The rest of a state's context (its chunk, its run) is not asked for by what these functions use.
  return Object.assign(Object.create(ctx) as StateContext, { saltenv, result, fail });
}
