// What a check of `doctor` finds, and how it is written.
import { listFirst } from 'halite/sdk/text';

export interface Finding {
  readonly level: 'problem' | 'warning' | 'fine';
  readonly what: string;
  readonly repair?: string;
}

/** Ids named in one line. */
const mostNamed = 10;

export const named = (ids: readonly string[]): string => listFirst(ids, mostNamed);
export const counted = (count: number): string => (count === 1 ? '1 minion' : `${count} minions`);
