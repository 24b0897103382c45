// A master whose host vanishes says no goodbye: real minions notice it by the time to live in its heartbeats.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { portsConnectedTo } from '../support/connections.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { signalAll } from '../support/faults.ts';
import { saltRelease } from '../support/salt-release.ts';

let fleet: Deployment;
beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  fleet.startMinion('old', saltRelease('3006.27'));
  fleet.startMinion('new', saltRelease('3008.2'));
  await fleet.answering('old', 'new');
});
afterAll(() => fleet?.destroy());

it('minions of 3006.27 and 3008.2 drop a frozen master and come back to it', async () => {
  // Right after a job, because each message ends the time to live that came before it.
  expect(await fleet.json('*', 'test.ping')).toEqual({ old: true, new: true });
  const before = portsConnectedTo(fleet.ports.publish);
  expect(before.size).toBe(2);
  signalAll(fleet.master.pid, 'SIGSTOP');
  try {
    const left = (): number[] => [...portsConnectedTo(fleet.ports.publish)].filter((port) => before.has(port));
    await eventually('both to drop the frozen master', () => left().length === 0);
  } finally {
    signalAll(fleet.master.pid, 'SIGCONT');
  }
  await fleet.answering('old', 'new');
});
