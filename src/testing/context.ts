// The context of execution functions, for tests of modules.
import type { FileClient, ModuleContext, Registry } from '../extend/sdk/index.ts';
import { TestMinion, type TestMinionOptions } from './minion.ts';

export interface TestContextOptions extends Omit<TestMinionOptions, 'context'> {
  readonly files?: FileClient;
  readonly registry?: Partial<Registry>;
  readonly match?: ModuleContext['match'];
  readonly render?: ModuleContext['render'];
}

export interface TestContext extends ModuleContext {
  /** What its functions set and wrote: the return code, lines of progress, log messages. */
  readonly state: {
    retcode: number;
    readonly progress: readonly string[];
    readonly logged: readonly string[];
  };
}

/** The engine's context on a test minion; with `modules`, only these are available. */
export function testContext(options: TestContextOptions = {}): TestContext {
  const { files, registry, match, render, ...rest } = options;
  const minion = new TestMinion({ ...rest, context: { files, match, render } });
  const { context } = minion;
  return Object.defineProperties(context as TestContext, {
    ...(registry ? { registry: { value: { ...context.registry, ...registry } } } : {}),
    state: {
      value: {
        get retcode() {
          return minion.state.retcode;
        },
        set retcode(retcode: number) {
          minion.state.retcode = retcode;
        },
        progress: minion.progress,
        logged: minion.logged,
      },
    },
  });
}
