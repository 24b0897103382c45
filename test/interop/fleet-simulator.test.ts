// `salt-fleet` against real Salt masters: they cannot tell its minions from their own.
import { afterEach, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { FleetRun } from '../support/salt-fleet.ts';
import { saltRelease, saltVersions } from '../support/salt-release.ts';

const allPairings = process.env['HALITE_ALL_PAIRINGS'] === '1';
const minions = 40;
let master: Deployment | undefined;
const runs: FleetRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.kill();
  await master?.destroy();
  master = undefined;
});

async function start(port: number, options: string): Promise<FleetRun> {
  const run = new FleetRun(port, options.split(' '));
  runs.push(run);
  await run.next('ready');
  return run;
}
const answered = (answers: Record<string, unknown>): number =>
  Object.values(answers).filter((value) => value === true).length;

describe.each(saltVersions)('Salt %s', (version) => {
  const transports = version === '3006.27' && allPairings ? (['zeromq', 'tcp'] as const) : (['zeromq'] as const);
  it.each(transports)('jobs over %s', async (transport) => {
    const config = 'timeout: 20';
    master = await Deployment.create({ master: saltRelease(version), transport, masterConfig: config });
    await master.startMaster();
    const { requests } = master.ports;
    // Commands of 3007 miss results that come within milliseconds.
    const options = `--minions ${minions} --as salt --transport ${transport} --boot --token --verify --delay 0.2 --settle 1`;
    const run = await start(requests, options);
    expect(answered(await master.json('*', 'test.ping'))).toBe(minions);
    expect(answered(await master.json('-C', 'G@role:web or sim-0002', 'test.ping'))).toBe(minions / 4 + 1);
    const { report } = await run.quit();
    expect(report.returns).toMatchObject({ missing: 0, doubled: 0, lost: 0, refused: 0 });
    expect(report.publications).toMatchObject({ undecodable: 0, forged: 0 });
    expect(report.boot.minions).toBe(minions);
    expect(report.master.halite).toBe(false);
  });
});

it('results that come twice, a new key of the master, and a master that is killed', async () => {
  master = await Deployment.create({ master: saltRelease('3006.27') });
  await master.startMaster();
  const run = await start(master.ports.requests, '--minions 20 --as salt --duplicate 1 --settle 1 --reconnect 0.2');
  // Salt's command complains about each copy: it is not asked.
  await master.salt('*', 'test.ping', '--async');
  await eventually('all copies to be acknowledged', async () => (await run.stats()).returns.doubled === 20);
  await master.master.stop('SIGKILL');
  await master.startMaster();
  await eventually('all to be connected again', async () => (await run.stats()).connected === 20, {
    timeoutMs: 120_000,
  });
  // Its shared key is another one: minions notice that at a job, sign in, and then take it. A Salt master that has just
  // started may lose the first.
  let seen = '';
  const answered = async (): Promise<boolean> => {
    const stats = await run.stats();
    seen = JSON.stringify(stats);
    const { acknowledged, doubled, expected } = stats.returns;
    if (acknowledged >= 40 && doubled === acknowledged) return true;
    if (doubled === expected) await master?.salt('*', 'test.ping', '--async');
    return false;
  };
  await eventually('all to have answered', answered, { timeoutMs: 120_000, describe: () => seen });
  const { report, code } = await run.quit();
  const { acknowledged } = report.returns;
  expect(report.returns).toMatchObject({ expected: acknowledged, missing: 0, doubled: acknowledged });
  expect(report.renewals).toBeGreaterThanOrEqual(20);
  expect(code).toBe(0);
});
