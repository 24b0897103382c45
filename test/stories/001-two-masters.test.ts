// Story 001: two masters with one key, minions of both, and a highstate by schedule on every minion. “Then the standby master
// no longer gets the results of the minions”: here every result is at the master that asked, none twice, none lost, and a
// scheduled run is one job on both. One master is killed under load and comes back.
//
// HALITE_STORY_SECONDS=600 runs it longer.
import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { Pair } from '../support/pair.ts';
import { saltRelease } from '../support/salt-release.ts';

const storyMs = Number(process.env['HALITE_STORY_SECONDS'] ?? 24) * 1000;
const longestMs = 180_000 + storyMs;
const own = ['h1', 'h2', 'h3'];
const real = ['s1', 's2', 's3'];
const all = [...own, ...real];
type Master = 'a' | 'b';
const masters: readonly Master[] = ['a', 'b'];
const everySeconds = 5;
/** As recommended for real minions of a pair. */
const cached = ['cache_jobs: True'];

let pair: Pair;
beforeAll(async () => {
  pair = await Pair.start();
  for (const { path } of pair.both.map((each) => ({ path: each.path('srv/salt/ping.sls') })))
    writeFileSync(path, 'nothing:\n  test.nop: []\n');
  for (const id of own) pair.startMinion(id, undefined, cached);
  pair.startMinion('s1', saltRelease('3006.27'), cached);
  pair.startMinion('s2', saltRelease('3008.2'), cached);
  pair.startMinion('s3', saltRelease('3006.27'), cached);
  await pair.answering(...all);
  const added = await pair.a.json(
    ...['*', 'schedule.add', 'highstate', 'function=state.apply', "job_args=['ping']", `seconds=${everySeconds}`],
    ...['-t', '30'],
  );
  for (const id of all) expect(added[id]).toMatchObject({ result: true });
});
afterAll(() => pair?.destroy());

interface Counters {
  jobs: number;
  sent: number;
  answered: number;
  doubled: number;
}
const none = (): Counters => ({ jobs: 0, sent: 0, answered: 0, doubled: 0 });

/** Jobs from this master, one after the other, for as long as the test wants. */
async function ask(master: Master, ids: readonly string[], goesOn: () => boolean, into: Counters): Promise<void> {
  while (goesOn()) {
    const value = `${master}-${into.jobs}`;
    const { stdout } = await pair[master].salt('-L', ids.join(','), 'test.echo', value, '--out=json', '-t', '60');
    into.jobs += 1;
    into.sent += ids.length;
    for (const id of ids) {
      const answers = stdout.split(`"${id}": "${value}"`).length - 1;
      if (answers > 0) into.answered += 1;
      if (answers > 1) into.doubled += 1;
    }
  }
}

async function query(master: Master, sql: string): Promise<Record<string, string>[]> {
  const { stdout, stderr } = await pair[master].run('salt-run', ['jobs.query', sql, '--out=json']);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, string>[];
}

/**
 * Each result of these jobs is at the master that asked, once, also of a minion that answered after the command had ended: on a
 * machine with too much to do some are that late.
 */
async function allArrive(master: Master, from: string, { jobs }: Counters): Promise<void> {
  const sql =
    "SELECT full_ret ->> '$.return' AS value, group_concat(id) AS ids FROM ret " +
    `WHERE fun = 'test.echo' AND jid >= '${from}' AND value LIKE '${master}-%' GROUP BY value`;
  let wrong: string[] = [];
  const arrived = async (): Promise<boolean> => {
    const found = new Map((await query(master, sql)).map(({ value, ids }) => [value, ids?.split(',').sort().join()]));
    const values = Array.from({ length: jobs }, (_, n) => `${master}-${n}`);
    wrong = values.filter((value) => found.get(value) !== all.join()).map((value) => `${value}: ${found.get(value)}`);
    return wrong.length === 0;
  };
  await eventually('all results at the master that asked', arrived, {
    timeoutMs: 120_000,
    describe: () => wrong.join('\n'),
  });
}

/** The scheduled runs of a time, as `jid minion`. */
async function runs(master: Master, from = '', to = '9'): Promise<string[]> {
  const sql = `SELECT jid, id FROM ret WHERE full_ret ->> '$.schedule' = 'highstate' AND jid BETWEEN '${from}' AND '${to}'`;
  return (await query(master, sql)).map(({ jid, id }) => `${jid} ${id}`).sort();
}
const timesOf = (rows: readonly string[], id: string): number => rows.filter((row) => row.endsWith(` ${id}`)).length;
/** A jid of this moment. */
const now = (): string => new Date().toISOString().replace(/\D/g, '').padEnd(20, '0');
const until = (ms: number): (() => boolean) => {
  const end = Date.now() + ms;
  return () => Date.now() < end;
};

describe('two masters with one key, and six minions with a scheduled highstate', () => {
  it(
    'every result is at the master that asked, once; every scheduled run is one job on both',
    async () => {
      const counters = { a: none(), b: none() };
      const begin = now();
      const goesOn = until(storyMs);
      await Promise.all(masters.map((master) => ask(master, all, goesOn, counters[master])));
      for (const master of masters) {
        const { jobs, sent, answered, doubled } = counters[master];
        await allArrive(master, begin, counters[master]);
        expect({ answered, doubled }).toEqual({ answered: sent, doubled: 0 });
        expect(jobs).toBeGreaterThan(0);
        console.info(
          `master ${master}: ${jobs} jobs, ${sent} results expected, ${answered} answered, 0 doubled, 0 lost`,
        );
      }
      // Runs until now arrive at both within seconds.
      const end = now();
      const missing = async (): Promise<string[]> => {
        const [a, b] = [await runs('a', begin, end), await runs('b', begin, end)];
        return [...a.filter((run) => !b.includes(run)), ...b.filter((run) => !a.includes(run))];
      };
      let different: string[] = [];
      await eventually(
        'the same runs on both',
        async () => {
          different = await missing();
          return different.length === 0;
        },
        { describe: () => different.join('\n') },
      );
      const rows = await runs('a', begin, end);
      for (const id of all) expect(timesOf(rows, id)).toBeGreaterThan(0);
      // One more at each end; still more would be runs that were recorded twice.
      const seconds = (Date.now() - Date.parse(isoOf(begin))) / 1000;
      for (const id of all) expect(timesOf(rows, id)).toBeLessThanOrEqual(seconds / everySeconds + 2);
      console.info(`scheduled runs: ${rows.length}, the same on both masters`);
    },
    longestMs,
  );

  it('the doctor finds nothing wrong with the settings of the real minions', async () => {
    const fine = { level: 'fine', what: '3 minions said how their masters are configured' };
    let found = '';
    const examine = async (): Promise<boolean> => {
      const { stdout, code } = await pair.a.run('salt-run', ['doctor.masters', 'all=True', '--out=json']);
      found = stdout;
      return code === 0 && JSON.stringify(JSON.parse(stdout)) === JSON.stringify([fine]);
    };
    // One that has too much to do says nothing in time, and is named.
    await eventually('all to say it', examine, { timeoutMs: 120_000, describe: () => found });
  });

  it(
    'a master that is killed under load costs the other nothing, and takes its results when it is back',
    async () => {
      const during = none();
      const start = now();
      const goesOn = until(storyMs);
      const asking = ask('b', all, goesOn, during);
      // Its minions work while it dies.
      const [begun, ends] = [(id: string) => pair.a.path(`begun-${id}`), pair.a.path('ends')];
      const { stdout } = await pair.a.salt(
        ...['-L', own.join(','), 'cmd.run', 'python_shell=True', 'template=jinja', '--async'],
        `touch ${begun('{{ grains.id }}')}; while ! test -e ${ends}; do sleep 0.1; done; echo late`,
      );
      const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
      await eventually('the job on the minions', () => own.every((id) => existsSync(begun(id))));
      await pair.a.master.stop('SIGKILL');
      writeFileSync(ends, '');
      // Halite minions give what nobody takes to the other one, which shows it with the master that asked.
      const kept = async (): Promise<string[]> =>
        (await query('b', `SELECT id FROM ret WHERE jid = '${jid}'`)).map(({ id }) => String(id)).sort();
      await eventually('the results at the other master', async () => (await kept()).length === own.length, {
        timeoutMs: 120_000,
      });
      expect((await pair.b.run('salt-run', ['jobs.lookup_jid', jid])).stderr).toContain(pair.addresses[0]);
      await pair.a.startMaster();
      const taken = async (): Promise<number> => (await query('a', `SELECT id FROM ret WHERE jid = '${jid}'`)).length;
      await eventually('the results at the master that asked', async () => (await taken()) === own.length, {
        timeoutMs: 120_000,
      });
      await asking;
      await allArrive('b', start, during);
      expect(during.doubled).toBe(0);
      expect(during.answered).toBe(during.sent);
      await pair.a.answering(...all);
      // The runs of the time without it are at the other one only; new ones are at both again.
      const begin = now();
      const both = async (id: string): Promise<boolean> => {
        const [a, b] = [await runs('a', begin), await runs('b', begin)];
        return a.some((run) => run.endsWith(` ${id}`) && b.includes(run));
      };
      for (const id of all) await eventually(`a run of ${id} on both`, () => both(id));
      console.info(
        `master killed: ${during.jobs} jobs of the other one, ${during.answered} of ${during.sent} answered`,
      );
    },
    longestMs,
  );
});

/** The time of a jid. */
function isoOf(jid: string): string {
  const [y, mo, d, h, mi, s] = [0, 4, 6, 8, 10, 12].map((from, i, cut) => jid.slice(from, cut[i + 1] ?? 14));
  return `${y}-${mo}-${d}T${h}:${mi}:${s}Z`;
}
