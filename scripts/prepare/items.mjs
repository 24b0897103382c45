// Items of the preparation: each is checked, created when it is missing, and recorded with the reason when it is not
// available.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * An item is `{ name, tiers, need, isThere(), make() }`.
 *
 * - `tiers`: who uses it; `all` is every tier.
 * - `need`: `required` means that its absence is a failure where everything is required; `where there is` means that there
 *   are machines that cannot have it by any means, so that its absence is only told.
 * - `make()` throws an error whose message says why it cannot be had.
 */
export const isFor = (item, tiers) => item.tiers.includes('all') || item.tiers.some((tier) => tiers.includes(tier));

/** The folder in which test runs keep what takes long to install; test/support/build-once.ts reads the same. */
export const testCache = process.env.HALITE_TEST_CACHE ?? join(homedir(), '.cache', 'halite-test');
const file = join(testCache, 'prepared.json');

/** What is missing by its name: `{ need, tiers, why }`. */
export function missingItems() {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).missing;
  } catch {
    return {};
  }
}

/** Records that an item exists, or why it is not available. */
export function remember(item, why) {
  const missing = missingItems();
  delete missing[item.name];
  if (why !== undefined) missing[item.name] = { need: item.need, tiers: item.tiers, why };
  mkdirSync(testCache, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ missing }, null, 2)}\n`);
}

/** Checks one item and creates it when it is missing, with a line that shows how long that took. */
export async function prepare(item) {
  if (await item.isThere()) {
    if (missingItems()[item.name]) remember(item);
    return;
  }
  const why = await timed(item.name, () => item.make());
  remember(item, why);
}

/** Does one task and prints its name and duration; returns the reason when it failed. */
export async function timed(name, work) {
  console.log(`   ${name} …`);
  const started = Date.now();
  let why;
  try {
    await work();
  } catch (error) {
    why = error.message.trim();
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`   ${name}: ${why === undefined ? 'ready' : 'FAILED'} (${seconds} s)`);
  if (why !== undefined) console.log(why.replaceAll(/^/gm, '      '));
  return why;
}

/** The lines of the table of what is missing for these tiers; empty when nothing is missing. */
export function tableOfMissing(tiers) {
  const rows = Object.entries(missingItems())
    .filter(([, item]) => isFor(item, tiers))
    .map(([name, { need, why }]) => [name, need, why.split('\n').at(-1).slice(0, 160)]);
  if (rows.length === 0) return [];
  const all = [['missing', 'need', 'why'], ...rows];
  const width = (column) => Math.max(...all.map((row) => row[column].length));
  return all.map(([name, need, why]) => `${name.padEnd(width(0))}  ${need.padEnd(width(1))}  ${why}`);
}
