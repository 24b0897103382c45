// Three masters as one: what they know of each other's minions, who handles an event, a run of the schedule and a waiting
// job, and how they differ.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { haliteOn } from '../support/cluster-growth.ts';
import type { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { Masters } from '../support/masters.ts';
import { natsPrograms } from '../support/servers/nats.ts';

const reaction =
  'told:\n  runner.event.send:\n    - args:\n      - tag: "reacted/{{ data[\'id\'] }}"\n      - data: {}\n';
let masters: Masters;
let listeners: EventListener[];

const runner = async <T>(master: Deployment, ...args: string[]): Promise<T> => {
  const { stdout, stderr } = await master.run('salt-run', [...args, '--out=json']);
  if (stdout.trim() === '') throw new Error(`salt-run ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as T;
};
const textOf = async (master: Deployment, ...args: string[]): Promise<{ text: string; code: number | null }> => {
  const { stdout, stderr, code } = await master.run('salt-run', args);
  return { text: stdout + stderr, code };
};
interface Explained {
  connected: string;
  live_connections?: { master?: string; pid: number }[];
  duplicate_id?: string;
}
const explain = (master: Deployment, id: string): Promise<Explained> => runner(master, 'manage.explain', id);
const count = (tag: string): number[] => listeners.map((each) => each.seen(tag).length);

describe.skipIf(natsPrograms().length === 0)('three masters', () => {
  beforeAll(async () => {
    masters = await Masters.start({
      masterConfig: [
        "reactor:\n  - 'work/*': [salt://react.sls]",
        'schedule:\n  beat: {function: event.send, seconds: 4, args: [beat], kwargs: {data: {}}}',
        '  each: {function: event.send, seconds: 4, cluster: any, args: [each], kwargs: {data: {}}}',
      ].join('\n'),
    });
    for (const master of masters.all) writeFileSync(master.path('srv/salt/react.sls'), reaction);
    masters.startMinion('everywhere');
    masters.startMinion('second', undefined, [], [masters.master(1)]);
    await masters.answering(['everywhere']);
    await masters.answering(['second'], [masters.master(1)]);
    listeners = await Promise.all(masters.all.map((master) => EventListener.start(master)));
  });
  afterAll(async () => {
    for (const each of listeners ?? []) each.stop();
    await masters?.destroy();
  });

  it('know which minion is connected to which of them', async () => {
    const [m1] = masters.all as [Deployment];
    await eventually('the connection to be known', async () => (await explain(m1, 'second')).connected === 'yes');
    expect((await explain(m1, 'second')).live_connections).toMatchObject([{ master: 'm2' }]);
    await eventually(
      'all three links to be known',
      async () => (await explain(m1, 'everywhere')).live_connections?.length === 3,
    );
    // They are of one process: one minion.
    expect((await explain(m1, 'everywhere')).duplicate_id).toBeUndefined();
  });

  it('handle an event of a minion once, and all show it once', async () => {
    for (const [n, id] of ['everywhere', 'second'].entries()) {
      const of = masters.master(n);
      const { stdout } = await of.salt(id, 'event.send', `work/${id}`, '{"x": 1}');
      expect(stdout).toContain('True');
      await Promise.all(listeners.map((each) => each.next(`reacted/${id}`)));
      // Later than any copy is held.
      const later = `later/${id}`;
      await of.salt(id, 'event.send', later, '{}');
      await Promise.all(listeners.map((each) => each.next(later)));
      expect([count(`work/${id}`), count(`reacted/${id}`)]).toEqual([
        [1, 1, 1],
        [1, 1, 1],
      ]);
    }
  });

  it('share grains, so that each of them finds a minion of another by them', async () => {
    const m3 = masters.master(2);
    await eventually('the target to match', async () => {
      const { text } = await textOf(m3, 'cache.grains', 'second');
      return text.includes('haliteversion');
    });
  });

  it('show their state, and exit with 1 when one of them is gone', async () => {
    const [m1] = masters.all as [Deployment];
    await eventually('a state without problems', async () => (await textOf(m1, 'cluster.status')).code === 0, {
      describe: () => 'see cluster.status',
    }).catch(async () => expect.fail((await textOf(m1, 'cluster.status')).text));
    const { text } = await textOf(m1, 'cluster.status');
    expect(text).toMatch(/test: 3 of 3 masters, leader m\d \(term \d+\)/);
    expect(await runner(m1, 'cluster.members')).toMatchObject({
      m1: { self: true },
      m2: { state: 'joined', minions: 2 },
    });
  });

  it('run the schedule once, through a frozen and a killed leader, and name it as gone', async () => {
    // Each run is told in the log of the member that ran it, with the time for which it was due.
    const line = /runs a scheduled job.*beat.*?(\d{4}-\d\d-\d\dT[\d:.]+Z)/;
    const runs = (of = masters.all): string[] =>
      of.flatMap(({ master }) =>
        master
          .output()
          .split('\n')
          .flatMap((each) => line.exec(each)?.[1] ?? []),
      );
    const leaderNow = async (asked: Deployment): Promise<number> =>
      Number(/leader m(\d)/.exec((await textOf(asked, 'cluster.status')).text)?.[1]) - 1;
    const others = (index: number): Deployment[] => masters.all.filter((master) => master !== masters.master(index));
    await eventually('three runs', () => runs().length >= 3, {
      describe: () => masters.master(0).master.output().slice(-3000),
    });
    // Frozen, and awake again when another one leads.
    const frozen = await leaderNow(masters.master(0));
    const [before] = [runs(others(frozen)).length];
    process.kill(-masters.master(frozen).master.pid, 'SIGSTOP');
    await eventually('runs of the next leader', () => runs(others(frozen)).length >= before + 3);
    process.kill(-masters.master(frozen).master.pid, 'SIGCONT');
    const then = runs().length;
    await eventually('more runs', () => runs().length >= then + 3);
    // Killed.
    const leader = await leaderNow(others(frozen)[0] as Deployment);
    const killedAfter = runs(others(leader)).length;
    await masters.master(leader).master.stop('SIGKILL');
    const other = masters.master((leader + 1) % 3);
    await eventually('runs of the next leader', () => runs(others(leader)).length >= killedAfter + 3, {
      timeoutMs: 120_000,
    });
    const all = runs().sort();
    expect(all).toEqual([...new Set(all)]);
    expect(Math.max(...count('beat'))).toBeGreaterThan(0);
    await eventually('the job of all members on each of them', () =>
      masters.all.every((_, n) => count('each')[n] !== 0),
    );
    await eventually('it to be named', async () =>
      (await textOf(other, 'cluster.status')).text.includes(`m${leader + 1} is gone`),
    );
    expect((await textOf(other, 'cluster.status')).code).toBe(1);
    await masters.master(leader).startMaster();
    await eventually('it to be back', async () => (await textOf(other, 'cluster.status')).code === 0, {
      timeoutMs: 120_000,
    });
  });

  it('try what happens when one of them dies', async () => {
    const m2 = masters.master(1);
    expect((await textOf(masters.master(0), 'doctor.fleet', 'all=True')).text).toMatch(/Nobody has tried yet/);
    expect((await haliteOn(m2, ['drill'])).stderr).toMatch(/the only drill is kill-master/);
    const dry = await haliteOn(m2, ['--dry-run', 'drill', 'kill-master']);
    expect(dry.stdout).toMatch(/Would close the ports of m2 for 20 seconds while 2 minions .*: everywhere, second\./);
    expect(dry.code).toBe(0);
    const drill = await textOf(m2, 'cluster.drill', 'seconds=12', 'force=True');
    // The result of the one waits on its disk for its only master; the other one gives it to another master.
    expect(drill.text).toMatch(/m2 was out of reach for 12 seconds while 2 minions worked for it\.\s+lost: none/);
    expect(drill.text).toMatch(/taken by another master: 1 \(m[13]\)/);
    expect(drill.text).toMatch(/a job of m2 meanwhile reached: 1 of 2; not second/);
    expect(drill.text).toMatch(/connected to m2 again: 2 of 2/);
    expect(drill.code).toBe(1);
    expect((await textOf(masters.master(0), 'doctor.fleet', 'all=True')).text).toMatch(
      /The last drill was at .* on m2: 0 of 2 results were lost/,
    );
    await masters.answering(['everywhere']);
  });

  it('let a minion with one master at a time leave a member that is drained, while that one runs', async () => {
    const [m1, m2, m3] = masters.all as [Deployment, Deployment, Deployment];
    masters.startMinion('mover', undefined, ['master_type: failover', 'master_alive_interval: 2'], [m3, m1]);
    await masters.answering(['mover'], [m3]);
    const isAt = (id: string): Promise<void> =>
      eventually(
        `mover to be at ${id} alone`,
        async () => (await explain(m2, 'mover')).live_connections?.map(({ master }) => master).join() === id,
        { timeoutMs: 120_000 },
      );
    await isAt('m3');
    expect((await textOf(m2, 'cluster.drain', 'm3')).text).toMatch(/m3 holds nothing and follows no job: stop it/);
    await isAt('m1');
    expect((await m2.salt('mover', 'test.echo', 'moved', '-t', '30')).stdout).toContain('moved');
    expect((await textOf(m1, 'cluster.status')).text).toMatch(/ m3 .*\(drained: starts no new jobs\)/);
    expect((await textOf(m1, 'doctor.fleet')).text).toMatch(/m3 starts no new jobs since .*\(cluster\.drain\)/);
    await textOf(m1, 'cluster.drain', 'm3', 'undo=True');
    await eventually('it not to be shown', async () => !(await textOf(m1, 'cluster.status')).text.includes('(drained'));
  });

  it('end when they are told to while their ports are closed for a trial', async () => {
    const m3 = masters.master(2);
    const drill = textOf(m3, 'cluster.drill', 'seconds=60', 'force=True');
    await eventually('the ports to be closed', () => m3.master.said(['a drill closes the ports']), {
      describe: () => m3.master.output().slice(-2000),
    });
    await m3.master.stop();
    expect(m3.master.output()).toContain('master has stopped');
    expect((await drill).code).not.toBe(0);
  });
});
