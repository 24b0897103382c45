// The balance of a job always closes, whatever order things happen in.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newDict } from '../base/codec/value.ts';
import { ActiveJob, type JobUpdate } from './active-job.ts';
import { reason } from './reasons.ts';

const waiting = { timeoutMs: 1000, gatherMs: 1000 };
const silent = reason('silent', newDict());
const sum = (balance: object): number => Object.values(balance as Record<string, number>).reduce((a, b) => a + b, 0);

describe('ActiveJob', () => {
  it('ends when the last expected minion has its verdict', () => {
    const job = new ActiveJob('1', 'test.ping', ['a', 'b'], [], waiting);
    const seen: JobUpdate[] = [];
    job.listen((update) => seen.push(update));
    job.returned('a', { return: true, retcode: 0, success: true });
    expect(job.ended).toBe(false);
    job.missing('b', silent);
    expect(job.ended).toBe(true);
    expect(seen.map((update) => update.type)).toEqual(['return', 'missing', 'end']);
    expect(job.balance()).toEqual({ waiting: 0, running: 0, queued: 0, returned: 1, failed: 0, missing: 1 });
  });

  it('ends at once when nobody was expected', () => {
    const job = new ActiveJob('1', 'test.ping', [], [], waiting);
    job.start();
    expect(job.ended).toBe(true);
  });

  it('counts a failing return code as failed', () => {
    const job = new ActiveJob('1', 'cmd.run', ['a'], [], waiting);
    job.returned('a', { return: '', retcode: 3, success: true });
    expect(job.verdict('a')).toEqual({ kind: 'failed', retcode: 3 });
  });

  it('takes a late result over a reason, and never a reason over a result', () => {
    const job = new ActiveJob('1', 'test.ping', ['a'], [], waiting);
    job.missing('a', silent);
    job.returned('a', { return: true, retcode: 0 });
    expect(job.verdict('a')?.kind).toBe('returned');
    job.missing('a', silent);
    expect(job.verdict('a')?.kind).toBe('returned');
  });

  it('keeps the sum equal to the number targeted and tells the end once', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      what: fc.constantFrom('return', 'missing', 'running'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const job = new ActiveJob('1', 'f', ['a', 'b', 'c'], ['d'], waiting);
        let ends = 0;
        job.listen((update) => {
          if (update.type === 'end') ends++;
        });
        for (const { id, what } of steps) {
          if (what === 'return') job.returned(id, { return: 1, retcode: 0 });
          else if (what === 'missing') job.missing(id, silent);
          else job.running(id, 'line');
          expect(sum(job.balance())).toBe(4);
          expect(job.ended).toBe(job.open().length === 0);
        }
        expect(ends).toBe(job.ended ? 1 : 0);
      }),
    );
  });
});
