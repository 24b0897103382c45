// Minions that write their results themselves, one for which the master does it, and events gathered for a file.
import { existsSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { jsonLines } from '../support/json-lines.ts';

describe('ext_job_cache, return_via_master and event_return', () => {
  let fleet: Deployment;
  const file = (): string => fleet.path('jobs.sqlite');
  const rows = (jid: string): { id: string; full_ret: string }[] => {
    if (!existsSync(file())) return [];
    const db = new Database(file(), { readonly: true });
    try {
      return db.prepare('SELECT id, full_ret FROM salt_returns WHERE jid = ? ORDER BY id').all(jid) as never;
    } finally {
      db.close();
    }
  };
  const run = async (...args: string[]): Promise<Record<string, unknown>> =>
    JSON.parse((await fleet.run('salt-run', [...args, '--out=json'])).stdout) as Record<string, unknown>;

  beforeAll(async () => {
    fleet = await Deployment.create();
    const lines = [
      'ext_job_cache: sqlite3',
      `sqlite3.database: ${file()}`,
      'event_return: rawfile_json',
      `rawfile_json.filename: ${fleet.path('events.jsonl')}`,
      "event_return_whitelist: ['salt/job/*/new']",
      'event_return_queue: 3',
      // However long these tests take: only the number decides.
      'event_return_queue_max_seconds: 3600',
    ];
    writeFileSync(fleet.path('etc/master.d/keep.conf'), `${lines.join('\n')}\n`);
    await fleet.startMaster();
    fleet.startMinion('own', undefined, `sqlite3.database: ${file()}`);
    fleet.startMinion('via', undefined, 'return_via_master: true');
    await fleet.answering('own', 'via');
  });
  afterAll(() => fleet.destroy());

  it('has the results of both minions in the database, once each, and finds them there', async () => {
    const before = Object.keys(await run('jobs.list_jobs')).length;
    await fleet.salt('*', 'test.echo', 'kept elsewhere');
    const jobs = await run('jobs.list_jobs', 'search_function=test.echo');
    expect(Object.keys(await run('jobs.list_jobs'))).toHaveLength(before + 1);
    const jid = Object.keys(jobs).at(-1)!;
    await eventually('both rows', () => rows(jid).length === 2, { describe: () => JSON.stringify(rows(jid)) });
    expect(rows(jid)).toEqual([
      { id: 'own', full_ret: '"kept elsewhere"' },
      { id: 'via', full_ret: '"kept elsewhere"' },
    ]);
    expect(await run('jobs.lookup_jid', jid, 'ext_source=sqlite3')).toEqual({
      own: 'kept elsewhere',
      via: 'kept elsewhere',
    });
    expect(await run('jobs.list_job', jid, 'ext_source=sqlite3')).toMatchObject({ Function: 'test.echo' });
    const health = await run('jobs.health');
    expect(Object.keys(health['spools'] as object).sort()).toEqual([
      'events-rawfile_json',
      'jobs-sqlite3',
      'via-sqlite3',
    ]);
  });

  it('answers history queries, and shows the position of a syntax error', async () => {
    const { jobs } = (await run('jobs.query', 'fun=test.echo and success minion=v* since 1h')) as {
      jobs: Record<string, { Minions: object }>;
    };
    expect(Object.values(jobs).map((job) => job.Minions)).toEqual([{ via: 'success' }]);
    const rows = await run('jobs.query', '--sql', "SELECT count(*) AS n FROM salt_returns WHERE fun = 'test.echo'");
    expect(rows).toEqual([{ n: 2 }]);
    const events = await run('jobs.query', "sql=SELECT tag FROM salt_events WHERE tag LIKE 'salt/job/%/ret/via'");
    expect(events.length).toBeGreaterThan(0);
    const wrong = await fleet.run('salt-run', ['jobs.query', 'fun=x and (failed']);
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain("a ')' is missing\n  fun=x and (failed\n                   ^");
    expect(await run('salt.cmd', 'test.echo', 'on the master')).toBe('on the master');
    expect(await run('jobs.master')).toEqual([]);
  });

  it('collects events of event_return in batches of three', async () => {
    const events = () => jsonLines<{ tag: string }>(fleet.path('events.jsonl'));
    const waiting = async (): Promise<number> => {
      const { spools } = (await run('jobs.health')) as { spools: Record<string, { waiting: number }> };
      return spools['events-rawfile_json']!.waiting;
    };
    await eventually('fewer than three to be left', async () => (await waiting()) < 3);
    const stored = events().length;
    for (let left = await waiting(); left < 2; left++) {
      await fleet.salt('own', 'test.ping', '--async');
      await eventually('one more to wait', async () => (await waiting()) === left + 1);
      expect(events().length).toBe(stored);
    }
    await fleet.salt('own', 'test.ping', '--async');
    await eventually('three more', () => events().length >= stored + 3);
    expect(events().length).toBe(stored + 3);
    for (const { tag } of events()) expect(tag).toMatch(/^salt\/job\/\d{20}\/new$/);
  });
});
