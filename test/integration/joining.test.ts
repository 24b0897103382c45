// A master alone becomes a cluster: machines are invited, join, and leave again, with real daemons and a real nats-server.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invitationLine, readInvitation } from '../../src/engine/cluster/joining/invitation.ts';
import {
  beginCluster,
  haliteOn,
  invite,
  machine,
  runner,
  startHaliteOn,
  startServers,
  together,
} from '../support/cluster-growth.ts';
import { Stranger } from '../support/cluster-stranger.ts';
import type { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { type NatsCluster, natsPrograms } from '../support/servers/nats.ts';

let nats: NatsCluster;
let m1: Deployment;
let m2: Deployment;
let m3: Deployment;
const gone = (on: Deployment, id: string): Promise<void> =>
  eventually(
    `${id} to be gone`,
    async () => (await on.run('salt-run', ['cluster.status'])).stdout.includes(`${id} is gone`),
    { timeoutMs: 120_000 },
  );

describe.skipIf(natsPrograms().length === 0)('a cluster that grows', () => {
  beforeAll(async () => {
    nats = await startServers();
    [m1, m2, m3] = (await Promise.all(
      ['m1', 'm2', 'm3'].map((id) => machine(id, { masterConfig: id === 'm1' ? 'peer: {web1: [test.*]}' : '' })),
    )) as [Deployment, Deployment, Deployment];
    await m1.startMaster();
    m1.startMinion('web1');
    await m1.answering('web1');
    expect((await m1.salt('web1', 'test.echo', 'before')).stdout).toContain('before');
    await m1.master.stop();
    await beginCluster(m1, nats);
    await m1.startMaster();
    await m1.answering('web1');
  });
  afterAll(async () => {
    await Promise.all([m1, m2, m3].map((each) => each?.destroy()));
    await nats?.stop();
  });

  it('lets a machine in by an invitation, once', async () => {
    const line = await invite(m1);
    expect(line).toMatch(/^halite-join-1\.[\w-]+\.[\w-]{8}$/);
    const dry = await haliteOn(m2, ['--dry-run', 'cluster', 'join'], line);
    expect(dry.code, dry.stderr).toBe(0);
    expect(dry.stdout).toMatch(/becomes the master m2 of the cluster test.*Nothing was changed/s);
    const joined = await haliteOn(m2, ['--keys-from', 'nats', 'cluster', 'join'], line);
    expect(joined.code, joined.stderr).toBe(0);
    expect(joined.stdout).toMatch(/This machine is m2, in slot 1 of the cluster test \(m1\)/);
    const key = (of: Deployment, name: string): string => readFileSync(of.path('etc/pki/master', name), 'utf8');
    for (const name of ['master.pem', 'master.pub', 'cluster_bus.key']) expect(key(m2, name)).toBe(key(m1, name));
    expect(key(m2, 'cluster_identity.pem')).not.toBe(key(m1, 'cluster_identity.pem'));
    for (const name of ['master.pem', 'cluster_bus.key', 'cluster_identity.pem'])
      expect(statSync(m2.path('etc/pki/master', name)).mode & 0o777).toBe(0o400);
    expect(readFileSync(m2.path('etc/master.d/zz-cluster.conf'), 'utf8')).toMatch(/peer:/);
    // The same machine again: nothing to do. Another one with the same line is refused.
    const again = await haliteOn(m2, ['--keys-from', 'nats', 'cluster', 'join'], line);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Everything is in place already') });
    const other = await haliteOn(m3, ['--keys-from', 'nats', 'cluster', 'join'], line);
    expect(other.code).not.toBe(0);
    expect(other.stderr).toMatch(/refuses: This invitation was used already, by another machine/);
    await m2.startMaster();
    await together([m1, m2]);
    expect((await m2.run('salt-key', ['-L'])).stdout).toMatch(/Accepted Keys:\s+web1/);
    expect((await m2.salt('web1', 'test.echo', 'by m2')).stdout).toContain('by m2');
  });

  it('says that nobody answers, and goes on when the masters and their servers are back', async () => {
    const m5 = await machine('m5');
    const line = await invite(m2);
    const [away] = await freePorts(1);
    const nowhere = invitationLine({ ...readInvitation(line), servers: [`nats://127.0.0.1:${away}`] });
    const unreachable = await haliteOn(m5, ['--keys-from', 'nats', 'cluster', 'join'], nowhere);
    expect(unreachable.stderr).toMatch(/no nats-server can be used \(nats:\/\/127/);
    await Promise.all([m1, m2].map(({ master }) => master.stop('SIGKILL')));
    const alone = await haliteOn(m5, ['--keys-from', 'nats', 'cluster', 'join'], line);
    expect(alone.stderr).toMatch(/No member of the cluster test answered within 20 s.*the invitation is still good/s);
    expect(readdirSync(m5.path('etc/pki/master'))).toEqual(['cluster_identity.pem']);
    for (const each of [m1, m2]) await each.startMaster();
    // What the master that was killed had promised is in what all of them share.
    const joined = await haliteOn(m5, ['--keys-from', 'nats', 'cluster', 'join'], line);
    expect(joined.code, joined.stderr).toBe(0);
    expect(await runner(m1, 'cluster.forget', 'm5')).toMatch(/never started/);
    await m5.destroy();
    await m1.answering('web1');
    await together([m1, m2]);
  });

  it('lets a machine in although strangers answer too, and one that was killed goes on', async () => {
    const line = await invite(m2);
    const stranger = await Stranger.start(nats, 'test');
    try {
      // Killed as soon as its request is there: the answer finds nobody.
      const first = startHaliteOn(m3, ['--keys-from', 'nats', 'cluster', 'join'], line);
      await eventually('the request', () => stranger.requests.length > 0);
      process.kill(first.pid, 'SIGKILL');
      await first.done;
      const again = await haliteOn(m3, ['--keys-from', 'nats', 'cluster', 'join'], line);
      expect(again.code, again.stderr).toBe(0);
      expect(again.stdout).toMatch(/This machine is m3, in slot 2/);
      // What was recorded lets nobody in, and tells nothing.
      const { secret } = readInvitation(line);
      for (const bytes of stranger.requests)
        expect(Buffer.from(bytes).toString('latin1')).not.toContain(Buffer.from(secret).toString('latin1'));
    } finally {
      await stranger.stop();
    }
    await m3.startMaster();
    await together([m1, m2, m3]);
  });

  it('refuses who knows the line and has another RSA key, without changing a file', async () => {
    const other = await startServers();
    const m4 = await machine('m4');
    const line = await invite(m1);
    // The line is stolen, and the machine is sent to other servers.
    const invitation = readInvitation(line);
    const stranger = await Stranger.start(other, 'test', invitation);
    try {
      const refused = await haliteOn(
        m4,
        ['--keys-from', 'nats', 'cluster', 'join'],
        invitationLine({ ...invitation, servers: other.servers }),
      );
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toMatch(
        /not to be trusted: it is by a master with the key [0-9a-f:]+; the invitation says [0-9a-f:]+\. Nothing was changed/,
      );
      expect(readdirSync(m4.path('etc/pki/master'))).toEqual(['cluster_identity.pem']);
    } finally {
      await stranger.stop();
      await other.stop();
    }
    // A folder of another master is refused by its fingerprint; the right one is taken.
    await m4.run('salt-key', ['--gen-keys=master', `--gen-keys-dir=${m4.path('etc/pki/master')}`]);
    const wrong = await haliteOn(m4, ['--keys-from', m4.masterConfigDir, 'cluster', 'join'], line);
    expect(wrong.stderr).toMatch(/has the master key [0-9a-f:]+; the invitation says/);
    const right = await haliteOn(m4, ['--keys-from', m1.masterConfigDir, 'cluster', 'join'], line);
    expect(right.code, right.stderr).toBe(0);
    expect(right.stdout).toMatch(/[1-9] replaced.*master\.restore/s);
    expect(readFileSync(m4.path('etc/pki/master/master.pem'), 'utf8')).toBe(
      readFileSync(m1.path('etc/pki/master/master.pem'), 'utf8'),
    );
    // It never started: its slot is free at once.
    expect(await runner(m1, 'cluster.forget', 'm4')).toMatch(/m4 never started/);
    await m4.destroy();
  });

  it('gets another key for what the masters tell each other, while jobs go on and a master is away', async () => {
    const keyOf = (of: Deployment): string => readFileSync(of.path('etc/pki/master/cluster_bus.key'), 'utf8');
    await m3.master.stop('SIGKILL');
    await gone(m1, 'm3');
    const before = keyOf(m1);
    expect(await runner(m1, 'cluster.rekey', '--dry-run')).toMatch(
      /make the key 2 .* m1, m2, m3;.*take it when they start: m3.*Nothing was changed/s,
    );
    expect([m1, m2].map(keyOf)).toEqual([before, before]);
    let goesOn = true;
    const answers: string[] = [];
    const jobs = [m1, m2].map(async (master) => {
      while (goesOn) answers.push((await master.salt('web1', 'test.echo', 'meanwhile', '-t', '30')).stdout);
    });
    await eventually('jobs', () => answers.length > 1);
    const status = async (): Promise<string> => (await m1.run('salt-run', ['cluster.status'])).stdout;
    expect(await runner(m1, 'cluster.rekey')).toMatch(/have the key 2 .*The old one opens nothing from .* on/);
    expect(await status()).toMatch(/key 2 of the cluster is used since .* UTC.*; the one before opens until .* UTC/);
    const changed = await runner(m2, 'cluster.rekey', 'minutes=0');
    goesOn = false;
    await Promise.all(jobs);
    expect(changed).toMatch(/have the key 2 of the cluster and use it. The old one opens nothing any more/);
    expect(answers.filter((answer) => !answer.includes('meanwhile'))).toEqual([]);
    const hasNew = (of: Deployment): boolean => /^2 \S+\n$/.test(keyOf(of));
    await eventually('the end of the old key', () => [m1, m2].every(hasNew));
    expect(await status()).not.toContain('the one before opens');
    expect(statSync(m1.path('etc/pki/master/cluster_bus.key')).mode & 0o777).toBe(0o400);
    await m3.startMaster();
    await together([m1, m2, m3]);
    await eventually('m3 to have the new key alone', () => hasNew(m3));
    expect((await m3.salt('web1', 'test.echo', 'by m3')).stdout).toContain('by m3');
  });

  it('lets a member go: drained, stopped, forgotten', async () => {
    const refused = await m1.run('salt-run', ['cluster.forget', 'm3']);
    expect(refused.stdout + refused.stderr).toMatch(/The master m3 runs: it cannot be forgotten/);
    expect(await runner(m1, 'cluster.drain', 'm3', 'dry_run=True')).toMatch(
      /Would let m3 start no new jobs.* It holds nothing and follows no job\. Nothing was changed/,
    );
    expect((await m3.salt('web1', 'test.echo', 'not drained')).stdout).toContain('not drained');
    expect(await runner(m1, 'cluster.rotate_aes', '--dry-run')).toMatch(
      /Would change the AES key .* on m1, m2, m3 at the same moment.*Nothing was changed/,
    );
    // A job of m3 that goes on elsewhere.
    const { stdout } = await m3.salt('--async', 'web1', 'test.sleep', '20');
    const jid = /(\d{20})/.exec(stdout)?.[1] ?? '';
    await eventually(
      'the job to be known on m1',
      async () => (await m1.run('salt-run', ['jobs.list_job', jid])).stdout.includes('test.sleep'),
      { timeoutMs: 120_000 },
    );
    expect(await runner(m1, 'cluster.drain', 'm3')).toMatch(/m3 holds nothing and follows no job: stop it/);
    expect((await m3.salt('web1', 'test.ping')).stderr).toMatch(/The master m3 is being drained.*Run it on m1 or m2/s);
    expect(await runner(m2, 'cluster.drain', 'm3', 'undo=True')).toMatch(/m3 takes jobs again/);
    await eventually('m3 to take jobs', async () => (await m3.salt('web1', 'test.ping')).stdout.includes('True'), {
      timeoutMs: 120_000,
    });
    expect(await runner(m1, 'cluster.drain', 'm3')).toMatch(/holds nothing/);
    await m3.master.stop();
    await gone(m1, 'm3');
    expect(await runner(m2, 'cluster.forget', 'm3', '--dry-run')).toMatch(
      /Would remove m3 from the cluster\. m3 was drained: nothing is lost\..*Nothing was changed/,
    );
    expect(await runner(m2, 'cluster.forget', 'm3')).toMatch(
      /m3 was drained: nothing is lost. Its slot 2 can be used again from/,
    );
    await eventually(
      'the result of the job',
      async () => (await m1.run('salt-run', ['jobs.lookup_jid', jid])).stdout.includes('web1'),
      { timeoutMs: 120_000 },
    );
    // It does not come back by itself.
    const back = await m3.run('salt-master', ['-l', 'error'], { timeoutMs: 120_000 });
    expect(back.stdout + back.stderr).toMatch(/m3 was removed from the cluster/);
  });

  it('says what was held by a member that is lost', async () => {
    await m2.master.stop('SIGKILL');
    await gone(m1, 'm2');
    const refused = await m1.run('salt-run', ['cluster.forget', 'm2']);
    expect(refused.stdout + refused.stderr).toMatch(
      /m2 was not drained\. When it was last heard .* it held nothing.*lost=True/s,
    );
    expect(await runner(m1, 'cluster.forget', 'm2', 'lost=True')).toMatch(/m2 is no member any more/);
    // One master again: the configuration without the cluster, and its history.
    await m1.master.stop();
    rmSync(m1.path('etc/master.d/cluster.conf'));
    await m1.startMaster();
    await m1.answering('web1');
    expect((await m1.run('salt-run', ['jobs.list_jobs'])).stdout).toMatch(/by m2/);
    expect((await m1.run('salt-run', ['jobs.list_jobs'])).stdout).toMatch(/before/);
  });
});
