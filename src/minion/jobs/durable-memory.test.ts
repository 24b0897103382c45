// Durable jobs are claimed once: by one of many concurrent deliveries, and permanently.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DurableMemory } from './durable-memory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-durable-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const jid = '20260131235959000001';
const memory = async (): Promise<DurableMemory> => {
  const made = new DurableMemory(folder);
  await made.prepare();
  return made;
};

describe('DurableMemory', () => {
  it('gives a job to one of many concurrent deliveries, also between two daemons', async () => {
    const [first, second] = [await memory(), await memory()];
    const until = Date.now() + 60_000;
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? first : second).claim(jid, until)),
    );
    expect(claims.filter((claim) => claim === 'new')).toHaveLength(1);
    expect(claims.filter((claim) => claim === 'begun')).toHaveLength(49);
  });

  it('knows after a restart what was started and what was finished', async () => {
    const until = Date.now() + 60_000;
    const before = await memory();
    await before.claim(jid, until);
    expect(await (await memory()).claim(jid, until)).toBe('begun');
    await before.done(jid, until);
    expect(await (await memory()).claim(jid, until)).toBe('done');
  });

  it('removes what is no longer delivered, and files that are damaged', async () => {
    const before = await memory();
    await before.claim(jid, Date.now() - 30 * 86_400_000);
    await before.claim('20260131235959000002', Date.now());
    writeFileSync(join(folder, 'halite/durable/20260131235959000003'), 'not a note');
    await memory();
    expect(readdirSync(join(folder, 'halite/durable'))).toEqual(['20260131235959000002']);
  });

  it('creates no file for an invalid job id', async () => {
    expect(await (await memory()).claim('../../etc/passwd', 1)).toBe('new');
    expect(readdirSync(join(folder, 'halite/durable'))).toEqual([]);
  });
});
