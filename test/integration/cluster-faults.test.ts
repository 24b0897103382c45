// Three masters under load while one of them, or the nats-server, is killed: nothing that was acknowledged is lost or
// doubled, and at the end all have the same history.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SimulatedFleet } from '../bench/simulated-fleet.ts';
import { ask } from '../support/cluster-load.ts';
import { eventually } from '../support/eventually.ts';
import { historyOf, Masters } from '../support/masters.ts';

const jobs = Number(process.env['HALITE_CLUSTER_JOBS'] ?? 6);
const minions = 40;

let masters: Masters;
const fleets: SimulatedFleet[] = [];

beforeAll(async () => {
  masters = await Masters.start();
  for (const [at, { ports }] of masters.all.entries()) {
    fleets.push(await SimulatedFleet.start(ports.requests, minions, { prefix: `sim${at + 1}` }));
  }
  await eventually('all masters to know all minions', async () => {
    const counts = masters.all.map(async (master) => Object.keys(await master.json('sim*', 'test.ping')).length);
    return (await Promise.all(counts)).every((count) => count === 3 * minions);
  });
});
afterAll(async () => {
  for (const fleet of fleets) fleet.close();
  await masters.destroy();
});

const acknowledged = (): string[] => fleets.flatMap((fleet) => [...fleet.acknowledged]);
/** Publishes jobs at these masters, one after the other at each. */
const load = (at: readonly number[], each = jobs): Promise<unknown> =>
  Promise.all(
    at.map(async (one) => {
      for (let n = 0; n < each; n++) await masters.master(one).salt('sim*', 'test.ping', '--async');
    }),
  );

async function nothingLost(): Promise<number> {
  const kept = await masters.sameHistory(60_000);
  const known = new Set(kept.map((row) => `${String(row['jid'])} ${String(row['id'])}`));
  expect(known.size).toBe(kept.length);
  expect(acknowledged().filter((key) => !known.has(key))).toEqual([]);
  return kept.length;
}

/** Every result of this many more jobs is acknowledged. */
async function allAnswered(before: number, more: number): Promise<void> {
  const describe = (): string => `${acknowledged().length - before} of ${more * 3 * minions}`;
  await eventually('all results', () => acknowledged().length >= before + more * 3 * minions, {
    timeoutMs: 120_000,
    describe,
  });
}

describe('three masters', () => {
  it('have every result of thousands, once each', async () => {
    const before = acknowledged().length;
    await load([0, 1, 2]);
    await allAnswered(before, 3 * jobs);
    expect(await nothingLost()).toBeGreaterThanOrEqual(9 * jobs * minions);
  });

  it('lose nothing that was acknowledged when one is killed meanwhile', async () => {
    const before = acknowledged().length;
    const running = load([0, 1], jobs);
    await eventually('results to come', () => acknowledged().length > before + minions);
    await masters.master(2).master.stop('SIGKILL');
    await running;
    await masters.master(2).startMaster();
    await nothingLost();
  });

  it('serve their own minions while nats-servers are away, say so, and have one history afterwards', async () => {
    const [first] = masters.all;
    const [server] = masters.nats.nodes;
    masters.startMinion('h1');
    await masters.answering(['h1']);
    const before = acknowledged().length;
    await server!.pause();
    const answer = await first!.salt('sim*', 'test.ping', '--out=json', '--static', '--explain', '-t', '10');
    const said = JSON.parse(answer.stdout) as Record<string, unknown>;
    expect(Object.keys(said).filter((id) => said[id] === true && id.startsWith('sim1'))).toHaveLength(minions);
    expect(acknowledged().length).toBeGreaterThanOrEqual(before + minions);
    // Each master counts on alone, one of them much further; a minion that is restarted meanwhile works for both.
    await Promise.all(Array.from({ length: 20 }, () => ask(first!, ['h1'], 'test.ping', { limitMs: 2000 })));
    await first!.minion('h1').stop('SIGKILL');
    masters.startMinion('h1');
    for (const master of masters.all)
      await eventually(
        'the minion to answer after its restart',
        async () => (await ask(master, ['h1'], 'test.ping', { seconds: 5 })).answers.size === 1,
        { timeoutMs: 120_000, describe: () => first!.minion('h1').output().slice(-2000) },
      );
    const [job] = await historyOf(first!, "SELECT max(jid) AS jid FROM job WHERE tgt = 'sim*'");
    await server!.start();
    await eventually(
      'the masters to join again',
      async () => {
        const counts = masters.all.map(async (master) => Object.keys(await master.json('sim*', 'test.ping')).length);
        return (await Promise.all(counts)).every((count) => count === 3 * minions);
      },
      { timeoutMs: 120_000 },
    );
    await nothingLost();
    const found = await historyOf(masters.master(2), `SELECT id FROM ret WHERE jid = '${String(job?.['jid'])}'`);
    expect(found.length).toBeGreaterThanOrEqual(minions);
  });
});
