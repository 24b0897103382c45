// What a fuzz target is, and what targets share.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HaliteError } from '../../../src/base/errors/index.ts';

export interface FuzzTarget {
  /** Texts that are inserted as a whole, besides the texts of the code itself. */
  readonly tokens?: readonly string[];
  /** First inputs, besides the corpus. */
  readonly seeds?: readonly (string | Uint8Array)[];
  /** Longest input in bytes. */
  readonly maxLength?: number;
  /** Most places an input may pass; without it 20,000 and 4,000 more per byte. */
  readonly mostSteps?: (length: number) => number;
  /** Throws when something is wrong with what the code under test did with these bytes. */
  run(bytes: Uint8Array): void | Promise<void>;
}

export const defaultMostSteps = (length: number): number => 20_000 + 4_000 * length;

/** The outcome of a reader that may refuse: its value, or undefined when it refused with an error of Halite's. */
export function read<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof HaliteError) return undefined;
    throw error;
  }
}

export async function readLater<T>(attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof HaliteError) return undefined;
    throw error;
  }
}

export function hold(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`broken promise: ${what}`);
}

/** A folder of this thread, for targets that read files; it goes with the thread. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'halite-fuzz-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Bytes as text: what is not UTF-8 becomes replacement characters. */
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
