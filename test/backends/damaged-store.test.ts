// A job store whose file is damaged or deleted: a new one replaces it, and queued writes are not lost.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict } from '../../src/base/codec/value.ts';
import { generateJid } from '../../src/base/util/jid.ts';
import type { JobStore } from '../../src/store/jobs.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { eventually } from '../support/eventually.ts';
import { job, ret } from '../support/job-records.ts';

describe('a damaged SQLite store', () => {
  let folder: string;
  const said: string[] = [];
  const open = (): Promise<JobStore> =>
    SqliteJobStore.open(join(folder, 'jobs.db'), { news: (_level, text, { aside }) => said.push(`${text} ${aside}`) });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'halite-store-'));
    said.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is renamed at the start and a new one is created', async () => {
    writeFileSync(join(folder, 'jobs.db'), 'this is no database, but it was one once\n'.repeat(200));
    const store = await open();
    const jid = generateJid();
    expect(await store.saveReturn(ret(jid, 'a'))).toBe('stored');
    expect((await store.returns(jid)).size).toBe(1);
    expect(said).toEqual([expect.stringMatching(/damaged: the old file was renamed.*jobs\.db\.damaged-\d{14}/)]);
    expect(store.health().moved).toMatch(/damaged-/);
    await store.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('jobs.db.damaged-'))).toHaveLength(1);
  });

  it('that is deleted is replaced too', async () => {
    let store = await open();
    const jid = generateJid();
    for (let at = 0; at < 400; at++) await store.saveReturn(ret(jid, `m${at}`, 'x'.repeat(2000)));
    await store.close();
    const file = join(folder, 'jobs.db');
    const bytes = readFileSync(file);
    bytes.fill(0xff, Math.floor(bytes.length / 2));
    writeFileSync(file, bytes);
    store = await open();
    await store.saveReturn(ret(generateJid(), 'a')).catch(() => undefined);
    rmSync(file);
    await store.returns(jid).catch(() => undefined);
    const ids = Array.from({ length: 20 }, (_, at) => `n${at}`);
    expect(await Promise.all(ids.map((id) => store.saveReturn(ret(jid, id))))).toEqual(ids.map(() => 'stored'));
    expect((await store.returns(jid)).size).toBe(20);
    await store.close();
  });

  it('that was removed is written again, with its whole content', async () => {
    const store = await open();
    const jid = generateJid();
    await store.saveJob(job(jid));
    await store.saveReturn(ret(jid, 'a'));
    rmSync(folder, { recursive: true });
    await store.saveReturn(ret(jid, 'b'));
    // As the master does by the clock.
    await store.clean({ keepSeconds: 0, maxBytes: 0 }).catch(() => undefined);
    await store.saveReturn(ret(jid, 'c'));
    await eventually('the new file to be reported', () => said.length > 0);
    expect([...(await store.returns(jid)).keys()].sort()).toEqual(['a', 'b', 'c']);
    expect(said).toEqual([expect.stringContaining('written again')]);
    expect(statSync(join(folder, 'jobs.db')).mode & 0o777).toBe(0o600);
    await store.close();
    const again = await open();
    expect((await again.returns(jid)).size).toBe(3);
    await again.close();
  });

  it('is replaced while it runs; queued writes are not lost, and minion data stays', async () => {
    let store = await open();
    await store.saveMinionData('a', { grains: newDict([['os', 'Debian']]), pillar: newDict() });
    const jid = generateJid();
    for (let at = 0; at < 400; at++) await store.saveReturn(ret(jid, `m${at}`, 'x'.repeat(2000)));
    await store.close();
    // Pages of the results, not the first ones.
    const file = join(folder, 'jobs.db');
    const bytes = readFileSync(file);
    bytes.fill(0xff, Math.floor(bytes.length / 2));
    writeFileSync(file, bytes);
    store = await open();
    const ids = Array.from({ length: 300 }, (_, at) => `n${at}`);
    await Promise.all(ids.map((id) => store.saveReturn(ret(jid, id))));
    await store.returns(jid).catch(() => undefined);
    await eventually('the store to be replaced', () => said.length > 0);
    await Promise.all(ids.map((id) => store.saveReturn(ret(jid, `${id}-later`))));
    expect((await store.returns(jid)).size).toBeGreaterThanOrEqual(300);
    expect((await store.loadMinionData()).get('a')?.grains).toMatchObject({ os: 'Debian' });
    await store.close();
  });
});
