// Execution functions for returners that include the result of one (`failure_function` of highstate).
import { newDict, type Value } from '../../../base/codec/value.ts';
import { createContext, type Runtime } from '../runtime.ts';

export function callForReturner(runtime: Runtime, fun: string, args: readonly Value[]): Promise<Value> {
  const { signal } = new AbortController();
  const context = createContext(runtime, {
    shown: newDict([['fun', fun]]),
    signal,
    progress: () => undefined,
    retcode: 0,
  });
  return context.callWith(fun, args, newDict());
}
