// What `npm run prepare-tests` (scripts/prepare/) could not get, and why: tests only look, they never install anything.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testCache } from './build-once.ts';

interface Missing {
  readonly need: 'required' | 'where there is';
  readonly why: string;
}

/** Something the tests need that is no part of the checkout; see scripts/prepare/items.mjs. */
export interface Item {
  readonly name: string;
  /** Who uses it; `all` is every tier. */
  readonly tiers: readonly string[];
  /** `where there is`: some machines cannot have it by any means, so that its absence is told and no failure. */
  readonly need: 'required' | 'where there is';
  isThere(): boolean;
  /** Throws with the reason when it cannot be had. */
  make(): void;
}

/** Why an item is not there, as far as the preparation knows. */
export function whyMissing(name: string): string {
  try {
    const { missing } = JSON.parse(readFileSync(join(testCache, 'prepared.json'), 'utf8')) as {
      missing: Record<string, Missing>;
    };
    const why = missing[name]?.why.split('\n').at(-1);
    if (why) return why;
  } catch {
    // Nothing was prepared yet.
  }
  return 'not prepared: npm run prepare-tests';
}

/** Says once per file of tests that something is not there; gives undefined, for `return isMissing(…)`. */
export function isMissing(name: string): undefined {
  console.error(`SKIPPED: ${name}: ${whyMissing(name)}`);
  return undefined;
}
