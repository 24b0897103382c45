// Runs the tiers that compare with real Salt: where its releases could not be prepared, every test is skipped with the reason.
import { type RunnerTask, type RunnerTestFile, TestRunner } from 'vitest';
import { isMissing } from './prepared.ts';
import { saltItems } from './salt-release.ts';

function skip(task: RunnerTask): void {
  task.mode = 'skip';
  if (task.type === 'suite') for (const inner of task.tasks) skip(inner);
}

export default class NeedsSalt extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    const missing = saltItems.filter((item) => !item.isThere());
    for (const { name } of missing) isMissing(name);
    if (missing.length > 0) for (const file of files) skip(file);
  }
}
