// Cases that a program of ours makes up and real Salt answers, one line of JSON each.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { runProgram } from './deployment.ts';
import { saltRelease } from './salt-release.ts';

/** `count` cases from `seed` on, by a recorder below `test/fixtures`. */
export async function recordedBySalt<T>(recorder: string, count: number, seed: number): Promise<T[]> {
  const program = fileURLToPath(new URL(`../fixtures/${recorder}`, import.meta.url));
  const python = join(saltRelease('3006.27').bin, 'python');
  const args = ['-W', 'ignore', program, String(count), String(seed)];
  const { stdout, stderr } = await runProgram(python, args, { timeoutMs: 280_000 });
  const lines = stdout.split('\n').filter((line) => line !== '');
  expect(lines.length, stderr).toBe(count);
  return lines.map((line) => JSON.parse(line) as T);
}
