// From high data to low chunks: extensions, checks, `_in` requisites, exclusions.
import { pyStr } from '../../base/codec/python/index.ts';
import { oneOrMore, type Value } from '../../base/codec/value.ts';
import type { CompiledStates } from '../../extend/sdk/index.ts';
import type { Chunk, High } from './data.ts';
import { applyExcludes } from './high/exclude.ts';
import { applyExtensions } from './high/extend.ts';
import { applyRequisitesIn } from './high/requisite-in.ts';
import { verifyHigh } from './high/verify.ts';
import { compileHigh } from './low/compile.ts';

const compiled = (errors: string[], chunks: () => Chunk[]): CompiledStates =>
  errors.length > 0 ? { kind: 'errors', errors } : { kind: 'chunks', chunks: chunks() };

/** Requisites that the options disable. */
export function disabledRequisites(option: Value | undefined): ReadonlySet<string> {
  if (option === undefined || option === null) return new Set();
  return new Set(oneOrMore(option).map(pyStr));
}

/** For data that will be run: stops after the first step with errors. */
export function compileForRun(high: High, disabled: ReadonlySet<string>, orchestrationJid?: Value): CompiledStates {
  const errors = [...applyExtensions(high, false), ...verifyHigh(high)];
  if (errors.length > 0) return { kind: 'errors', errors };
  errors.push(...applyRequisitesIn(high, disabled));
  applyExcludes(high);
  return compiled(errors, () => compileHigh(high, orchestrationJid));
}

/** Like compileForRun, but continues as far as possible before it reports errors (`state.show_lowstate`). */
export function compileForShow(high: High, before: readonly string[], disabled: ReadonlySet<string>): CompiledStates {
  const errors = [
    ...before,
    ...applyExtensions(high, false),
    ...verifyHigh(high),
    ...applyRequisitesIn(high, disabled),
  ];
  applyExcludes(high);
  return compiled(errors, () => compileHigh(high));
}

/** Chunks of SLS files as written: nothing is extended or excluded (`state.show_low_sls`). */
export function compileAsWritten(high: High, before: readonly string[]): CompiledStates {
  return compiled([...before, ...verifyHigh(high)], () => compileHigh(high));
}

/** Chunks with all requisites applied, for `state.sls_id`, which selects among them. */
export function compileForOne(high: High, before: readonly string[], disabled: ReadonlySet<string>): CompiledStates {
  const errors = [...before, ...verifyHigh(high), ...applyRequisitesIn(high, disabled)];
  return compiled(errors, () => compileHigh(high));
}
