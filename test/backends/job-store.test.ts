// The job store conformance suite; every driver runs it against the real thing.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict } from '../../src/base/codec/value.ts';
import { generateJid } from '../../src/base/util/jid.ts';
import type { JobRecord, JobStore, ReturnRecord } from '../../src/store/jobs.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';

interface Driver {
  readonly name: string;
  open(folder: string): Promise<JobStore>;
}
const drivers: Driver[] = [{ name: 'sqlite', open: (folder) => SqliteJobStore.open(join(folder, 'jobs.db')) }];

function job(jid: string, extra: Partial<JobRecord> = {}): JobRecord {
  const load = newDict([
    ['fun', 'test.ping'],
    ['arg', []],
    ['tgt', '*'],
    ['jid', jid],
  ]);
  return {
    jid,
    fun: 'test.ping',
    tgt: '*',
    tgt_type: 'glob',
    user: 'root',
    load,
    expected: ['a', 'b'],
    started: Date.now(),
    internal: false,
    ...extra,
  };
}
function ret(jid: string, id: string, value: unknown = true): ReturnRecord {
  const load = newDict([
    ['jid', jid],
    ['id', id],
    ['return', value as never],
    ['retcode', 0],
    ['success', true],
  ]);
  return { jid, id, fun: 'test.ping', retcode: 0, success: true, load, received: Date.now() };
}

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

  it('gives back what was stored', async () => {
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

  it('remembers verdicts and minion data', async () => {
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

  it('answers SQL over the views people know', async () => {
    const jid = generateJid();
    await store.saveJob(job(jid));
    await store.saveReturn(ret(jid, 'a', 'hello'));
    const rows = await store.query('SELECT fun, id, success, "return" FROM salt_returns WHERE jid = ?', [jid]);
    expect(rows).toEqual([{ fun: 'test.ping', id: 'a', success: '1', return: 'hello' }]);
    await expect(store.query('DELETE FROM job')).rejects.toThrow();
    await expect(store.query('DELETE FROM job RETURNING jid')).rejects.toThrow(/readonly/);
    expect(await store.load(jid)).toBeDefined();
  });

  it('is private', () => {
    expect(statSync(join(folder, 'jobs.db')).mode & 0o077).toBe(0);
  });
});
