// The table that tests of faults print at the end, and line by line meanwhile.
import { writeSync } from 'node:fs';
import { expect } from 'vitest';
import type { Account, Load } from './cluster-load.ts';

const lines: string[] = [];

/** Adds a row; nothing may be lost, doubled or left open. */
export function addRow(row: number | string, name: string, seconds: number, account: Account): void {
  const { acknowledged, lost, doubled, open } = account;
  const numbers = [acknowledged, lost.length, doubled.length].map((count) => String(count).padStart(8));
  const line = `${String(row).padEnd(4)} ${name.padEnd(58)} ${numbers.join(' ')} ${seconds.toFixed(1).padStart(8)} s`;
  lines.push(line);
  if (process.env['HALITE_CLUSTER_LONG'] !== undefined) writeSync(1, `${line}\n`);
  const some = (all: readonly string[]): readonly string[] => all.slice(0, 10);
  expect({ lost: some(lost), doubled: some(doubled), open: some(open) }).toEqual({ lost: [], doubled: [], open: [] });
  expect(acknowledged).toBeGreaterThan(0);
}

/** Runs a fault under load, and makes its row. */
export async function underLoad(
  row: number | string,
  name: string,
  load: Load,
  fault: () => Promise<number>,
): Promise<Account> {
  const healed = await fault().catch(async (error: unknown) => {
    await load.stop();
    throw error;
  });
  const seconds = await load.normal(healed);
  const account = await load.account();
  addRow(row, name, seconds, account);
  return account;
}

export function printTable(): void {
  if (lines.length === 0) return;
  const head = `${'row'.padEnd(4)} ${'fault'.padEnd(58)} acknowl.     lost  doubled  normal after`;
  console.log([head, ...lines].join('\n'));
}
