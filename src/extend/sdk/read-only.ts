// Test mode: while a state function runs with `test=True`, nothing on the machine may be changed, and an attempt fails.
import { AsyncLocalStorage } from 'node:async_hooks';
import { HaliteError } from '../../base/errors/index.ts';

/** A state tried to change something while `test=True` (or the test run of a `prereq`) forbids changes. */
export class ReadOnlyError extends HaliteError {
  constructor(message: string) {
    super('state.read-only', message);
  }
}

interface Scope {
  /** The running state function: `file.managed`. */
  readonly state: string;
  /**
   * The execution function marked `reads: true` that runs inside it; it may start programs and call other functions.
   */
  readonly reader?: string;
  /** Folders that states do not manage: the minion's cache, and temporary folders created during the run. */
  readonly scratch: string[];
  /** Every attempt to change something, even if the state caught the error. */
  readonly refused: string[];
}

// Commands and users' extensions have their own copies of this file; the scope has to be shared by all of them.
const key = Symbol.for('halite.read-only');
const shared = globalThis as { [key]?: AsyncLocalStorage<Scope | undefined> };
shared[key] ??= new AsyncLocalStorage();
const scopes = shared[key];

export interface ReadOnlyRun<T> {
  readonly value: T;
  /** What was refused, one sentence each. */
  readonly refused: readonly string[];
}

/** Runs a state function in test mode. `scratch`: folders it may write to (the minion's cache). */
export async function inReadOnly<T>(
  state: string,
  scratch: readonly string[],
  run: () => T | Promise<T>,
): Promise<ReadOnlyRun<T>> {
  const scope: Scope = { state, scratch: [...scratch], refused: [] };
  return { value: await scopes.run(scope, run), refused: scope.refused };
}

/**
 * Runs an execution function marked `reads: true`: the functions and programs that it calls are covered by its mark.
 */
export function inReader<T>(reader: string, run: () => T): T {
  const scope = scopes.getStore();
  return scope ? scopes.run({ ...scope, reader }, run) : run();
}

/**
 * Asserts that the code inside changes nothing on the machine although that cannot be checked: a program that
 * only reads (`git --version`), or a function without a mark that only reads with these arguments. Nothing is refused
 * inside.
 */
export function onlyReads<T>(run: () => T): T {
  return scopes.getStore() ? scopes.run(undefined, run) : run();
}

/** Whether nothing may be changed right now. */
export const isReadOnly = (): boolean => scopes.getStore() !== undefined;

/** Registers a new temporary folder: writing below it is allowed as long as the state runs. */
export function noteScratch(folder: string): void {
  scopes.getStore()?.scratch.push(folder);
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/**
 * Refuses in test mode. Every helper that writes calls it first: `assertMayWrite('write', path)`,
 * `assertMayWrite('remove', path)`, `assertMayWrite('set the mode of', path)`.
 */
export function assertMayWrite(verb: string, path: string): void {
  const scope = scopes.getStore();
  if (!scope || scope.scratch.some((folder) => isBelow(path, folder))) return;
  refuse(scope, `${verb} ${path}`);
}

/** Refuses to start a program from a state function itself; functions marked as read-only may. */
export function assertMayRun(program: string): void {
  const scope = scopes.getStore();
  if (!scope || scope.reader !== undefined) return;
  refuse(scope, `run the program ${program}`);
}

/** Refuses a call of an execution function that is not marked as read-only. */
export function assertMayCall(fun: string): void {
  const scope = scopes.getStore();
  if (!scope || scope.reader !== undefined) return;
  refuse(scope, `call ${fun}, which is not marked as reading only (reads: true)`);
}

function refuse(scope: Scope, what: string): never {
  const by = scope.reader === undefined ? scope.state : `${scope.reader} (called by ${scope.state})`;
  const sentence = `${by} tried to ${what} in test mode`;
  scope.refused.push(sentence);
  throw new ReadOnlyError(
    `${sentence}. Test mode must not change anything: make the change in \`change\` of resource(…) or changeSet(…), or in \`apply\` of ctx.change(…), which are skipped in test mode. If it only reads: mark the function with reads: true, or wrap the call in onlyReads(…).`,
  );
}
