// Real Salt minions of two Halite masters: no result is lost when one of them is killed. What they sent to the other
// master arrives there; what they could not send is fetched from them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { historyOf, Masters } from '../support/masters.ts';
import { saltRelease } from '../support/salt-release.ts';

let masters: Masters;
const ids = ['old', 'new'];
const kept = ['cache_jobs: True', 'return_retry_timer: 1', 'return_retry_timer_max: 1', 'return_retry_tries: 1'];

beforeAll(async () => {
  masters = await Masters.start({ count: 2 });
  masters.startMinion('old', saltRelease('3006.27'), kept);
  masters.startMinion('new', saltRelease('3008.2'), kept);
  await masters.answering(ids);
});
afterAll(() => masters.destroy());

describe('real minions with cache_jobs', () => {
  it('answer each master, and both have the results', async () => {
    for (const master of masters.all) expect(await master.json('*', 'test.ping')).toEqual({ old: true, new: true });
    await masters.sameHistory();
  });

  it('lose no result of a master that is killed while they work', async () => {
    const [first, second] = [masters.master(0), masters.master(1)];
    const jobs = "SELECT jid FROM job WHERE fun = 'test.sleep'";
    // They take the copy of the first master, to which they then send their results.
    process.kill(second.master.pid, 'SIGSTOP');
    try {
      await first.salt('-L', ids.join(','), 'test.sleep', '15', '--async');
    } finally {
      process.kill(second.master.pid, 'SIGCONT');
    }
    await eventually('the other to know the job', async () => (await historyOf(second, jobs)).length === 1);
    await first.master.stop('SIGKILL');
    const [job] = await historyOf(second, jobs);
    const results = `SELECT id, full_ret FROM ret WHERE jid = '${String(job?.['jid'])}' ORDER BY id`;
    await eventually('their results', async () => (await historyOf(second, results)).length === 2, {
      timeoutMs: 120_000,
      describe: () => second.master.output().slice(-4000),
    });
    const found = (await historyOf(second, results)).map((row) => JSON.parse(String(row['full_ret'])) as object);
    expect(found).toMatchObject(ids.toSorted().map((id) => ({ id, return: true })));
  });
});
