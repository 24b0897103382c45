// Compiled expressions: closures that are synchronous unless something below them may be asynchronous.
import type { Frame } from '../runtime/runtime.ts';
import type { MaybePromise, PyValue } from '../runtime/value.ts';

export type SyncRun = (f: Frame) => PyValue;
export type AnyRun = (f: Frame) => MaybePromise<PyValue>;

/** `sync` is set when no part can return a promise; `run` always works. */
export interface Code {
  readonly run: AnyRun;
  readonly sync: SyncRun | undefined;
}

/** 1 leaves the loop, 2 starts its next round. */
export type Signal = 1 | 2;
export const breakLoop: Signal = 1;
export const nextRound: Signal = 2;
export type Step = (f: Frame) => MaybePromise<Signal | undefined>;

export const syncCode = (run: SyncRun): Code => ({ run, sync: run });
export const anyCode = (run: AnyRun): Code => ({ run, sync: undefined });
export const constant = (value: PyValue): Code => syncCode(() => value);

/** Applies an operation to one operand. */
export function map1(a: Code, op: (value: PyValue, f: Frame) => PyValue): Code {
  const { sync, run } = a;
  if (sync !== undefined) return syncCode((f) => op(sync(f), f));
  return anyCode((f) => {
    const value = run(f);
    return value instanceof Promise ? value.then((later) => op(later, f)) : op(value, f);
  });
}

/** Applies an operation to two operands, left first. */
export function map2(a: Code, b: Code, op: (left: PyValue, right: PyValue, f: Frame) => PyValue): Code {
  const left = a.sync;
  const right = b.sync;
  if (left !== undefined && right !== undefined) return syncCode((f) => op(left(f), right(f), f));
  const finish = (x: PyValue, f: Frame): MaybePromise<PyValue> => {
    const y = b.run(f);
    return y instanceof Promise ? y.then((later) => op(x, later, f)) : op(x, y, f);
  };
  return anyCode((f) => {
    const x = a.run(f);
    return x instanceof Promise ? x.then((later) => finish(later, f)) : finish(x, f);
  });
}

async function collectRest(
  codes: readonly Code[],
  values: PyValue[],
  first: Promise<PyValue>,
  f: Frame,
): Promise<PyValue[]> {
  values.push(await first);
  for (let at = values.length; at < codes.length; at += 1) {
    const value = codes[at]!.run(f);
    values.push(value instanceof Promise ? await value : value);
  }
  return values;
}

/** Evaluates all in order. */
export function collect(codes: readonly Code[]): (f: Frame) => MaybePromise<PyValue[]> {
  return (f) => {
    const values: PyValue[] = [];
    for (const code of codes) {
      const value = code.run(f);
      if (value instanceof Promise) return collectRest(codes, values, value, f);
      values.push(value);
    }
    return values;
  };
}

export function allSync(codes: readonly Code[]): readonly SyncRun[] | undefined {
  const runs: SyncRun[] = [];
  for (const { sync } of codes) {
    if (sync === undefined) return undefined;
    runs.push(sync);
  }
  return runs;
}

/** Applies an operation to any number of operands. */
export function mapAll(codes: readonly Code[], op: (values: PyValue[], f: Frame) => PyValue): Code {
  const runs = allSync(codes);
  if (runs !== undefined) {
    return syncCode((f) => {
      const values: PyValue[] = [];
      for (const run of runs) values.push(run(f));
      return op(values, f);
    });
  }
  const all = collect(codes);
  return anyCode((f) => {
    const values = all(f);
    return values instanceof Promise ? values.then((later) => op(later, f)) : op(values, f);
  });
}

function runFrom(steps: readonly Step[], f: Frame, start: number): MaybePromise<Signal | undefined> {
  for (let at = start; at < steps.length; at += 1) {
    const result = steps[at]!(f);
    if (result === undefined) continue;
    if (!(result instanceof Promise)) return result;
    return result.then((signal) => (signal === undefined ? runFrom(steps, f, at + 1) : signal));
  }
  return undefined;
}

/** Statements one after the other; an asynchronous one passes the rest to its continuation. */
export function sequence(steps: readonly Step[]): Step {
  if (steps.length === 0) return () => undefined;
  if (steps.length === 1) return steps[0]!;
  return (f) => runFrom(steps, f, 0);
}

/** Runs an expression for its effect, then continues with its value. */
export function withValue(code: Code, next: (value: PyValue, f: Frame) => MaybePromise<Signal | undefined>): Step {
  const { sync, run } = code;
  if (sync !== undefined) return (f) => next(sync(f), f);
  return (f) => {
    const value = run(f);
    return value instanceof Promise ? value.then((later) => next(later, f)) : next(value, f);
  };
}
