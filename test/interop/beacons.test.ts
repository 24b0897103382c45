// Events of beacons across implementations: our minion's at a real Salt master, a real minion's at ours, same shape.
import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { type EventData, EventListener } from '../support/events.ts';
import { saltRelease } from '../support/salt-release.ts';

const salt = (): Implementation => saltRelease('3006.27');
const open: { readonly fleet: Deployment; readonly events: EventListener }[] = [];
afterAll(async () => {
  for (const { events, fleet } of open) {
    events.stop();
    await fleet.destroy();
  }
});

/** The first events of `ps` (from the configuration) and `log` (from the pillar) that the master hears. */
async function heard(master: Implementation, minion: Implementation): Promise<{ ps: EventData; log: EventData }> {
  const fleet = await Deployment.create({ master });
  const file = fleet.path('notes');
  writeFileSync(file, 'a line of the past\n');
  writeFileSync(fleet.path('srv/pillar/top.sls'), 'base:\n  m1: [watch]\n');
  writeFileSync(
    fleet.path('srv/pillar/watch.sls'),
    `beacons:\n  ps: [{processes: {nobody-runs-this: stopped}}, {interval: 1}]\n  mine: [{beacon_module: log}, {file: ${file}}, {tags: {hit/one: {regex: .*hit}}}]\n`,
  );
  await fleet.startMaster();
  const events = await EventListener.start(fleet, master);
  open.push({ fleet, events });
  fleet.startMinion('m1', minion);
  const ps = await events.next('salt/beacon/m1/ps/');
  // Both have looked at the file by now; what is written from here on is news.
  let n = 0;
  const timer = setInterval(() => writeFileSync(file, `a hit ${n++}\n`, { flag: 'a' }), 300);
  const log = await events.next('salt/beacon/m1/mine/hit/one').finally(() => clearInterval(timer));
  return { ps, log };
}

const expected = (event: EventData): void => {
  expect(event).toEqual({ 'nobody-runs-this': 'Stopped', id: 'm1', _stamp: expect.any(String) });
};
const expectedLog = (event: EventData): void => {
  const raw = expect.stringMatching(/^a hit \d+$/);
  expect(event).toEqual({ match: 'yes', raw, error: '', id: 'm1', _stamp: expect.any(String) });
};

describe('beacons', () => {
  it('of a Halite minion reach a Salt master', async () => {
    const { ps, log } = await heard(salt(), halite);
    expected(ps);
    expectedLog(log);
  });

  it('of a Salt minion reach a Halite master', async () => {
    const { ps, log } = await heard(halite, salt());
    expected(ps);
    expectedLog(log);
  });
});
