// `salt-call event.send` of a minion with several masters sends all its copies to one of them: one event, one reaction.
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { saltRelease } from '../support/salt-release.ts';

let fleet: Deployment;
let events: EventListener;

beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: "reactor:\n  - 'deploy/*': [salt://react.sls]" });
  writeFileSync(
    fleet.path('srv/salt/react.sls'),
    'note:\n  runner.event.send:\n    - args:\n      - tag: "reacted/{{ tag }}"\n      - data: {}\n',
  );
  await fleet.startMaster();
  events = await EventListener.start(fleet);
});
afterAll(async () => {
  events?.stop();
  await fleet?.destroy();
});

it.each(['3006.27', '3008.2'] as const)('of Salt %s', async (version) => {
  const id = `call-${version.replaceAll('.', '-')}`;
  const configDir = fleet.configureMinion(id);
  mkdirSync(`${configDir}/minion.d`);
  writeFileSync(`${configDir}/minion.d/masters.conf`, 'master: [127.0.0.1, localhost]\n');
  const call = async (tag: string): Promise<void> => {
    const args = ['-c', configDir, 'event.send', tag, '{"n": 1}'];
    const { stdout, stderr } = await fleet.run('salt-call', args, { implementation: saltRelease(version) });
    expect(stdout, stderr).toContain('True');
  };
  await call(`deploy/${id}/first`);
  await call(`deploy/${id}/first`);
  await call(`deploy/${id}/last`);
  await events.next(`deploy/${id}/last`);
  const seen = events.seen(`deploy/${id}/first`);
  expect(seen, JSON.stringify(seen)).toHaveLength(2);
  await events.next(`reacted/deploy/${id}/last`);
  expect(events.seen(`reacted/deploy/${id}/first`)).toHaveLength(2);
});
