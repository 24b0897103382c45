import { expect, it } from 'vitest';
import type { PublishedJob } from '../protocol/job/job.ts';
import { FleetJob, FleetJobs } from './jobs.ts';

const job = (jid: string, tgt = 'm*', tgt_type = 'glob'): PublishedJob => ({
  jid,
  fun: 'test.ping',
  arg: [],
  tgt,
  tgt_type,
});
const subject = (id: string) => ({ id });

it('counts what is expected, taken, answered twice and lost, for each minion once', () => {
  const made = new FleetJob(job('1'), 4);
  for (const [index, id] of ['m0', 'm1', 'm2', 'x'].entries()) made.expect(index, subject(id));
  expect(made.counts.expected).toBe(3);
  expect(made.take(0, () => subject('m0'))).toBe('new');
  expect(made.take(0, () => subject('m0'))).toBe('again');
  expect(made.take(3, () => subject('x'))).toBe('other');
  expect(made.isRunning(0)).toBe(true);
  expect(made.acknowledged(0)).toBe(true);
  expect(made.acknowledged(0)).toBe(false);
  made.take(1, () => subject('m1'));
  made.drop(1);
  expect(made.complete).toBe(false);
  made.take(2, () => subject('m2'));
  made.acknowledged(2);
  expect(made.complete).toBe(true);
  expect(made.counts).toMatchObject({ expected: 3, taken: 3, acknowledged: 2, doubled: 1, dropped: 1 });
});

it('a minion that came later counts when the job reaches it', () => {
  const made = new FleetJob(job('1'), 2);
  made.expect(0, subject('m0'));
  expect(made.take(1, () => subject('m1'))).toBe('new');
  expect(made.counts.expected).toBe(2);
});

it('a target that is no target matches nobody', () => {
  const made = new FleetJob(job('1', 'm0 and and', 'compound'), 1);
  made.expect(0, subject('m0'));
  expect(made.counts.expected).toBe(0);
});

it('keeps few jobs, and the counts of all', () => {
  const jobs = new FleetJobs();
  for (let n = 0; n < 600; n++) {
    const made = new FleetJob(job(String(n)), 1);
    made.expect(0, subject('m0'));
    made.take(0, () => subject('m0'));
    made.acknowledged(0);
    jobs.add(made);
  }
  const { jobs: kept, earlier } = jobs.snapshot();
  expect(kept).toHaveLength(500);
  expect(earlier).toMatchObject({ jobs: 100, expected: 100, acknowledged: 100, doubled: 0 });
});
