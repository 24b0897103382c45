// State functions that an operator disabled (`state.disable`): they do not run, and requisites do not find them.
import { pyStr } from '../../../base/codec/python/index.ts';
import { type Dict, dictGet, newDict, type PlainDict } from '../../../base/codec/value.ts';
import { matchesGlob } from '../../../base/util/index.ts';
import type { Chunk } from '../data.ts';
import { tagOf } from '../tags.ts';
import { disabledByGrain } from './results.ts';
import type { RunNumbers } from './run-numbers.ts';

export interface Sifted {
  readonly enabled: readonly Chunk[];
  /** Results of the others, by tag. */
  readonly results: Record<string, PlainDict>;
}

/** Removes what `state_runs_disabled` in the grains names. */
export function siftDisabled(chunks: readonly Chunk[], grains: Dict, numbers: RunNumbers): Sifted {
  const results = newDict() as Record<string, PlainDict>;
  const patterns = dictGet(grains, 'state_runs_disabled');
  if (!Array.isArray(patterns) || patterns.length === 0) return { enabled: chunks, results };
  const enabled = chunks.filter((low) => {
    const full = `${pyStr(low['state'])}.${pyStr(low['fun'])}`;
    const pattern = patterns.find((item) => typeof item === 'string' && matchesGlob(full, item));
    if (pattern === undefined) return true;
    results[tagOf(low)] = disabledByGrain(low, numbers.take(), pyStr(pattern));
    return false;
  });
  return { enabled, results };
}
