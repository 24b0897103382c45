// Files of tests in the order that keeps all processors busy to the end: real Salt, whose Python computes, beside daemons of
// ours, which mostly wait; tiers with long files first, the many short ones last.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const computing = ['old-minions', 'interop'];
const waiting = ['stories', 'integration', 'backends'];
const tiers = [...computing, ...waiting];

const ofTiers = (files: readonly TestSpecification[], names: readonly string[]): TestSpecification[] =>
  names.flatMap((name) => files.filter(({ project }) => project.name === name));

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rest = sorted.filter(({ project }) => !tiers.includes(project.name));
    return [...spread(ofTiers(sorted, computing), ofTiers(sorted, waiting)), ...rest];
  }
}

/** Both lists in one, each in its own order and evenly from the beginning to the end. */
function spread<T>(one: readonly T[], other: readonly T[]): T[] {
  const placed = [one, other].flatMap((list) => list.map((item, at) => ({ item, place: (at + 0.5) / list.length })));
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}
