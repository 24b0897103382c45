// Checks the form of a merged top file.

import { isTruthy, pyRepr } from '../../../base/codec/python/index.ts';
import { dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { shown, typeName } from '../data.ts';
import type { Top } from './merge.ts';

/** All its problems. */
export function verifyTop(top: Top): string[] {
  const errors: string[] = [];
  for (const [saltenv, targets] of top) {
    if (saltenv === 'include') continue;
    if (typeof saltenv !== 'string') errors.push(`Environment ${shown(saltenv)} in top file is not formed as a string`);
    if (saltenv === '') errors.push('Empty saltenv statement in top file');
    for (const [target, states] of targets) verifyTarget(saltenv, target, states, errors);
  }
  return errors;
}

function verifyTarget(saltenv: Value, target: Value, states: Value, errors: string[]): void {
  if (!Array.isArray(states)) {
    errors.push(
      `Malformed topfile: state declarations for matcher ${pyRepr(target)} in saltenv ${pyRepr(saltenv)} ` +
        `are not formed as a list (got ${typeName(states)})`,
    );
    return;
  }
  for (const item of states) {
    if (isDict(item)) {
      for (const [, value] of dictEntries(item)) {
        if (!isTruthy(value)) {
          errors.push(`Improperly formatted top file matcher in saltenv ${shown(item)}: ${shown(value)} file`);
        }
      }
    } else if (item === '') errors.push(`Environment ${shown(saltenv)} contains an empty sls index`);
  }
}
