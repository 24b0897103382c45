// The outcome of applying states, in the form that the execution module `state` returns.
import type { Dict, Value } from '../../base/codec/value.ts';
import type { Applied } from '../../extend/sdk/index.ts';
import { checkResult } from './check-result.ts';
import type { High } from './data.ts';

const compilerError = 1;
export const stateFailure = 2;

export const shownAs = (value: Value, retcode = 0): Applied => ({ return: value, retcode });

/** Nothing was applied: the reasons. */
export const refused = (errors: readonly Value[]): Applied => shownAs([...errors], compilerError);

/** Results by tag: one failure makes the whole fail, unless `high` declares that it was expected. */
export const judged = (value: Dict, high?: High): Applied =>
  shownAs(value, checkResult(value, high) ? 0 : stateFailure);
