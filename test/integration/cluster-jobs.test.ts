// Jobs and results of several masters on a nats-server: each job reaches the minions of all, each result reaches its
// owner, whoever took it, and all masters have the same history.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, halite, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { historyOf, Masters } from '../support/masters.ts';

let masters: Masters;

beforeAll(async () => {
  masters = await Masters.start();
  masters.startMinion('hot');
  masters.startMinion('one', undefined, [], [masters.master(0)]);
  masters.startMinion('two', undefined, [], [masters.master(1)]);
  await masters.answering(['hot', 'one', 'two']);
});
afterAll(() => masters.destroy());

describe('a job of any master', () => {
  it('reaches the minions of all, and its results come back', async () => {
    for (const master of masters.all) {
      expect(await master.json('*', 'test.ping')).toEqual({ hot: true, one: true, two: true });
    }
    const results = await masters.sameHistory();
    expect(results.length).toBeGreaterThanOrEqual(9);
  });

  it('is found with its results on every master', async () => {
    const { stdout } = await masters.master(2).salt('*', 'test.echo', 'x', '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    expect(jid).toMatch(/2$/);
    for (const master of masters.all) {
      await eventually('the results', async () => {
        const { stdout: found } = await master.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
        return Object.keys(JSON.parse(found) as object).length === 3;
      });
    }
  });
});

describe('a master that is killed', () => {
  it('loses no result, and another one goes on with its jobs', async () => {
    const [first, second] = [masters.master(0), masters.master(1)];
    // The jobs end when the master that published them is dead.
    const gate = first.path('gate');
    const job = ['cmd.run', `until test -e ${gate}; do sleep 0.1; done`];
    const { stdout } = await first.salt('-L', 'hot,two,nobody', ...job, '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    const known = async (master: Deployment): Promise<boolean> =>
      (await historyOf(master, `SELECT jid FROM job WHERE jid = '${jid}'`)).length > 0;
    await eventually('the others to know the job', async () => (await known(second)) && known(masters.master(2)));
    const heard: string[] = [];
    const waiting = startProgram(
      `${halite.bin}/salt`,
      ['-c', first.masterConfigDir, '-v', '-L', 'hot,two', ...job, '-t', '60'],
      { onOutput: (text) => heard.push(text) },
    );
    await eventually('the command to know its job', () => heard.join('').includes('Executing job with jid'));
    await eventually('the job that is waited for', async () => {
      const [row] = await historyOf(second, "SELECT count(*) AS n FROM job WHERE fun = 'cmd.run'");
      return Number(row?.['n']) === 2;
    });
    await first.master.stop('SIGKILL');
    writeFileSync(gate, '');
    const results = `SELECT id, full_ret FROM ret WHERE jid = '${jid}' ORDER BY id`;
    await eventually('its results to be on the others', async () => (await historyOf(second, results)).length === 2, {
      timeoutMs: 120_000,
      describe: () => second.master.output().slice(-3000),
    });
    // It is not the end of the job before the one that is nobody has its verdict too.
    await eventually('the verdict of the last', async () => {
      const verdicts = await historyOf(second, `SELECT id, reason FROM verdict WHERE jid = '${jid}' AND reason <> ''`);
      return verdicts.length === 1 && verdicts[0]?.['id'] === 'nobody';
    });
    const said = (): boolean =>
      masters.all
        .slice(1)
        .some(({ master }) => master.output().includes('jobs of a master that is gone are continued here'));
    await eventually('one of the others to go on with the job', said);
    for (const master of [second, masters.master(2)]) {
      const adopted = async (): Promise<boolean> =>
        / adopted by m[23], because m1 is gone$/m.test((await master.run('salt-run', ['jobs.explain', jid])).stdout);
      await eventually('each to say who went on with it', adopted);
    }
    // The command that waited names the masters that go on.
    expect((await waiting.done).stderr).toMatch(
      /^The other masters go on with it\. On m2, m3: salt-run jobs\.lookup_jid \d{20}$/m,
    );
    // Back again, it has what happened without it.
    await first.startMaster();
    await masters.answering(['hot', 'one', 'two'], [first]);
    const all = await masters.sameHistory();
    expect(all.filter((row) => row['jid'] === jid).map((row) => row['id'])).toEqual(['hot', 'two']);
  });
});
