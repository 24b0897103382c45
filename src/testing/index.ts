// `halite/testing`: the engine for tests of extensions, without daemons.
export type { Outcome } from '../engine/exec/outcome.ts';
export {
  type CaseOutcome,
  type CaseSurroundings,
  type Expected,
  readCases,
  runCase,
  type StateCase,
} from './cases.ts';
export { type TestContext, type TestContextOptions, testContext } from './context.ts';
export { type ApplyStateOptions, applyState, runProgram, TestMinion, type TestMinionOptions } from './minion.ts';
export { builtinModules, builtinStates, type Replacement, type Replacements, type TableOptions } from './tables.ts';
