// Durable jobs are claimed once: by one of many at the same moment, and for good.
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
  it('gives a job to one of many deliveries that race, also between two daemons', async () => {
    const [first, second] = [await memory(), await memory()];
    const until = Date.now() + 60_000;
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? first : second).claim(jid, until)),
    );
    expect(claims.filter((claim) => claim === 'new')).toHaveLength(1);
    expect(claims.filter((claim) => claim === 'begun')).toHaveLength(49);
  });

  it('remembers after a restart what was begun and what was done', async () => {
    const until = Date.now() + 60_000;
    const before = await memory();
    await before.claim(jid, until);
    expect(await (await memory()).claim(jid, until)).toBe('begun');
    await before.done(jid, until);
    expect(await (await memory()).claim(jid, until)).toBe('done');
  });

  it('forgets what nobody delivers any more, and files that are damaged', async () => {
    const before = await memory();
    await before.claim(jid, Date.now() - 30 * 86_400_000);
    await before.claim('20260131235959000002', Date.now());
    writeFileSync(join(folder, 'halite/durable/20260131235959000003'), 'not a note');
    await memory();
    expect(readdirSync(join(folder, 'halite/durable'))).toEqual(['20260131235959000002']);
  });

  it('takes no file name from a job id that is none', async () => {
    expect(await (await memory()).claim('../../etc/passwd', 1)).toBe('new');
    expect(readdirSync(join(folder, 'halite/durable'))).toEqual([]);
  });
});
