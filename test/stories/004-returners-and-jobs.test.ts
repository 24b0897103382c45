// Story 004: results kept in MySQL for audit, by minions and by the master; then the life of jobs: found, killed, looked up.
// Commands and SQL are those of the story, with its minions; only ports and folders are private.
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { type MariaDb, startMariaDb } from '../support/servers/mariadb.ts';

const minions = ['192.168.153.141', '192.168.153.142', '192.168.153.136'] as const;
const [first] = minions;
let fleet: Deployment;
let database: MariaDb | undefined;

/** `mysql` as in the story: vertical rows for `\G`, and on after an error, as a terminal does. */
function mysql(...statements: string[]): string {
  const where = ['--no-defaults', '-h127.0.0.1', `-P${database!.port}`, '-uroot', '--force'];
  const { stdout, stderr } = spawnSync('mariadb', where, { input: `${statements.join('\n')}\n`, encoding: 'utf8' });
  return `${stdout}${stderr}`;
}

/** The rows of `select * …\G`. */
function rows(statement: string): Record<string, string>[] {
  return mysql(`${statement}\\G`)
    .split(/^\*+ \d+\. row \*+$/m)
    .slice(1)
    .map((block) =>
      Object.fromEntries([...block.matchAll(/^ *(\w+): (.*)$/gm)].map((found) => [found[1]!, found[2]!])),
    );
}

const config = () => Object.entries(database!.options).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
const procFolder = (id: string) => fleet.path(id, 'cache', 'proc');
const procFiles = (id: string) => (existsSync(procFolder(id)) ? readdirSync(procFolder(id)) : []);
const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';
/** Without a database there is no story; that is said when it cannot be installed. */
const story = (name: string, run: () => Promise<void> | void) =>
  it(name, async (context) => (database ? run() : context.skip()));

beforeAll(async () => {
  database = await startMariaDb('none');
  if (!database) return;
  fleet = await Deployment.create();
  await fleet.startMaster();
  for (const id of minions) fleet.startMinion(id, halite, config().join('\n'));
  await fleet.answering(...minions);
});
afterAll(async () => {
  await fleet?.destroy();
  await database?.stop();
});

describe('1. return', () => {
  story('sys.list_returners has those of the story and more, without anything to install', async () => {
    const { [first]: names } = (await fleet.json(first, 'sys.list_returners')) as Record<string, string[]>;
    expect(names).toEqual([...names!].sort());
    const told = `carbon couchdb elasticsearch etcd highstate hipchat local local_cache mattermost multi_returner pushover
      rawfile_json slack smtp splunk sqlite3 syslog telegram`;
    expect(names).toEqual(expect.arrayContaining([...told.split(/\s+/), 'mysql']));
  });

  story('the tables are made as written', () => {
    mysql(readFileSync(new URL('../fixtures/returners/story-004.sql', import.meta.url), 'utf8'));
    const tables = mysql('use salt;', 'show tables;').trim().split('\n');
    expect(tables).toEqual(['Tables_in_salt', 'jids', 'salt_events', 'salt_returns']);
  });

  story("salt '192.168.153.141' test.ping --return mysql", async () => {
    const { stdout } = await fleet.salt(first, 'test.ping', '--return', 'mysql');
    expect(stdout).toBe(`${first}:\n    True\n`);
    await eventually('the row', () => rows('select * from salt.salt_returns').length > 0);
    const [row, ...more] = rows('select * from salt.salt_returns');
    expect(more).toEqual([]);
    expect(row).toMatchObject({ fun: 'test.ping', return: 'true', id: first, success: '1' });
    expect(Object.keys(row!)).toEqual(['fun', 'jid', 'return', 'id', 'success', 'full_ret', 'alter_time']);
    expect(row!['jid']).toMatch(/^20\d{18}$/);
    expect(JSON.parse(row!['full_ret']!)).toMatchObject({
      ...{ fun_args: [], jid: row!['jid'], return: true, retcode: 0, success: true, fun: 'test.ping', id: first },
    });
    expect(JSON.parse(row!['full_ret']!)).not.toHaveProperty('cmd');
  });

  story(
    'a returner that does not exist or cannot be reached takes nothing away: the result is there, the log says why',
    async () => {
      const { stdout } = await fleet.salt(first, 'test.echo', 'still here', '--return', 'mysqll');
      expect(stdout).toBe(`${first}:\n    still here\n`);
      const log = () => readFileSync(fleet.path('log', `${first}.out`), 'utf8');
      await eventually('the log', () => log().includes("Did you mean 'mysql'?"));
      await fleet.salt(first, 'test.ping', '--return', 'mysql', '--return_kwargs', "{'port': 1, 'host': '127.0.0.1'}");
      await eventually('the log', () => /The return failed for job 20\d{18}: .*127\.0\.0\.1:1/.test(log()));
    },
  );

  story('salt-call --return mysql', async () => {
    const call = startProgram(join(halite.bin, 'salt-call'), [
      ...['-c', fleet.path(first, 'etc'), '--local', '--return', 'mysql', 'test.echo', 'by salt-call'],
    ]);
    expect((await call.done).stdout).toContain('by salt-call');
    const [row] = rows("select * from salt.salt_returns where fun = 'test.echo'");
    expect(row).toMatchObject({ return: '"by salt-call"', id: first, success: '1' });
  });
});

describe('2.2 jobs', () => {
  story('a job has a file of its id below proc while it works', async () => {
    const done = fleet.salt(first, 'cmd.run', 'sleep 100', '--async');
    const jid = jidIn((await done).stdout);
    await eventually('the proc file', () => procFiles(first).includes(jid));
    const text = readFileSync(join(procFolder(first), jid), 'latin1');
    for (const word of ['tgt_type', 'glob', jid, first, 'user', 'root', 'sleep 100', 'cmd.run'])
      expect(text).toContain(word);
    await fleet.salt(first, 'saltutil.kill_job', jid);
    await eventually('the file to go', () => !procFiles(first).includes(jid));
  });

  story('Ctrl-C says how to go on; find_job, kill_job', async () => {
    const args = ['-c', fleet.masterConfigDir, first, 'cmd.run', 'sleep 1000;echo hehe'];
    const command = startProgram(join(halite.bin, 'salt'), args);
    await eventually('the job', () => procFiles(first).length === 1);
    process.kill(command.pid, 'SIGINT');
    const { stdout, stderr } = await command.done;
    const jid = jidIn(`${stdout}${stderr}`);
    expect(`${stdout}${stderr}`).toContain(`Exiting gracefully on Ctrl-c\nThis job's jid is: ${jid}\n`);
    expect(`${stdout}${stderr}`).toContain(`salt-run jobs.lookup_jid ${jid}`);
    expect(procFiles(first)).toEqual([jid]);
    const { [first]: found } = (await fleet.json(first, 'saltutil.find_job', jid)) as Record<string, { pid: number }>;
    expect(found).toEqual({
      ...{ arg: ['sleep 1000;echo hehe'], fun: 'cmd.run', jid, pid: expect.any(Number), ret: '', tgt: first },
      ...{ tgt_type: 'glob', user: expect.any(String) },
    });
    const killed = await fleet.json(first, 'saltutil.kill_job', jid);
    expect(killed[first]).toBe(`Signal 9 sent to job ${jid} at pid ${found!.pid}`);
    await eventually(
      'the job to end',
      async () => Object.keys((await fleet.json(first, 'saltutil.find_job', jid))[first] as object).length === 0,
    );
  });

  story(
    "salt '*' saltutil.runner jobs.list_jobs, and where there is no master the reason instead of a traceback",
    async () => {
      // The third minion lives beside the master, as in the story.
      copyFileSync(fleet.path('etc/master'), fleet.path(minions[2], 'etc/master'));
      const { stdout } = await fleet.salt('*', 'saltutil.runner', 'jobs.list_jobs');
      const reason = 'This command can only be executed on a minion that is located on the master.';
      for (const id of minions.slice(0, 2)) expect(stdout).toMatch(new RegExp(`^${id}:\n    .*${reason}`, 'm'));
      const entry = [
        '    20\\d{18}:',
        ...['    ----------', '    Arguments:', '        - sleep 1000;echo hehe', '    Function:', '        cmd.run'],
        ...[
          '    StartTime:',
          '        20\\d\\d, \\w{3} \\d\\d \\d\\d:\\d\\d:\\d\\d.\\d{6}',
          '    Target:',
          '        192.168.153.141',
        ],
        ...['    Target-type:', '        glob', '    User:', '        root'],
      ];
      expect(stdout).toMatch(new RegExp(entry.join('\n    ')));
    },
  );
});

describe('2.1 job cache', () => {
  story('the master keeps everything in the database: master_job_cache: mysql', async () => {
    await fleet.master.stop();
    appendFileSync(fleet.path('etc/master'), ['master_job_cache: mysql', ...config(), ''].join('\n'));
    await fleet.startMaster();
    await fleet.answering(...minions);
    mysql('delete from salt.salt_returns;');
  });

  story("salt '*' cmd.run 'ls …'", async () => {
    const { stdout } = await fleet.salt('*', 'cmd.run', `ls ${fleet.path('srv')}`);
    for (const id of minions) expect(stdout).toContain(`${id}:\n    pillar\n    salt\n`);
    const kept = () => rows("select * from salt.salt_returns where fun = 'cmd.run'");
    await eventually('three rows', () => kept().length === 3);
    expect(
      kept()
        .map((row) => row['id'])
        .sort(),
    ).toEqual([...minions].sort());
    for (const row of kept()) {
      expect(row).toMatchObject({ return: '"pillar\\nsalt"', success: '1', jid: kept()[0]!['jid'] });
      expect(JSON.parse(row['full_ret']!)).toMatchObject({
        ...{ fun_args: [`ls ${fleet.path('srv')}`], cmd: '_return', retcode: 0, success: true, id: row['id'] },
        _stamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      });
    }
    const [job] = rows(`select * from salt.jids where jid = '${kept()[0]!['jid']}'`);
    expect(JSON.parse(job!['load']!)).toMatchObject({ fun: 'cmd.run', tgt: '*', tgt_type: 'glob', user: 'root' });
  });

  story("2.2.3 salt '*' cmd.run 'uptime' -v, then salt-run jobs.lookup_jid", async () => {
    const { stdout } = await fleet.salt('*', 'cmd.run', 'uptime', '-v');
    const jid = jidIn(stdout);
    expect(stdout).toMatch(new RegExp(`^Executing job with jid ${jid}\n-{43}\n\n`));
    const looked = await fleet.run('salt-run', ['jobs.lookup_jid', jid]);
    for (const id of minions) expect(looked.stdout).toMatch(new RegExp(`^${id}:\n .* up .*load average`, 'm'));
  });

  story('the runner is in the database too, and its success is right', async () => {
    const kept = () => rows("select * from salt.salt_returns where fun = 'runner.jobs.lookup_jid'");
    await eventually('the row of the runner', () => kept().length > 0);
    const [row] = kept();
    expect(row).toMatchObject({ id: expect.stringMatching(/_master$/), success: '1' });
    expect(JSON.parse(row!['return']!)).toMatchObject({ success: true, fun: 'runner.jobs.lookup_jid', user: 'root' });
  });
});
