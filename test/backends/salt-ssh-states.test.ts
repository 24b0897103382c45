// The same tree of states on two equal systems: applied by salt-ssh over sshd on one, by salt-call on the other.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite } from '../support/deployment.ts';
import { type DisposableSystem, disposableObstacle } from '../support/disposable.ts';
import { isMissing } from '../support/prepared.ts';
import { applyTree, type Outcomes, preparedSystem, quietCall, shortName } from '../support/real-states.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { sshInside } from '../support/ssh-inside.ts';

const obstacle = disposableObstacle();
if (obstacle) isMissing(`disposable system (${obstacle})`);
const sshd = preparedProgram('sshd', 'openssh-server');

/** What differs between any two runs: process ids, times, the order in which a file system lists. */
const withoutRunData = (text: string): string => text.replaceAll(/\b\d{2,}\b/g, 'N');

/** What each state did, in the order of the run. */
const told = (run: Outcomes): [string, boolean | null, string, string[]][] =>
  Object.entries(run).map(([tag, { result, comment, changes }]) => {
    return [shortName(tag), result, withoutRunData(comment), Object.keys(changes).sort()];
  });

describe.skipIf(obstacle !== undefined || !sshd)('states over salt-ssh', () => {
  const systems: DisposableSystem[] = [];
  let command: string[];
  beforeAll(async () => {
    systems.push(...(await Promise.all([preparedSystem(), preparedSystem()])));
    const [overSsh] = systems as [DisposableSystem];
    command = await sshInside(overSsh, { saltSsh: join(halite.bin, 'salt-ssh'), id: 'real' });
  });
  afterAll(() => Promise.all(systems.map((system) => system.destroy())));

  it('change the same as on a minion, and nothing the second time', async () => {
    const [overSsh, alone] = systems as [DisposableSystem, DisposableSystem];
    const [first, expected] = await Promise.all([
      applyTree(overSsh, command),
      applyTree(alone, quietCall(join(halite.bin, 'salt-call'))),
    ]);
    expect(told(first)).toEqual(told(expected));
    expect(Object.keys(first).length).toBeGreaterThan(80);
    const again = await applyTree(overSsh, command);
    const changed = Object.entries(again).filter(([, { changes }]) => Object.keys(changes).length > 0);
    // They do the same every time by their nature: the time of a file, the environment of a process.
    expect(changed.map(([tag]) => shortName(tag)).sort()).toEqual(['environ.setenv variable', 'file.touch touched']);
    expect(Object.values(again).filter(({ result }) => result !== true)).toEqual([]);
  });
});
