// Provides the state engine to contexts; the engine itself is loaded on first use.
import type { StateServices } from '../../extend/sdk/index.ts';
import type { JobState, Runtime } from '../exec/index.ts';

/** What `ctx.states` is: give it to the runtime as `states`. */
export function provideStates(runtime: Runtime, state: JobState): StateServices {
  return {
    async open(request) {
      const { openRun } = await import('./open.ts');
      return openRun(runtime, state, request);
    },
  };
}
