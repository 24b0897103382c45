// Halite and one release of real Salt in each other's role, over both transports: all an operator does in the first hour.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, type Implementation } from './deployment.ts';
import { type SaltVersion, saltRelease } from './salt-release.ts';

/** Salt cuts results above max_event_size on its own bus, on both sides. */
const largeResults = 'max_event_size: 20000000';
/** Salt 3008.2 signs nobody in over TCP while its worker pools are on, not even its own minion; ZeroMQ needs them. */
const masterConfig = { zeromq: largeResults, tcp: `${largeResults}\nworker_pools_enabled: False` };

interface Pairing {
  readonly label: string;
  readonly master: () => Implementation;
  readonly minion: () => Implementation;
  readonly transport: 'zeromq' | 'tcp';
  readonly isOurMaster: boolean;
}

const pairingsWith = (version: SaltVersion): Pairing[] =>
  (['zeromq', 'tcp'] as const).flatMap((transport) => [
    {
      label: `Halite master, Salt ${version} minion, ${transport}`,
      master: () => halite,
      minion: () => saltRelease(version),
      ...{ transport, isOurMaster: true },
    },
    {
      label: `Salt ${version} master, Halite minion, ${transport}`,
      master: () => saltRelease(version),
      minion: () => halite,
      ...{ transport, isOurMaster: false },
    },
  ]);

/**
 * The suite for one release; each release is a file of its own, so that they can run beside each other. Each runs
 * crosswise, each transport and each direction once, with its minions over `minions`; the oldest and the newest release have
 * the four pairings between them. All pairings of all releases with HALITE_ALL_PAIRINGS=1.
 */
export function exchangeWith(version: SaltVersion, minions: 'zeromq' | 'tcp'): void {
  const pairings = pairingsWith(version);
  const chosen =
    process.env['HALITE_ALL_PAIRINGS'] === '1'
      ? pairings
      : pairings.filter(({ transport, isOurMaster }) => isOurMaster === (transport === minions));
  describe.each(chosen)('$label', exchange);
}

function exchange({ master, minion, transport, isOurMaster }: Pairing): void {
  let fleet: Deployment;

  beforeAll(async () => {
    fleet = await Deployment.create({ master: master(), transport, masterConfig: masterConfig[transport] });
    await fleet.startMaster();
    fleet.startMinion('m1', minion(), largeResults);
    await fleet.answering('m1');
  });
  afterAll(async () => {
    await fleet?.destroy();
  });

  it('runs a command', async () => {
    const { stdout, code } = await fleet.salt('m1', 'cmd.run', 'echo one; echo two');
    expect(stdout).toBe('m1:\n    one\n    two\n');
    expect(code).toBe(0);
  });

  it('carries arguments, keyword arguments and unicode', async () => {
    const answer = await fleet.json('m1', 'test.arg', '1', 'zwei=[2, drei]', '盐 ünïcödé', 'none=null');
    const { args, kwargs } = answer['m1'] as { args: unknown[]; kwargs: Record<string, unknown> };
    expect(args).toEqual([1, '盐 ünïcödé']);
    expect(kwargs['zwei']).toEqual([2, 'drei']);
    expect(kwargs['none']).toBeNull();
  });

  it('brings a large result home', async () => {
    // Five megabytes keep a real master of 3007 busy for long.
    const size = master() === halite ? 5_000_000 : 1_500_000;
    const answer = await fleet.json('m1', 'cmd.run', `head -c ${size} /dev/zero | tr '\\0' x`, '-t', '30');
    expect((answer['m1'] as string).length).toBe(size);
  });

  it('is heard at once', async () => {
    const echo = ['m1', 'test.echo', 'heard', '-t', '20'];
    await fleet.salt(...echo);
    // With --static, which this uses, 3007 asks twice: who is there, and then for the job.
    for (let round = 0; round < 2; round++) await fleet.json(...echo);
    // A command that missed a result waits for its whole timeout, and then asks the minion for the job.
    const internal = isOurMaster ? ['internal=True'] : [];
    const { stdout } = await fleet.run('salt-run', ['jobs.list_jobs', ...internal, '--out=json']);
    const jobs = Object.entries(JSON.parse(stdout) as Record<string, { Function: string }>);
    const jidsOf = (fun: string): string[] => jobs.filter(([, job]) => job.Function === fun).map(([jid]) => jid);
    const [first = '', ...others] = jidsOf('test.echo').toSorted();
    expect(others).toHaveLength(2);
    expect(jidsOf('saltutil.find_job').filter((jid) => jid > first)).toEqual([]);
  });

  it('reports a function that raises', async () => {
    const { stdout, code } = await fleet.salt('m1', 'test.exception', 'boom');
    expect(stdout).toContain('boom');
    expect(code).toBe(1);
  });

  it('reports a failing command by exit code', async () => {
    expect((await fleet.salt('m1', 'cmd.run', 'exit 3')).code).toBe(1);
  });

  it('goes on after the AES key is rotated', async () => {
    if (master() === halite) {
      // Deleting any key rotates the shared one.
      writeFileSync(
        fleet.path('etc/pki/master/minions_pre/other'),
        readFileSync(fleet.path('etc/pki/master/minions/m1')),
      );
      const { code } = await fleet.run('salt-key', ['-y', '-d', 'other']);
      expect(code).toBe(0);
    } else {
      await fleet.run('salt-key', ['-y', '-d', 'nobody']);
      const { code } = await fleet.run('salt-run', ['--out=json', 'saltutil.sync_all']);
      expect(code).toBe(0);
    }
    await fleet.answering('m1');
  });

  it('comes back after a restart of the master', async () => {
    await fleet.master.dispose();
    await fleet.startMaster();
    await fleet.answering('m1');
  });

  it('needs its key accepted again after it was deleted', async () => {
    const { code } = await fleet.run('salt-key', ['-y', '-d', 'm1']);
    expect(code).toBe(0);
    // auto_accept takes it again as soon as it signs in; a Salt minion does so when its next message is refused.
    await fleet.minion('m1').dispose();
    fleet.startMinion('m1', minion(), largeResults);
    await fleet.answering('m1');
    const list = await fleet.run('salt-key', ['-l', 'acc', '--out=json']);
    expect((JSON.parse(list.stdout) as { minions: string[] }).minions).toEqual(['m1']);
  });
}
