// What no engine can give any more: a member that was away longer than the ledger remembers, one whose disk is new, and a
// cluster whose nats-server lost everything under load. Afterwards all have the same history, and nothing that was
// acknowledged is lost.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SimulatedFleet } from '../bench/simulated-fleet.ts';
import type { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { historyOf, Masters } from '../support/masters.ts';

const minions = 30;
let masters: Masters;
const fleets: SimulatedFleet[] = [];

beforeAll(async () => {
  masters = await Masters.start();
  for (const [at, { ports }] of masters.all.slice(0, 2).entries()) {
    fleets.push(await SimulatedFleet.start(ports.requests, minions, { prefix: `sim${at + 1}` }));
  }
  masters.startMinion('real', undefined, [], [masters.master(0)]);
  await masters.answering(['real']);
  await eventually('the first two to know all minions', () => answers(2 * minions + 1, masters.all.slice(0, 2)), {
    timeoutMs: 120_000,
  });
});
afterAll(async () => {
  for (const fleet of fleets) fleet.close();
  await masters.destroy();
});

async function answers(count: number, of: readonly Deployment[]): Promise<boolean> {
  const counts = of.map(async (master) => Object.keys(await master.json('*', 'test.ping')).length);
  return (await Promise.all(counts)).every((found) => found === count);
}

const acknowledged = (): string[] => fleets.flatMap((fleet) => [...fleet.acknowledged]);

const publish = (at: readonly number[], each: number): Promise<unknown> =>
  Promise.all(
    at.map(async (one) => {
      for (let n = 0; n < each; n++) await masters.master(one).salt('sim*', 'test.ping', '--async');
    }),
  );

async function load(at: readonly number[], each: number): Promise<void> {
  const before = acknowledged().length;
  await publish(at, each);
  await eventually('all results', () => acknowledged().length >= before + at.length * each * 2 * minions, {
    timeoutMs: 120_000,
    describe: () => `${acknowledged().length - before}`,
  });
}

/** Everything of jobs, and what was acknowledged to minions, is on every member, once. */
async function allTheSame(): Promise<void> {
  const rows = 'SELECT jid, id, attempt, full_ret FROM ret ORDER BY jid, id';
  const jobs = 'SELECT jid, fun FROM job ORDER BY jid';
  let found: string[][] = [];
  const same = async (): Promise<boolean> => {
    found = await Promise.all(
      masters.all.map(async (master) => [
        JSON.stringify(await historyOf(master, rows)),
        JSON.stringify(await historyOf(master, jobs)),
      ]),
    );
    return found.every(([ret, job]) => ret === found[0]?.[0] && job === found[0]?.[1]);
  };
  await eventually('all to have the same', same, {
    timeoutMs: 120_000,
    describe: () => found.map((each) => each.map((text) => text.length).join(' and ')).join(', '),
  });
  const kept = (JSON.parse(found[0]?.[0] ?? '[]') as { jid: string; id: string }[]).map(
    ({ jid, id }) => `${jid} ${id}`,
  );
  const known = new Set(kept);
  expect(known.size).toBe(kept.length);
  expect(acknowledged().filter((key) => !known.has(key))).toEqual([]);
}

const run = async (master: Deployment, ...args: string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await master.run('salt-run', [...args, '--out=json'])).stdout) as Record<string, unknown>;

describe('repair', () => {
  it('gives a member what happened while it was away for longer than the ledger remembers', async () => {
    const third = masters.master(2);
    await third.master.stop('SIGKILL');
    await load([0, 1], 5);
    const nc = await connect({ servers: [...masters.nats.servers] });
    await nc.request('$JS.API.STREAM.PURGE.HALITE_test_LOG', '', { timeout: 10_000 });
    await nc.close();
    await third.startMaster();
    await allTheSame();
    const [job] = await historyOf(third, "SELECT max(jid) AS jid FROM job WHERE fun = 'test.ping' AND internal = 0");
    expect(Object.keys(await run(third, 'jobs.lookup_jid', String(job?.['jid'])))).not.toHaveLength(0);
    expect(await run(third, 'cluster.repair')).toMatchObject({ refused: 0, compared: ['m1', 'm2'], unreached: {} });
    expect(await run(third, 'jobs.health')).toMatchObject({ compared: { compared: ['m1', 'm2'], refused: 0 } });
    expect((await third.run('salt-run', ['cluster.status'])).stdout).toMatch(/compared \d{4}-.* records differed/);
  });

  it('gives a member with a new disk everything, also when it is killed meanwhile', async () => {
    const third = masters.master(2);
    await third.master.stop('SIGKILL');
    for (const side of ['', '-wal', '-shm']) rmSync(third.path(`cache/master/halite.db${side}`), { force: true });
    await third.startMaster();
    await third.master.stop('SIGKILL');
    await third.startMaster();
    await allTheSame();
  });

  it('closes the gap when the nats-server lost everything under load, with keys and secrets as before', async () => {
    const [server] = masters.nats.nodes;
    const epoch = await historyOf(masters.master(0), 'SELECT count(*) AS n FROM ret');
    expect(Number(epoch[0]?.['n'])).toBeGreaterThan(0);
    const running = publish([0, 1], 4);
    await server!.pause();
    rmSync(join(server!.folder, 'store'), { recursive: true, force: true });
    await server!.start();
    await running;
    const changed = (): boolean => masters.all.some(({ master }) => master.said(['AES key changed on all masters']));
    await eventually('a new AES key', changed);
    // Minions that cannot open a job sign in again; the simulated ones are told to.
    for (const fleet of fleets) await fleet.renew();
    await eventually('the minions to answer all masters', () => answers(2 * minions + 1, masters.all), {
      timeoutMs: 120_000,
      describe: () => masters.all.map(({ master }) => master.output().slice(-1500)).join('\n---\n'),
    });
    await allTheSame();
    for (const { master } of masters.all) expect(master.said(['the nats-servers lost data'])).toBe(true);
    // Keys are in the registry again: a decision at one master counts at all. A real minion could sign in again at any
    // moment, and its new key would be accepted; simulated ones do so only when they are told to.
    const deleted = await masters.master(1).run('salt-key', ['-d', 'sim2-0001', '-y']);
    const gone = async (): Promise<boolean> => {
      const lists = await Promise.all(masters.all.map((one) => one.run('salt-key', ['-l', 'acc', '--out=json'])));
      return lists.every(({ stdout }) => !stdout.includes('"sim2-0001"') && stdout.includes('sim1-0000'));
    };
    await eventually('the key to be gone everywhere', gone, {
      timeoutMs: 120_000,
      describe: () => `${deleted.stdout}${deleted.stderr}`,
    });
  });
});
