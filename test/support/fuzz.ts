// What the differential fuzzers share: repeatable randomness, and a Python program that answers a batch of cases.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Small repeatable generator of numbers. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed | 0;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
  chance(share: number): boolean {
    return this.next() < share;
  }
  times<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}

/** Lets a Python program answer lines of JSON, in files so that this process may work meanwhile. */
export function askPython<T>(python: string, program: string, lines: readonly unknown[]): Promise<T[]> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-fuzz-'));
  const [asked, answered] = [join(folder, 'asked'), join(folder, 'answered')];
  writeFileSync(asked, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const [input, output] = [openSync(asked, 'r'), openSync(answered, 'w')];
  const child = spawn(python, ['-c', program], {
    stdio: [input, output, 'inherit'],
    // Otherwise sets have another order each time, and a seed another outcome.
    env: { ...process.env, TZ: 'UTC', PYTHONIOENCODING: 'utf-8', PYTHONHASHSEED: '0' },
  });
  closeSync(input);
  closeSync(output);
  return new Promise<T[]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      const answers = readFileSync(answered, 'utf8').split('\n').slice(0, -1);
      rmSync(folder, { recursive: true, force: true });
      resolve(answers.map((line) => JSON.parse(line) as T));
    });
  });
}
