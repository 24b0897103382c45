// Story 002: a Salt master is moved to another machine and back, by docs/guide/replacing-a-salt-master.md. Its minions are
// real ones and Halite's; HALITE_MOVED_MINIONS sets how many of each kind (1 in CI), HALITE_MOVED_TO=cluster makes the new
// master the first of two members of a cluster.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginClusterAt, haliteOn, machine, startServers } from '../support/cluster-growth.ts';
import {
  type CommandResult,
  Deployment,
  halite,
  type Implementation,
  runProgram,
  startProgram,
} from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { saltRelease } from '../support/salt-release.ts';
import type { NatsCluster } from '../support/servers/nats.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { type Sshd, startSshd } from '../support/servers/sshd.ts';

const count = Number(process.env['HALITE_MOVED_MINIONS'] ?? 1);
const inCluster = process.env['HALITE_MOVED_TO'] === 'cluster';
const sshd = preparedProgram('sshd', 'openssh-server');
const real = Array.from({ length: count }, (_, at) => `real${at}`);
const ours = Array.from({ length: count }, (_, at) => `ours${at}`);
const all = [...real, ...ours];

/** A service manager of one line: the minion is started again whenever it ends, until its folder is gone. */
function supervised(salt: Implementation, folder: string): Implementation {
  mkdirSync(folder);
  const script = `#!/bin/sh
while [ -e "$2" ]; do
  ${join(salt.bin, 'salt-minion')} "$@" &
  echo $! >"$2/pid-to-restart"
  wait $!
  sleep 0.2
done
`;
  writeFileSync(join(folder, 'salt-minion'), script);
  chmodSync(join(folder, 'salt-minion'), 0o755);
  return { name: salt.name, bin: folder };
}

describe.skipIf(!sshd)('a Salt master is replaced by a Halite master', () => {
  let old: Deployment;
  let server: Sshd;
  let here: string;
  let ports: { publish: number; requests: number };
  let nats: NatsCluster | undefined;
  /** The other member of the cluster. */
  let second: Deployment | undefined;
  let daemon: { pid: number; done: Promise<CommandResult> } | undefined;
  const etc = (): string => join(here, 'etc');
  const run = (command: string, ...args: string[]): Promise<CommandResult> =>
    runProgram(join(halite.bin, command), ['-c', etc(), ...args], { timeoutMs: 400_000 });
  const answering = async (who: readonly string[], ask: () => Promise<string>, text: string): Promise<void> => {
    let said = '';
    const complete = async (): Promise<boolean> => {
      said = await ask();
      return who.every((id) => new RegExp(`"${id}": true`).test(said));
    };
    await eventually(text, complete, {
      timeoutMs: 200_000,
      describe: () => said + who.map((id) => old.minion(id).output().slice(-1500)).join('\n---\n'),
    });
  };
  const atNew = (who: readonly string[]): Promise<void> =>
    answering(
      who,
      async () => (await run('salt', '-L', who.join(','), 'test.ping', '-t', '3', '--out=json', '--static')).stdout,
      `${who} to answer the new master`,
    );
  const atOld = (who: readonly string[]): Promise<void> =>
    answering(
      who,
      async () => (await old.salt('-L', who.join(','), 'test.ping', '-t', '3', '--out=json', '--static')).stdout,
      `${who} to answer the old master`,
    );

  /** The commands of the guide, as it prints them: what this test runs are these, with the folders and ports of the test. */
  const guide = readFileSync(new URL('../../docs/guide/replacing-a-salt-master.md', import.meta.url), 'utf8');
  const saidByGuide = (...commands: string[]): void => {
    const printed = [...guide.matchAll(/^# (salt-run .+|halite .+|systemctl .+)$|`(salt[ -][^`]+)`/gm)].map(
      ([, line, inText]) => line ?? inText ?? '',
    );
    expect(printed).toEqual(expect.arrayContaining(commands));
  };

  const restart = (): string => `setsid sh -c 'sleep 1; kill $(cat ${old.root}/$0/etc/pid-to-restart)'`;

  beforeAll(async () => {
    const salt = saltRelease('3006.27');
    here = mkdtempSync(join(tmpdir(), 'halite-story-'));
    mkdirSync(etc());
    const [publish = 0, requests = 0] = await freePorts(2);
    ports = { publish, requests };
    old = await Deployment.create({ master: salt });
    writeFileSync(old.path('srv/salt/hello.txt'), 'hello from the old master\n');
    writeFileSync(old.path('srv/pillar/top.sls'), 'base: {"*": [color]}\n');
    writeFileSync(old.path('srv/pillar/color.sls'), 'color: blue\n');
    server = await startSshd();
    await old.startMaster();
    const service = supervised(salt, old.path('service'));
    for (const id of real) old.startMinion(id, service);
    for (const id of ours) old.startMinion(id, halite);
    await old.answering(...all);
  });
  afterAll(async () => {
    if (daemon) {
      process.kill(daemon.pid, 'SIGTERM');
      await daemon.done;
    }
    await second?.destroy();
    await nats?.stop();
    await old?.destroy();
    await server?.stop();
    rmSync(here, { recursive: true, force: true });
  });

  it('clones it over ssh while it runs, and reads its history', async () => {
    saidByGuide('salt-run master.clone ssh://old', 'systemctl start salt-master', 'salt-run jobs.list_jobs');
    const echoed = await old.salt(ours[0] ?? '', 'test.echo', 'from the days of Salt');
    expect(echoed.stdout).toContain('from the days of Salt');
    const cloned = await run(
      'salt-run',
      'master.clone',
      `ssh://127.0.0.1:${server.port}${old.masterConfigDir}`,
      `ssh=${server.config}`,
      `place=${old.root}:${here}`,
      `publish_port=${ports.publish}`,
      `ret_port=${ports.requests}`,
    );
    expect(cloned, cloned.stderr).toMatchObject({ code: 0 });
    expect(cloned.stderr).toContain(`${all.length} accepted`);
    expect(cloned.stdout).toMatch(/history: [1-9]\d* jobs and the data of \d+ minions from Salt's job cache/);
    if (inCluster) {
      nats = await startServers();
      await beginClusterAt(etc(), nats);
    }
    const log = join(here, 'out');
    daemon = startProgram(
      '/bin/sh',
      ['-c', `exec "$0" -c "$1" -l info >"${log}" 2>&1`, join(halite.bin, 'salt-master'), etc()],
      { timeoutMs: 900_000 },
    );
    writeFileSync(log, '');
    const said = (): string => readFileSync(log, 'utf8');
    await eventually('the new master to be ready', () => said().includes('master is ready'), { describe: said });
    const jobs = await run('salt-run', 'jobs.list_jobs', 'search_function=test.echo', '--out=json');
    const jid = /"(\d{20})"/.exec(jobs.stdout)?.[1] ?? '';
    expect((await run('salt-run', 'jobs.lookup_jid', jid, '--out=json')).stdout).toContain('from the days of Salt');
    if (!inCluster) return;
    second = await machine('m2');
    const line = (await run('salt-run', 'cluster.invite', '--out=newline_values_only')).stdout.trim();
    expect(await haliteOn(second, ['cluster', 'join'], line)).toMatchObject({ code: 0 });
    await second.startMaster();
    await eventually(
      'the other member to have the history',
      async () =>
        (await second?.run('salt-run', ['jobs.lookup_jid', jid]))?.stdout.includes('from the days of Salt') === true,
    );
  });

  it('moves its minions with jobs of the old master', async () => {
    saidByGuide(
      "salt 'ours*' minion.use_master new:4506",
      "salt 'real*' file.makedirs /etc/salt/minion.d/_masters.conf",
      `salt 'real*' file.write /etc/salt/minion.d/_masters.conf 'master: ["new:4506"]'`,
      "salt 'real*' cmd.run_bg 'systemd-run --on-active=2 systemctl restart salt-minion'",
      "salt '*' test.ping",
    );
    const moved = await old.salt(
      '-L',
      ours.join(','),
      'minion.use_master',
      `127.0.0.1:${ports.requests}`,
      'finish=True',
      '-t',
      '60',
    );
    expect(moved.stdout, moved.stderr).toContain('moved');
    await atNew(ours);
    for (const id of real) {
      const place = old.path(id, 'etc/minion.d/_masters.conf');
      const content = `master: ["127.0.0.1:${ports.requests}"]`;
      expect((await old.salt(id, 'file.makedirs', place)).code).toBe(0);
      expect((await old.salt(id, 'file.write', place, content)).stdout).toContain('Wrote 1 lines');
      await old.salt(id, 'cmd.run_bg', restart().replace('$0', id));
    }
    await atNew(all);
    expect(
      (await run('salt', '-L', all.join(','), 'pillar.get', 'color', '--out=json', '--static')).stdout.match(/"blue"/g),
    ).toHaveLength(all.length);
    const hello = await run('salt', '-L', all.join(','), 'cp.get_file_str', 'salt://hello.txt');
    expect(hello.stdout.match(/hello from the old master/g)).toHaveLength(all.length);
    if (second)
      expect(await second.json('-L', all.join(','), 'test.echo', 'asked by m2', '-t', '60')).toEqual(
        Object.fromEntries(all.map((id) => [id, 'asked by m2'])),
      );
  });

  it('moves them back with master.handover', async () => {
    saidByGuide(
      'salt-run master.handover old:4506 --dry-run',
      'salt-run master.handover old:4506 apply=True',
      'salt-run master.handover old:4506 apply=True finish=True',
    );
    const back = `127.0.0.1:${old.ports.requests}`;
    const args = [back, `publish_port=${old.ports.publish}`, 'apply=True', 'wait=150'];
    const shown = await run('salt-run', 'master.handover', back, '--dry-run', '--out=json');
    expect(shown.stdout).toContain('cmd.run_bg');
    // Connected to this master's port, but not to that address: nothing may be changed.
    const nowhere = ['127.0.0.9:4506', `publish_port=${ports.publish}`, 'apply=True', 'finish=True', `tgt=${real[0]}`];
    const refused = await run('salt-run', 'master.handover', ...nowhere, '--out=json');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout), refused.stderr).toMatchObject({
      salt: { stopped: expect.stringContaining('not connected to 127.0.0.9:4506') as unknown },
    });
    for (const id of real) {
      const one = await run(
        'salt-run',
        'master.handover',
        ...args,
        `tgt=${id}`,
        `restart=${restart().replace('$0', id)}`,
        '--out=json',
      );
      expect(JSON.parse(one.stdout), one.stderr).toMatchObject({ salt: { connected: [id] } });
      const finished = await run(
        'salt-run',
        'master.handover',
        ...args,
        `tgt=${id}`,
        'finish=True',
        `restart=${restart().replace('$0', id)}`,
        '--out=json',
      );
      expect(JSON.parse(finished.stdout), finished.stderr).toMatchObject({ salt: { left: [id] } });
    }
    const others = await run(
      'salt-run',
      'master.handover',
      ...args,
      `tgt=${ours.join(',')}`,
      'tgt_type=list',
      'finish=True',
      '--out=json',
    );
    expect(JSON.parse(others.stdout), others.stderr).toMatchObject({ halite: { [ours[0] ?? '']: 'moved' } });
    await atOld(all);
  }, 600_000);
});
