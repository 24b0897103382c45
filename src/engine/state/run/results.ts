// Results of states that were not called, each with Salt's message.
import { pyStr } from '../../../base/codec/python/index.ts';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { Chunk } from '../data.ts';
import { noTime } from './clock.ts';

function withOrigin(result: PlainDict, low: Chunk): PlainDict {
  for (const key of ['__sls__', '__id__', 'name']) result[key] = low[key] ?? null;
  return result;
}

function untouched(
  low: Chunk,
  runNumber: number,
  result: boolean,
  comment: string,
  extra: readonly [string, Value][] = [],
): PlainDict {
  return withOrigin(
    newDict([
      ['changes', newDict()],
      ['result', result],
      ...Object.entries(noTime()),
      ['comment', comment],
      ...extra,
      ['__run_num__', runNumber],
    ]),
    low,
  );
}

/** Salt: this one has no times. */
export function recursive(low: Chunk, runNumber: number): PlainDict {
  return withOrigin(
    newDict([
      ['changes', newDict()],
      ['result', false],
      ['comment', 'Recursive requisite found'],
      ['__run_num__', runNumber],
    ]),
    low,
  );
}

/** Requisite → entries without a matching state. */
export type Lost = ReadonlyMap<string, readonly { readonly key: string; readonly value: Value }[]>;

export function requisitesNotFound(low: Chunk, runNumber: number, lost: Lost): PlainDict {
  let comment = 'The following requisites were not found:\n';
  for (const [requisite, entries] of lost) {
    if (entries.length === 0) continue;
    comment += `${' '.repeat(19)}${requisite}:\n`;
    for (const { key, value } of entries) comment += `${' '.repeat(23)}${key}: ${pyStr(value)}\n`;
  }
  return untouched(low, runNumber, false, comment);
}

export function requisiteFailed(low: Chunk, runNumber: number, failed: Iterable<string>): PlainDict {
  return untouched(low, runNumber, false, `One or more requisite failed: ${[...failed].join(', ')}`);
}

export function noChangesDetected(low: Chunk, runNumber: number, ran = true): PlainDict {
  return untouched(low, runNumber, true, 'No changes detected', ran ? [] : [['__state_ran__', false]]);
}

export function onfailNotMet(low: Chunk, runNumber: number): PlainDict {
  return untouched(low, runNumber, true, 'State was not run because onfail req did not change', [
    ['__state_ran__', false],
  ]);
}

export function onchangesNotMet(low: Chunk, runNumber: number): PlainDict {
  return untouched(low, runNumber, true, 'State was not run because none of the onchanges reqs changed', [
    ['__state_ran__', false],
  ]);
}

export function disabledByGrain(low: Chunk, runNumber: number, pattern: string): PlainDict {
  const full = `${pyStr(low['state'])}.${pyStr(low['fun'])}`;
  return newDict([
    ['changes', newDict()],
    ['result', false],
    [
      'comment',
      `The state function "${full}" is currently disabled by "${pattern}", to re-enable, run state.enable ${pattern}.`,
    ],
    ['__run_num__', runNumber],
    ['__sls__', low['__sls__'] ?? null],
  ]);
}

/** A part of a state with its own result (`sub_state_run`). */
export function subResult(low: Chunk, runNumber: number, part: PlainDict): PlainDict {
  const times = noTime();
  return withOrigin(
    newDict([
      ['name', low['name'] ?? null],
      ['changes', part['changes'] ?? newDict()],
      ['result', part['result'] ?? null],
      ['duration', part['duration'] ?? times['duration']!],
      ['start_time', part['start_time'] ?? times['start_time']!],
      ['comment', part['comment'] ?? ''],
      ['__state_ran__', true],
      ['__run_num__', runNumber],
    ]),
    low,
  );
}
