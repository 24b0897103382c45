// The job store conformance suite; every driver runs it against the real database.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dumpJson, type JsonText } from '../../src/base/codec/json/index.ts';
import { dictGet, dictOf, newDict, PyFloat, type Value } from '../../src/base/codec/value.ts';
import { generateJid } from '../../src/base/util/jid.ts';
import type { JobFilter } from '../../src/extend/sdk/context.ts';
import { listedJob } from '../../src/extend/sdk/shown-job.ts';
import type { JobStore, ReturnRecord } from '../../src/store/jobs.ts';
import { openDatabase } from '../../src/store/sqlite/driver.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { Reader } from '../../src/store/sqlite/workers.ts';
import { job, ret } from '../support/job-records.ts';

interface Driver {
  readonly name: string;
  open(folder: string): Promise<JobStore>;
}
const drivers: Driver[] = [{ name: 'sqlite', open: (folder) => SqliteJobStore.open(join(folder, 'jobs.db')) }];

describe.each(drivers)('job store on $name', ({ open }) => {
  let folder: string;
  let store: JobStore;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'halite-store-'));
    store = await open(folder);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('returns what was stored', async () => {
    const jid = generateJid();
    await store.saveJob(job(jid));
    expect(await store.saveReturn(ret(jid, 'a', { deep: ['ünïcode', 1.5, null, { x: 2 }] }))).toBe('stored');
    expect((await store.load(jid)) as object).toMatchObject({ fun: 'test.ping', jid });
    expect(await store.expected(jid)).toEqual(['a', 'b']);
    const returns = await store.returns(jid);
    expect([...returns.keys()]).toEqual(['a']);
    expect(returns.get('a')).toMatchObject({ return: { deep: ['ünïcode', 1.5, null, { x: 2 }] }, retcode: 0 });
  });

  it('keeps the first of two deliveries', async () => {
    const jid = generateJid();
    await store.saveReturn(ret(jid, 'a', 'first'));
    expect(await store.saveReturn(ret(jid, 'a', 'second'))).toBe('duplicate');
    expect((await store.returns(jid)).get('a')).toMatchObject({ return: 'first' });
  });

  it('has every acknowledged return after a restart, once', async () => {
    const jid = generateJid();
    const ids = Array.from({ length: 2000 }, (_, at) => `minion-${at}`);
    await Promise.all(ids.map((id) => store.saveReturn(ret(jid, id))));
    await store.close();
    store = await open(folder);
    expect((await store.returns(jid)).size).toBe(2000);
  });

  it('lists newest first, filters, and leaves internal jobs out unless asked', async () => {
    const jids = Array.from({ length: 4 }, () => generateJid());
    await store.saveJob(job(jids[0]!));
    await store.saveJob(job(jids[1]!, { fun: 'cmd.run', tgt: 'web*' }));
    await store.saveJob(job(jids[2]!, { fun: 'saltutil.find_job', internal: true }));
    await store.saveJob(job(jids[3]!, { fun: 'state.apply' }));
    const found = async (filter: Parameters<JobStore['list']>[0]): Promise<string[]> =>
      (await store.list(filter)).map((item) => item.jid);
    expect(await found({})).toEqual([jids[3], jids[1], jids[0]]);
    expect(await found({ internal: true })).toHaveLength(4);
    expect(await found({ functions: ['cmd.*', 'state.apply'] })).toEqual([jids[3], jids[1]]);
    expect(await found({ targets: ['web?'] })).toEqual([jids[1]]);
    expect(await found({ limit: 1 })).toEqual([jids[3]]);
    expect(await found({ startAfter: new Date(Date.now() + 60_000) })).toEqual([]);
  });

  it('separates runs that minions reported from jobs of the master', async () => {
    const told = (user: string, fun: string) => {
      const load = newDict(Object.entries({ cmd: '_return', fun, user }));
      return { user, fun, load, expected: ['evil'], adopted: true };
    };
    const [published, free] = [generateJid(), generateJid()];
    await store.saveJob(job(published, { user: 'alice' }));
    const before = await store.load(published);
    for (const user of ['alice', 'evil']) await store.saveJob(job(published, told(user, 'cmd.run')));
    expect(await store.load(published)).toEqual(before);
    // The first report stays, until the master publishes with that jid.
    await store.saveJob(job(free, told('evil', 'cmd.run')));
    await store.saveJob(job(free, told('evil', 'cmd.shell')));
    expect(await store.load(free)).toMatchObject({ fun: 'cmd.run' });
    await store.saveJob(job(free, { user: 'alice', fun: 'test.ping' }));
    expect(await store.load(free)).toMatchObject({ fun: 'test.ping' });
    expect(await store.expected(free)).not.toContain('evil');
  });

  it('does not let another user overwrite a job', async () => {
    const jid = generateJid();
    await store.saveJob(job(jid, { user: 'alice' }));
    await store.saveJob(job(jid, { user: 'mallory', load: newDict([['fun', 'cmd.run']]) }));
    expect(await store.load(jid)).toMatchObject({ fun: 'test.ping' });
    await store.saveJob(job(jid, { user: 'alice', expected: ['a', 'b', 'c'] }));
    expect(await store.expected(jid)).toEqual(['a', 'b', 'c']);
  });

  it('finds jobs whose minions have neither a result nor a reason', async () => {
    const [open, done, internal] = [generateJid(), generateJid(), generateJid()];
    const now = Date.now();
    const expected = ['returned', 'missing', 'noted', 'kept', 'waiting'];
    await store.saveJob(job(open, { expected, user: 'alice' }));
    await store.saveJob(job(done, { expected: ['a'] }));
    await store.saveJob(job(internal, { internal: true }));
    await store.saveJob(job(generateJid(), { started: now - 100_000 }));
    await store.saveReturn(ret(open, 'returned'));
    await store.saveReturn(ret(done, 'a'));
    const verdict = { jid: open, verdict: 'missing', text: '', evidence: newDict(), at: now };
    await store.saveVerdicts([
      { ...verdict, id: 'missing', reason: 'silent' },
      { ...verdict, id: 'noted', reason: '' },
    ]);
    await store.savePending([{ jid: open, id: 'kept', until: now + 1000 }]);
    const found = await store.unfinished({ from: now - 50_000, to: Date.now(), most: 10 });
    expect(found).toEqual([{ jid: open, fun: 'test.ping', user: 'alice', ids: ['noted', 'waiting'] }]);
  });

  it('stores verdicts and minion data', async () => {
    const jid = generateJid();
    const evidence = newDict([['last_contact', 'yesterday']]);
    await store.saveVerdicts([
      { jid, id: 'b', verdict: 'missing', reason: 'silent', text: 'nothing heard', evidence, at: 5 },
    ]);
    expect(await store.verdicts(jid)).toMatchObject([
      { id: 'b', reason: 'silent', evidence: { last_contact: 'yesterday' } },
    ]);
    await store.saveMinionData('a', { grains: newDict([['os', 'Debian']]), pillar: newDict() });
    expect((await store.loadMinionData()).get('a')?.grains).toMatchObject({ os: 'Debian' });
    await store.dropMinionData('a');
    expect((await store.loadMinionData()).size).toBe(0);
  });

  it('removes whole jobs by age', async () => {
    const [old, fresh] = [generateJid(), generateJid()];
    await store.saveJob(job(old, { started: Date.now() - 3_600_000 }));
    await store.saveReturn(ret(old, 'a'));
    await store.saveJob(job(fresh));
    expect(await store.clean({ keepSeconds: 60, maxBytes: 0 })).toEqual({ jobs: 1 });
    expect((await store.list({})).map((item) => item.jid)).toEqual([fresh]);
    expect((await store.returns(old)).size).toBe(0);
  });

  it('answers SQL over the views of Salt', async () => {
    const jid = generateJid();
    await store.saveJob(job(jid));
    await store.saveReturn(ret(jid, 'a', 'hello'));
    const rows = await store.query('SELECT fun, id, success, "return" FROM salt_returns WHERE jid = ?', [jid]);
    expect(rows).toEqual([{ fun: 'test.ping', id: 'a', success: '1', return: '"hello"' }]);
    await expect(store.query('DELETE FROM job')).rejects.toThrow();
    await expect(store.query('DELETE FROM job RETURNING jid')).rejects.toThrow(/readonly/);
    expect(await store.load(jid)).toBeDefined();
  });

  it('keeps the newest events, and results only once', async () => {
    const jid = generateJid();
    await store.saveReturn(ret(jid, 'a', 'hello'));
    await store.saveEvents([
      ...Array.from({ length: 20 }, (_, n) => ({ tag: `test/${n}`, data: newDict([['n', n]]), at: Date.now() })),
      { tag: `salt/job/${jid}/ret/a`, data: null, jid, id: 'a', at: Date.now() },
    ]);
    await store.clean({ keepSeconds: 0, maxBytes: 0, keepEvents: 2 });
    const rows = await store.query('SELECT * FROM salt_events ORDER BY id');
    expect(rows.map((row) => Object.keys(row))[0]).toEqual(['id', 'tag', 'data', 'alter_time', 'master_id']);
    expect(rows).toMatchObject([
      { tag: 'test/19', data: '{"n": 19}', master_id: 'master' },
      { tag: `salt/job/${jid}/ret/a` },
    ]);
    expect(JSON.parse(String((rows[1] as Record<string, unknown>)['data']))).toMatchObject({
      return: 'hello',
      id: 'a',
    });
  });

  it('removes the oldest jobs above a size, and results without a job by age', async () => {
    const old = generateJid();
    for (let at = 0; at < 30; at++) {
      const jid = generateJid();
      await store.saveJob(job(jid, { started: Date.now() - 100_000 + at }));
      await Promise.all(['a', 'b'].map((id) => store.saveReturn(ret(jid, id, 'x'.repeat(20_000)))));
    }
    await store.saveReturn(ret('20200131235959000001', 'a', 'forgotten'));
    const { jobs } = await store.clean({ keepSeconds: 86_400, maxBytes: 600_000 });
    expect(jobs).toBeGreaterThan(15);
    const left = await store.list({});
    expect(left).toHaveLength(31 - jobs);
    expect(left.at(-1)!.jid > old).toBe(true);
    expect((await store.returns(left[0]!.jid)).size).toBe(2);
    expect((await store.returns('20200131235959000001')).size).toBe(0);
  });

  it('is private', () => {
    expect(statSync(join(folder, 'jobs.db')).mode & 0o077).toBe(0);
  });
});

describe('the precomputed rows of the SQLite store', () => {
  let folder: string;
  let store: JobStore;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'halite-store-'));
    store = await SqliteJobStore.open(join(folder, 'jobs.db'));
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Jobs whose results were not all plain JSON. */
  const odd = new Set<string>();
  /** The list made from the jobs themselves. */
  const listed = async (filter: JobFilter): Promise<string> =>
    dumpJson(newDict((await store.list(filter)).reverse().map(({ jid, load }) => [jid, listedJob(jid, load)])));
  const returned = async (jid: string): Promise<string> => {
    const entries = [...(await store.returns(jid))].map(([id, load]) => [id, dictGet(load, 'return') ?? null] as const);
    return dumpJson(dictOf(entries));
  };
  const asText = (text: JsonText | undefined): string | undefined => text && dumpJson(text.data());
  async function compare(jids: readonly string[]): Promise<void> {
    const middle = new Date('2026-01-01T00:00:04.500Z');
    const filters: JobFilter[] = [
      ...[{}, { limit: 3 }, { startAfter: middle }, { startBefore: middle, limit: 2 }],
      ...[{ functions: ['fu?', 'x'] }, { functions: ['no'] }, { targets: ['web[!2-9]'] }, { targets: ['"', 'tgt'] }],
      { metadata: dictOf([['a', 1]]) },
      { metadata: dictOf([['a', 'x']]), functions: ['f*'], limit: 1, startAfter: middle },
    ];
    for (const filter of filters) {
      const text = await store.listText(filter);
      expect(asText(text)).toBe(await listed(filter));
      expect(text?.facts.entries).toBe((await store.list(filter)).length);
    }
    for (const jid of jids) {
      const text = await store.returnsText(jid);
      if (text) expect(asText(text)).toBe(await returned(jid));
      else expect(odd).toContain(jid);
    }
  }

  it('equals the jobs and results, after any writes and cleaning', async () => {
    const jids = Array.from({ length: 8 }, (_, n) => `2026010100000${n}000000`);
    const value = fc.oneof(
      fc.constantFrom<Value>(
        true,
        null,
        'é"\\\n',
        [],
        5,
        2.5,
        new PyFloat(3),
        2n ** 70n,
        Number.NaN,
        'NaN',
        '__proto__',
      ),
      fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('10', 'a')), fc.constantFrom<Value>(1, 'x', [{ b: 1 }])),
    ) as fc.Arbitrary<Value>;
    const step = fc.oneof(
      fc.record({
        do: fc.constant('job'),
        jid: fc.constantFrom(...jids),
        age: fc.nat(99),
        value,
        internal: fc.boolean(),
      }),
      fc.record({ do: fc.constant('ret'), jid: fc.constantFrom(...jids), id: fc.constantFrom('a', 'b', '7'), value }),
      fc.record({ do: fc.constant('clean'), age: fc.nat(99) }),
    );
    const run = async (each: {
      do: string;
      jid?: string;
      id?: string;
      age?: number;
      value?: Value;
      internal?: boolean;
    }) => {
      const { jid = '', id = '', age = 0, value: given = null, internal = false } = each;
      const started = 1_700_000_000_000 + age * 1000;
      const load = dictOf([
        ...['fun', 'user'].map((name) => [name, name] as const),
        ['tgt', age % 2 === 0 ? 'tgt' : [`web${age % 10}`, '"\\']],
        ['arg', [given]],
        ['metadata', given],
      ]);
      if (each.do === 'job') await store.saveJob(job(jid, { load, started, internal }));
      else if (each.do === 'ret' && /NaN/.test(dumpJson(given))) odd.add(jid);
      if (each.do === 'ret') await store.saveReturn({ ...ret(jid, id, given), received: age });
      else if (each.do === 'clean') await store.clean({ keepSeconds: (Date.now() - started) / 1000, maxBytes: 0 });
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const each of steps) await run(each);
        await compare(jids);
      }),
      { numRuns: 40 },
    );
  });

  it('names the outputter of the results, and skips those that must be parsed', async () => {
    const jid = generateJid();
    const formed = (id: string, out: string): ReturnRecord => {
      const record = ret(jid, id);
      return { ...record, load: newDict([...Object.entries(record.load), ['out', out]]) };
    };
    await store.saveReturn(ret(jid, 'plain'));
    expect((await store.returnsText(jid))?.facts).toEqual({ entries: 1 });
    await store.saveReturn(formed('a', 'highstate'));
    expect((await store.returnsText(jid))?.facts).toEqual({ entries: 2, outputter: 'highstate' });
    await store.saveReturn(formed('b', 'yaml'));
    expect(await store.returnsText(jid)).toBeUndefined();
    expect(await store.listText({ internal: true })).toBeUndefined();
  });

  it('is made for jobs of an earlier version', async () => {
    const jid = generateJid();
    await store.saveJob(job(jid));
    await store.saveJob(job(generateJid(), { internal: true }));
    await store.close();
    const old = await openDatabase(join(folder, 'jobs.db'));
    old.exec('DROP TABLE head; DROP TABLE odd; PRAGMA user_version = 2');
    old.exec('CREATE TABLE head (jid TEXT PRIMARY KEY, started INTEGER, plain INTEGER, text TEXT) WITHOUT ROWID');
    old.close();
    store = await SqliteJobStore.open(join(folder, 'jobs.db'));
    expect(asText(await store.listText({}))).toBe(await listed({}));
    expect((await store.listText({}))?.facts.entries).toBe(1);
  });
});

describe('queries of users', () => {
  const folder = mkdtempSync(join(tmpdir(), 'halite-store-'));
  const file = join(folder, 'jobs.db');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('end when they take too long, and the others are answered', async () => {
    (await openDatabase(file)).close();
    const reader = new Reader(file, () => {}, 1500);
    const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c';
    const late = expect(reader.query(endless)).rejects.toThrow('within 1.5 s');
    const other = reader.all('SELECT 5 AS five');
    await late;
    expect(await other).toEqual([{ five: 5 }]);
    await reader.close();
  });

  it('end when the answer would fill the memory', async () => {
    const reader = new Reader(file, () => {});
    const large =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, hex(zeroblob(5000)) AS y FROM c';
    await expect(reader.query(large)).rejects.toThrow('with LIMIT');
    expect(await reader.query(`${large} LIMIT 2`)).toHaveLength(2);
    await reader.close();
  });
});
