// States that change a real system: the changes announced by test=True happen, and a second run changes nothing.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DisposableSystem, disposableObstacle } from '../support/disposable.ts';
import { disposableTools } from '../support/disposable-tools.ts';
import { applyThrice, type Outcomes, preparedSystem, shortName, type ThreeRuns } from '../support/real-states.ts';

const obstacle = disposableObstacle();
if (obstacle) console.warn(`states are not tried on a real system here: ${obstacle}`);
else if (!disposableTools())
  console.warn('states of cron, acl, iptables and nftables are left out: no packages to be had');

/** They do the same every time by their nature: the time of a file, the environment of a process. */
const everyTime = ['file.touch touched', 'environ.setenv variable'];

const changedIn = (run: Outcomes): string[] =>
  Object.keys(run)
    .filter((tag) => Object.keys(run[tag]?.changes ?? {}).length > 0)
    .map(shortName);

describe.skipIf(obstacle !== undefined)('states on a real system', () => {
  const hosts = obstacle ? '' : readFileSync('/etc/hosts', 'utf8');
  let system: DisposableSystem;
  let runs: ThreeRuns;
  beforeAll(async () => {
    system = await preparedSystem();
    runs = await applyThrice(system, join(fileURLToPath(new URL('../..', import.meta.url)), 'bin/salt-call'));
  });
  afterAll(() => system?.destroy());

  it('all succeed', () => {
    const failed = Object.entries(runs.apply).filter(([, { result }]) => result !== true);
    expect(failed.map(([tag, { comment }]) => [shortName(tag), comment])).toEqual([]);
    expect(Object.keys(runs.apply).length).toBeGreaterThan(80);
  });

  it('change what test=True announced', () => {
    const foretold = Object.keys(runs.test)
      .filter((tag) => runs.test[tag]?.result === null)
      .map(shortName);
    expect(foretold).toEqual(changedIn(runs.apply));
    expect(Object.keys(runs.test)).toEqual(Object.keys(runs.apply));
  });

  it('change nothing the second time', () => {
    expect(changedIn(runs.again).sort()).toEqual([...everyTime].sort());
    const failed = Object.entries(runs.again).filter(([, { result }]) => result !== true);
    expect(failed.map(([tag, { comment }]) => [shortName(tag), comment])).toEqual([]);
  });

  it('do not change the machine outside', () => {
    expect(existsSync(system.path('/opt/prepared'))).toBe(true);
    expect(existsSync('/opt/prepared')).toBe(false);
    expect(readFileSync('/etc/hosts', 'utf8')).toBe(hosts);
    expect(readFileSync(system.path('/etc/hosts'), 'utf8')).not.toBe(hosts);
  });
});
