// Rendezvous hashing: every member computes the same order of members for a key, without asking anybody. When a member
// leaves, only what was first at that member moves.
import { createHash } from 'node:crypto';

/** The names in the order in which they are responsible for the key. */
export function rendezvous(key: string, names: readonly string[]): string[] {
  if (names.length < 2) return [...names];
  const weighed = names.map((name) => ({ name, weight: weightOf(name, key) }));
  weighed.sort((a, b) => (a.weight === b.weight ? compare(a.name, b.name) : a.weight > b.weight ? -1 : 1));
  return weighed.map(({ name }) => name);
}

const compare = (a: string, b: string): number => (a < b ? -1 : 1);

/** The length keeps `a` + `bc` and `ab` + `c` apart. */
const weightOf = (name: string, key: string): bigint =>
  createHash('sha256').update(`${name.length} ${name} ${key}`).digest().readBigUInt64BE();
