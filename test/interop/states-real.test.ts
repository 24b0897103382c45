// The same states on two disposable systems, by Halite and by Salt 3006: same verdicts, same changes.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { disposableObstacle } from '../support/disposable.ts';
import { applyThrice, type Outcomes, preparedSystem, shortName, type ThreeRuns } from '../support/real-states.ts';
import { saltRelease } from '../support/salt-release.ts';

const obstacle = disposableObstacle();
if (obstacle) console.warn(`states are not compared on real systems here: ${obstacle}`);

type Phase = keyof ThreeRuns;

/** Where Halite means to differ: run and state → why. */
const differences: Record<string, string> = {
  'test pkg.held held': 'Salt answers true although it would change something',
  'test environ.setenv variable': 'Salt answers true although it would change something',
  'test file.recurse tree': 'Salt names the top folder twice, once as `tree/.`',
  'test cron.file cron from file': 'the diff is shown under test=True too',
  'apply cron.file cron from file': 'Salt counts the owner of its own temporary file as a change',
  'test acl.absent not in the list': 'Salt does not say that it changes something',
  'apply acl.absent not in the list': 'Salt does not say that it changes something',
  'apply git.config_unset no git setting': 'Salt fails after it has done it',
  'again nftables.set_policy dropped': 'Salt never finds the policy that is set',
  'again nftables.append own ports': 'Salt adds the rule again: it expects ports in another order than nft lists them',
};

/** Keys in order, without process ids and names of temporary files. */
function steady(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(/\/tmp\/(?:__salt\.tmp\.\w+|halite-patch-\w+\/output)/g, '{temporary}');
  if (Array.isArray(value)) return value.map(steady);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([key]) => key !== 'pid');
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, steady(item)]));
}

async function runsOf(saltCall: string, visible: readonly string[]): Promise<ThreeRuns> {
  const system = await preparedSystem(visible);
  try {
    return await applyThrice(system, saltCall);
  } finally {
    await system.destroy();
  }
}

function verdicts(phase: Phase, run: Outcomes): Record<string, unknown> {
  const named = Object.entries(run).map(([tag, { result, changes }]) => [
    `${phase} ${shortName(tag)}`,
    { result, changes: steady(changes) },
  ]);
  return Object.fromEntries(named);
}

describe.skipIf(obstacle !== undefined)('states on real systems', () => {
  it('come out as with Salt', { timeout: 300_000 }, async () => {
    const { bin } = saltRelease('3006.27');
    const halite = join(fileURLToPath(new URL('../..', import.meta.url)), 'bin/salt-call');
    const [ours, theirs] = await Promise.all([runsOf(halite, []), runsOf(join(bin, 'salt-call'), [join(bin, '..')])]);
    for (const phase of ['test', 'apply', 'again'] as const) {
      const [got, wanted] = [verdicts(phase, ours[phase]), verdicts(phase, theirs[phase])];
      const differing = Object.keys(wanted).filter((key) => JSON.stringify(got[key]) !== JSON.stringify(wanted[key]));
      const meant = Object.keys(differences).filter((key) => key in wanted);
      for (const key of differing.filter((name) => !meant.includes(name)))
        expect({ key, ...(got[key] as object) }).toEqual({ key, ...(wanted[key] as object) });
      expect(differing.sort()).toEqual(meant.sort());
      expect(Object.keys(got)).toEqual(Object.keys(wanted));
    }
  });
});
