// Deadlines of jobs, and the result and code of a job that was ended.
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../../protocol/wire/messages/job.ts';
import { deadlineOf, deadlineOutcome } from './deadline.ts';

const dictOf = (fields: Record<string, Value>) => newDict(Object.entries(fields));

describe('a deadline', () => {
  it.each([
    [90, 90_000],
    [0.5, 500],
    [1e12, 2_000_000_000],
    [0, undefined],
    [-3, undefined],
    ['90', undefined],
    [null, undefined],
    [Number.NaN, undefined],
  ])('of %j seconds is %j milliseconds', (given, ms) => {
    const job = readPublishedJob(dictOf({ jid: '1', fun: 'test.ping', arg: [], tgt: '*', halite_deadline: given }));
    expect(isProblem(job) ? job : deadlineOf(job)).toBe(ms);
  });

  it('reports what happened to the processes', () => {
    expect(deadlineOutcome(90_000, { gone: true, left: [] }, 'half')).toEqual({
      return: 'ERROR: The deadline of 90 s passed: its processes were killed\nLast output: half',
      retcode: 124,
      success: false,
      out: 'nested',
    });
    expect(deadlineOutcome(1000, { gone: false, left: [7, 8] }, '').return).toBe(
      'ERROR: The deadline of 1 s passed: these of its processes do not end: 7, 8',
    );
  });
});
