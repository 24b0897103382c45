// Files of tests in the order that keeps all processors busy to the end: tiers with long files first, the many short ones last.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const order = ['old-minions', 'interop', 'stories', 'integration', 'backends', 'unit'];
const rank = ({ project }: TestSpecification): number => order.indexOf(project.name);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
