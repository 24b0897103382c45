// The life of jobs in random orders: a quick look in every test run; `npm run fuzz -- --target job-life-cycle` looks longer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { SqliteJobStore } from '../../../src/store/sqlite/store.ts';
import { type Event, nameOf, play } from './life-cycle.ts';
import { MemoryStore } from './memory-store.ts';

const byte = fc.integer({ min: 0, max: 255 });
const lives = fc.array(fc.tuple(byte, byte, byte) as fc.Arbitrary<Event>, { minLength: 3, maxLength: 30 });
/** Another seed, for a longer look by hand. */
const seed = Number(process.env['HALITE_SEED'] ?? 20261116);

/** What failed, in words: the shrunken list of events is what one wants to read. */
async function playNamed(store: MemoryStore | SqliteJobStore, events: readonly Event[]): Promise<void> {
  try {
    await play(store, events);
  } catch (error) {
    throw new Error(`${String(error)}\n${events.map(nameOf).join('\n')}`, { cause: error });
  }
}

describe(`the balance of every job closes (seed ${seed})`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'halite-life-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('with a store in memory', async () => {
    await fc.assert(
      fc.asyncProperty(lives, (events) => playNamed(new MemoryStore(), events)),
      { seed, numRuns: 60 },
    );
  });

  it('with the real store', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(lives, async (events) => {
        const store = await SqliteJobStore.open(join(folder, `${++count}.db`));
        try {
          await playNamed(store, events);
        } finally {
          await store.close();
        }
      }),
      { seed, numRuns: 8 },
    );
    expect(count).toBeGreaterThan(0);
  });
});
