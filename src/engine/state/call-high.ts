// From high data to results: extensions, checks, `_in` requisites, exclusions, low chunks, run.

import type { Value } from '../../base/codec/value.ts';
import { type Chunk, type High, textOf } from './data.ts';
import { applyExcludes } from './high/exclude.ts';
import { applyExtensions } from './high/extend.ts';
import { applyRequisitesIn } from './high/requisite-in.ts';
import { verifyHigh } from './high/verify.ts';
import { compileHigh } from './low/compile.ts';

/** Requisites that the options switch off. */
export function disabledRequisites(option: Value | undefined): ReadonlySet<string> {
  if (option === undefined || option === null) return new Set();
  return new Set((Array.isArray(option) ? option : [option]).map(textOf));
}

/** The chunks of high data that is going to be run, or what is wrong with it. */
export function compileForRun(high: High, disabled: ReadonlySet<string>, orchestrationJid?: Value): Chunk[] | string[] {
  const errors = [...applyExtensions(high, false), ...verifyHigh(high)];
  if (errors.length > 0) return errors;
  errors.push(...applyRequisitesIn(high, disabled));
  applyExcludes(high);
  return errors.length > 0 ? errors : compileHigh(high, orchestrationJid);
}

/** Like compileForRun, but goes on as far as it can before it complains (`state.show_lowstate`). */
export function compileForShow(
  high: High,
  before: readonly string[],
  disabled: ReadonlySet<string>,
): Chunk[] | string[] {
  const errors = [
    ...before,
    ...applyExtensions(high, false),
    ...verifyHigh(high),
    ...applyRequisitesIn(high, disabled),
  ];
  applyExcludes(high);
  return errors.length > 0 ? errors : compileHigh(high);
}

/** Whether a compilation gave chunks. */
export function areChunks(compiled: Chunk[] | string[]): compiled is Chunk[] {
  return compiled.length === 0 || typeof compiled[0] !== 'string';
}
