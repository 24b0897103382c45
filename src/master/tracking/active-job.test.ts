// Every minion of a job gets exactly one verdict, in any order of events.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { exitCode, type JobReturn } from '../../protocol/job/job-return.ts';
import { isFinal, type Reason, type Verdict } from '../../protocol/job/verdict.ts';
import { ActiveJob, type JobUpdate } from './active-job.ts';
import { reason } from './reasons.ts';

const waiting = { timeoutMs: 1000, gatherMs: 1000 };
const silent = reason('silent', newDict());
const result = (id: string, more: Pick<JobReturn, 'return' | 'retcode' | 'success' | 'ended'>): JobReturn => ({
  ...{ id, jid: '1', fun: 'f' },
  ...more,
});
const sum = (balance: object): number => Object.values(balance as Record<string, number>).reduce((a, b) => a + b, 0);

describe('ActiveJob', () => {
  it('ends when the last expected minion has its verdict', () => {
    const job = new ActiveJob('1', 'test.ping', ['a', 'b'], [], waiting);
    const seen: JobUpdate[] = [];
    job.listen((update) => seen.push(update));
    job.returned(result('a', { return: true, retcode: 0, success: true }));
    expect(job.ended).toBe(false);
    job.missing('b', silent);
    expect(job.ended).toBe(true);
    expect(seen.map((update) => update.type)).toEqual(['return', 'missing', 'end']);
    expect(job.balance()).toMatchObject({ waiting: 0, running: 0, queued: 0, returned: 1, failed: 0, missing: 1 });
  });

  it('ends at once when nobody was expected', () => {
    const job = new ActiveJob('1', 'test.ping', [], [], waiting);
    job.start();
    expect(job.ended).toBe(true);
  });

  it('counts a failing return code as failed', () => {
    const job = new ActiveJob('1', 'cmd.run', ['a'], [], waiting);
    job.returned(result('a', { return: '', retcode: 3, success: true }));
    expect(job.verdict('a')).toEqual({ kind: 'failed', retcode: 3 });
  });

  it('has the deadline as a separate verdict, whether minion or master enforced it', () => {
    const job = new ActiveJob('1', 'cmd.run', ['a', 'b'], [], waiting);
    job.returned(result('a', { return: 'ERROR: …', retcode: 124, success: false, ended: 'deadline' }));
    job.missing('b', { code: 'deadline', text: '', evidence: newDict() });
    expect(job.balance()).toMatchObject({ deadline: 2, failed: 0, missing: 0 });
  });

  it('records the reports of a minion, by the clock of the master', () => {
    const job = new ActiveJob('1', 'cmd.run', ['a'], [], waiting);
    job.running('a', 'started', { text: '', accepted: 1000, started: 1500 });
    job.running('a', 'progress', { text: 'half' });
    expect(job.milestones('a')).toMatchObject({ accepted: 1000, started: 1500, output: { text: 'half' } });
    expect(job.verdict('a')).toEqual({ kind: 'running', since: 1500, text: 'half' });
    expect(job.milestones('b')).toBeUndefined();
  });

  it('uses the worst code of several functions', () => {
    const worst = (retcode: Value): number => exitCode({ retcode });
    expect([worst(3), worst({ a: 0, b: 2 }), worst([0, 1]), exitCode({})]).toEqual([3, 2, 1, 0]);
  });

  it('grows when the same job goes to more minions', () => {
    const job = new ActiveJob('1', 'test.ping', ['a'], [], waiting);
    job.returned(result('a', { return: true, retcode: 0 }));
    job.expect(['a', 'b'], []);
    expect([job.ended, job.open()]).toEqual([false, ['b']]);
  });

  it('replaces a reason by a late result, and never a result by a reason', () => {
    const job = new ActiveJob('1', 'test.ping', ['a'], [], waiting);
    job.missing('a', silent);
    job.returned(result('a', { return: true, retcode: 0 }));
    expect(job.verdict('a')?.kind).toBe('returned');
    job.missing('a', silent);
    expect(job.verdict('a')?.kind).toBe('returned');
  });

  it('keeps the sum equal to the number targeted and reports the end once', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      what: fc.constantFrom(
        'return',
        'missing',
        'running',
        'queued',
        'expired',
        'deadline',
        'killed',
        'hold',
        'release',
      ),
    });
    const late: Reason = { code: 'deadline', text: '', evidence: newDict() };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const job = new ActiveJob('1', 'f', ['a', 'b', 'c'], ['d'], waiting);
        let ends = 0;
        job.listen((update) => {
          if (update.type === 'end') ends++;
        });
        for (const { id, what } of steps) {
          if (what === 'return') job.returned(result(id, { return: 1, retcode: 0 }));
          else if (what === 'missing') job.missing(id, silent);
          else if (what === 'deadline') job.missing(id, late);
          else if (what === 'killed') job.returned(result(id, { return: '', retcode: 124, ended: 'deadline' }));
          else if (what === 'queued') job.queued(id, 1, silent);
          else if (what === 'expired') job.expired(id, silent);
          else if (what === 'hold') job.hold([id]);
          else if (what === 'release') job.release([id]);
          else job.running(id, 'progress', { text: 'line' });
          expect(sum(job.balance())).toBe(4);
          const { waiting: open, running } = job.balance();
          expect(job.ended).toBe(open + running === 0);
          for (const other of job.open()) expect(isFinal(job.verdict(other) as Verdict)).toBe(false);
        }
        expect(ends).toBe(job.ended ? 1 : 0);
      }),
    );
  });
});
