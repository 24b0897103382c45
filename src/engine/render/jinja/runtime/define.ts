// A short notation for filters, tests and globals with their Python signatures.
import { type Native, PyFunction } from './callable.ts';
import type { Runtime } from './runtime.ts';
import { signature } from './signature.ts';
import type { MaybePromise, PyValue } from './value.ts';

export type FunctionTable = ReadonlyMap<string, PyFunction>;

export interface DefineOptions {
  /** Number of arguments that Jinja passes itself in the reference; they count in error texts. */
  readonly implicit?: number;
  /** The function may return a promise. */
  readonly waits?: boolean;
}

type Values = (rt: Runtime, ...values: PyValue[]) => MaybePromise<PyValue>;

/** A function whose parameters are passed one by one. */
export function define(name: string, params: string, run: Values, options: DefineOptions = {}): PyFunction {
  return defineBound(name, params, (rt, { values }) => run(rt, ...values), options);
}

/** A function that also takes `*args` or `**kwargs`. */
export function defineBound(name: string, params: string, run: Native, options: DefineOptions = {}): PyFunction {
  return new PyFunction(signature(name, params, options.implicit ?? 0), run, options.waits === true);
}

export function tableOf(entries: Readonly<Record<string, PyFunction>>): FunctionTable {
  return new Map(Object.entries(entries));
}
