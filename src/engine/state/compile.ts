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

/** Requisites that the options switch off. */
export function disabledRequisites(option: Value | undefined): ReadonlySet<string> {
  if (option === undefined || option === null) return new Set();
  return new Set(oneOrMore(option).map(pyStr));
}

/** For data that is going to be run: the first step that finds something wrong is the last. */
export function compileForRun(high: High, disabled: ReadonlySet<string>, orchestrationJid?: Value): CompiledStates {
  const errors = [...applyExtensions(high, false), ...verifyHigh(high)];
  if (errors.length > 0) return { kind: 'errors', errors };
  errors.push(...applyRequisitesIn(high, disabled));
  applyExcludes(high);
  return compiled(errors, () => compileHigh(high, orchestrationJid));
}

/** Like compileForRun, but goes on as far as it can before it complains (`state.show_lowstate`). */
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

/** Chunks of SLS files as they are written: nothing is extended or excluded (`state.show_low_sls`). */
export function compileAsWritten(high: High, before: readonly string[]): CompiledStates {
  return compiled([...before, ...verifyHigh(high)], () => compileHigh(high));
}

/** Chunks whose requisites are all in place, for `state.sls_id`, which picks among them. */
export function compileForOne(high: High, before: readonly string[], disabled: ReadonlySet<string>): CompiledStates {
  const errors = [...before, ...verifyHigh(high), ...applyRequisitesIn(high, disabled)];
  return compiled(errors, () => compileHigh(high));
}
