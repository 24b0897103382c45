// Jobs and runners that minions request: what `peer` and `peer_run` allow, and nothing else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';

const masterConfig = `
peer:
  m1:
    - test\\.(ping|arg)
peer_run:
  m1:
    - test.arg
`;

describe('publish', () => {
  let fleet: Deployment;

  beforeAll(async () => {
    fleet = await Deployment.create({ master: halite, masterConfig });
    await fleet.startMaster();
    for (const id of ['m1', 'm2']) fleet.startMinion(id, halite);
    await fleet.answering('m1', 'm2');
  });
  afterAll(() => fleet?.destroy());

  it('runs what is allowed on other minions', async () => {
    expect(await fleet.json('m1', 'publish.publish', '*', 'test.ping')).toEqual({ m1: { m1: true, m2: true } });
    const full = await fleet.json('m1', 'publish.full_data', 'm2', 'test.arg', '[1, a=2]');
    expect(full).toMatchObject({ m1: { m2: { ret: { args: [1], kwargs: { a: 2 } } } } });
  });

  it('refuses functions and minions that are not allowed', async () => {
    expect(await fleet.json('m1', 'publish.publish', '*', 'cmd.run', 'id')).toEqual({ m1: {} });
    expect(await fleet.json('m2', 'publish.publish', '*', 'test.ping')).toEqual({ m2: {} });
    expect(await fleet.json('m1', 'publish.publish', '*', 'publish.publish')).toEqual({ m1: {} });
  });

  it('runs allowed runners on the master', async () => {
    const answer = await fleet.json('m1', 'publish.runner', 'test.arg', '[x, y=1]');
    expect(answer).toEqual({ m1: { args: ['x'], kwargs: { y: 1 } } });
    expect(await fleet.json('m1', 'publish.runner', 'manage.up')).toEqual({ m1: {} });
    expect(await fleet.json('m2', 'publish.runner', 'test.arg')).toEqual({ m2: {} });
  });

  it('returns nothing without a master, and logs it', async () => {
    const args = ['-c', fleet.path('m1/etc'), '--local', 'publish.publish', '*', 'test.ping', '--out=json'];
    const { stdout, stderr } = await runProgram(`${halite.bin}/salt-call`, args);
    expect(JSON.parse(stdout)).toEqual({ local: {} });
    expect(stderr).toContain('Cannot run publish commands without a connection to a salt master');
  });
});
