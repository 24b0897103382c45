// A master that also stores its jobs, results and events in a real MariaDB, and what happens when that is unavailable.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { type MariaDb, startMariaDb } from '../support/servers/mariadb.ts';

const tables = `
CREATE TABLE jids (jid varchar(255) NOT NULL, \`load\` mediumtext NOT NULL, UNIQUE KEY jid (jid)) ENGINE=InnoDB;
CREATE TABLE salt_returns (fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, \`return\` mediumtext NOT NULL,
  id varchar(255) NOT NULL, success varchar(10) NOT NULL, full_ret mediumtext NOT NULL,
  alter_time TIMESTAMP DEFAULT CURRENT_TIMESTAMP, KEY id (id), KEY jid (jid), KEY fun (fun)) ENGINE=InnoDB;
CREATE TABLE salt_events (id BIGINT NOT NULL AUTO_INCREMENT, tag varchar(255) NOT NULL, data mediumtext NOT NULL,
  alter_time TIMESTAMP DEFAULT CURRENT_TIMESTAMP, master_id varchar(255) NOT NULL, PRIMARY KEY (id), KEY tag (tag)) ENGINE=InnoDB;`;

interface Health {
  readonly summary: string;
  readonly spools: Record<string, { state: string; waiting: number; delivered: number; error?: string }>;
}

const database = await startMariaDb();

describe.skipIf(!database)('master_job_cache and event_return in MariaDB', () => {
  let fleet: Deployment;
  const db = (): MariaDb => database!;
  const run = async <T>(...args: string[]): Promise<T> => {
    const { stdout, stderr } = await fleet.run('salt-run', [...args, '--out=json']);
    try {
      return JSON.parse(stdout) as T;
    } catch {
      throw new Error(`salt-run ${args.join(' ')}: ${stdout}${stderr}`);
    }
  };
  const health = (): Promise<Health> => run<Health>('jobs.health');
  const returns = async (): Promise<{ jid: string; id: string; fun: string; success: string }[]> =>
    (await db().sql('SELECT jid, id, fun, success FROM salt_returns')) as never;

  beforeAll(async () => {
    await database?.script(`USE salt; ${tables}
      INSERT INTO jids VALUES ('20200131120000000001', '{}');
      INSERT INTO salt_returns (fun, jid, \`return\`, id, success, full_ret, alter_time)
        VALUES ('test.ping', '20200131120000000001', 'true', 'm1', '1', '{}', NOW() - INTERVAL 2 DAY);`);
    const config = [
      'master_job_cache: mysql',
      'event_return: [mysql]',
      'keep_jobs_seconds: 86400',
      'loop_interval: 1',
      "event_return_whitelist: ['salt/job/*', 'halite/spool/*']",
      "event_return_blacklist: ['salt/job/*/new']",
      ...Object.entries(database?.options ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ];
    fleet = await Deployment.create({ masterConfig: config.join('\n') });
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
  });
  afterAll(async () => {
    await fleet.destroy();
    await database?.stop();
  });

  it('writes jobs, results, runners and the wanted events', async () => {
    await fleet.salt('m1', 'cmd.run', 'echo hello; exit 3');
    await fleet.run('salt-run', ['test.stdout_print']);
    await fleet.run('salt-run', ['no.such_function']);
    await eventually('rows of the job and of both runners', async () => {
      const rows = await returns();
      return rows.some((row) => row.fun === 'cmd.run') && rows.some((row) => row.fun === 'runner.no.such_function');
    });
    const rows = await returns();
    expect(rows.find((row) => row.fun === 'cmd.run')).toMatchObject({ id: 'm1', success: '0' });
    expect(rows.find((row) => row.fun === 'runner.test.stdout_print')?.success).toBe('1');
    expect(rows.find((row) => row.fun === 'runner.no.such_function')?.success).toBe('0');
    const [job] = await db().sql("SELECT j.load FROM jids j JOIN salt_returns r USING (jid) WHERE r.fun = 'cmd.run'");
    expect(JSON.parse(String(job?.['load']))).toMatchObject({ fun: 'cmd.run', tgt: 'm1' });
    await eventually('the event of the result', async () => {
      const events = await db().sql("SELECT tag, data FROM salt_events WHERE tag LIKE 'salt/job/%/ret/m1'");
      return events.some((event) => String(event['data']).includes('hello'));
    });
    expect(await db().sql("SELECT tag FROM salt_events WHERE tag LIKE '%/new'")).toEqual([]);
  });

  it('removes old jobs there, because the retention is configured', async () => {
    await eventually('the old result to go', async () =>
      (await returns()).every((row) => row.jid !== '20200131120000000001'),
    );
    expect(await db().sql("SELECT jid FROM jids WHERE jid = '20200131120000000001'")).toEqual([]);
  });

  it('returns jobs of the database together with its own', async () => {
    const load = JSON.stringify({ fun: 'test.echo', arg: ['old'], tgt: 'm9', tgt_type: 'glob', user: 'anna' });
    const full = JSON.stringify({ jid: '20240131120000000001', id: 'm9', return: 'old', retcode: 0, success: true });
    await db().sql(
      `INSERT INTO jids VALUES ('20240131120000000001', '${load}')`,
      `INSERT INTO salt_returns (fun, jid, \`return\`, id, success, full_ret) VALUES ('test.echo', '20240131120000000001', '"old"', 'm9', '1', '${full}')`,
    );
    expect(await run('jobs.lookup_jid', '20240131120000000001')).toEqual({ m9: 'old' });
    expect(await run('jobs.list_job', '20240131120000000001')).toMatchObject({ Function: 'test.echo', User: 'anna' });
    const jobs = await run<Record<string, { Function: string }>>('jobs.list_jobs');
    expect(jobs['20240131120000000001']?.Function).toBe('test.echo');
    expect(Object.values(jobs).some((job) => job.Function === 'cmd.run')).toBe(true);
    expect(await run('jobs.list_jobs', 'search_function=test.ec*')).toHaveProperty('20240131120000000001');
  });

  it('loses nothing while the database is down, and writes it in order, once, when it is back', async () => {
    await db().pause();
    const before = Date.now();
    for (let n = 0; n < 8; n++) expect((await fleet.salt('m1', 'test.echo', `away ${n}`)).code).toBe(0);
    const perCommand = (Date.now() - before) / 8;
    expect(perCommand).toBeLessThan(5000);
    await eventually('the trouble to be noticed', async () => (await health()).spools['jobs-mysql']?.state === 'away');
    const away = await health();
    expect(away.spools['jobs-mysql']!.waiting).toBeGreaterThanOrEqual(8);
    expect(away.summary).toMatch(/jobs-mysql: away, \d+ waiting \(.+\)/);
    // What waits is found by those who ask.
    const jobs = await run<Record<string, { Arguments: unknown[] }>>('jobs.list_jobs', 'search_function=test.echo');
    expect(Object.values(jobs).filter((job) => String(job.Arguments[0]).startsWith('away'))).toHaveLength(8);
    await db().start();
    await eventually('everything to be delivered', async () => {
      const { spools } = await health();
      return Object.values(spools).every(({ state, waiting }) => state === 'delivering' && waiting <= 2);
    });
    await eventually('all rows', async () => (await echoes()).length >= 8);
    expect(await echoes()).toEqual(Array.from({ length: 8 }, (_, n) => `away ${n}`));
    const tags = (await db().sql("SELECT tag FROM salt_events WHERE tag LIKE 'halite/spool/%' ORDER BY id")).map(
      (row) => row['tag'],
    );
    expect(tags).toContain('halite/spool/jobs-mysql/away');
    await eventually('the event of the return', async () => {
      const [row] = await db().sql("SELECT count(*) AS n FROM salt_events WHERE tag = 'halite/spool/jobs-mysql/back'");
      return Number(row?.['n']) === 1;
    });
  });

  /** As the table has them: without an order of ours. */
  async function echoes(): Promise<string[]> {
    const rows = await db().sql("SELECT `return` FROM salt_returns WHERE fun = 'test.echo' AND `return` LIKE '%away%'");
    return rows.map((row) => JSON.parse(String(row['return'])) as string);
  }
});
