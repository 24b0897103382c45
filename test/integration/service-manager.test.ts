// What systemd sees of our daemons: ready, status, signs of life, reload, stop. The socket is real, and so is systemd-notify.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';

const notify = preparedProgram('systemd-notify', 'systemd');
const folder = mkdtempSync(join(tmpdir(), 'halite-notify-'));
const [socket, heard] = [join(folder, 'notify'), join(folder, 'heard')];

/** Node has no datagram sockets of the unix family: one line for each message, its lines joined by semicolons. */
const listener = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    text = s.recv(65536).decode()
    # What systemd-notify sends for itself, to know that a message was taken.
    if text != 'BARRIER=1':
        open(sys.argv[2], 'a').write(text.strip().replace('\\n', ';') + '\\n')
`;
const messages = (): string[] => (existsSync(heard) ? readFileSync(heard, 'utf8').trim().split('\n') : []);

describe.skipIf(!notify)('a master of Type=notify', () => {
  let manager: ChildProcess;
  let fleet: Deployment;
  const file = (): string => fleet.path('etc/master.d/changed.conf');
  const hangUp = (): boolean => process.kill(fleet.master.pid, 'SIGHUP');
  const log = (): string => readFileSync(fleet.path('log/master'), 'utf8');

  beforeAll(async () => {
    manager = spawn('python3', ['-c', listener, socket, heard], { stdio: 'inherit' });
    await eventually('the socket', () => existsSync(socket));
    fleet = await Deployment.create();
    writeFileSync(file(), 'nodegroups: {old: "L@m1"}\n');
    // Signs of life every 0.2 s are wanted within 0.6 s.
    const before = ['env', `NOTIFY_SOCKET=${socket}`, 'WATCHDOG_USEC=600000'];
    await fleet.startMaster({ ...halite, before });
    fleet.startMinion('m1');
    await fleet.answering('m1');
  });
  afterAll(async () => {
    await fleet?.destroy();
    manager?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('says that it is ready, what it does, and that it lives', async () => {
    expect(messages()[0]).toMatch(/^READY=1;STATUS=\d+ minions connected, \d+ open jobs, \d+ keys to accept$/);
    await eventually('signs of life with the count of minions', () =>
      messages().some((line) => line.startsWith('WATCHDOG=1;STATUS=1 minions connected, ')),
    );
  });

  it('keeps what systemd told it from jobs', async () => {
    const words = ['salt.cmd', 'cmd.run', 'printenv WATCHDOG_USEC || echo nothing', 'python_shell=True'];
    expect((await fleet.run('salt-run', words)).stdout.trim()).toBe('nothing');
  });

  it('reads its files again, takes what can be taken, and names the rest at each reload', async () => {
    expect((await fleet.salt('m1', 'test.echo', 'x')).stdout).toContain('x');
    const forbidden = 'publisher_acl_blacklist: {modules: [test.echo]}';
    writeFileSync(file(), `${forbidden}\nworker_threads: 3\nlog_level_logfile: debug\n`);
    hangUp();
    await eventually('the report', () => log().includes('changed options need a restart'), { describe: log });
    expect(log()).toMatch(/changed options were taken over.*log_level_logfile, nodegroups, publisher_acl_blacklist/);
    expect(log()).toMatch(/changed options need a restart.*worker_threads/);
    expect((await fleet.salt('m1', 'test.echo', 'x')).code).not.toBe(0);
    await eventually('systemd to know', () => messages().some((line) => /^RELOADING=1;MONOTONIC_USEC=\d+$/.test(line)));
    await eventually('the end of the reload', () => {
      const lines = messages();
      const begun = lines.findIndex((line) => line.startsWith('RELOADING=1'));
      return lines.slice(begun).some((line) => line.startsWith('READY=1'));
    });
    hangUp();
    await eventually('the second report', () => log().split('changed options need a restart').length === 3);
    expect(log().split('changed options were taken over')).toHaveLength(2);
  });

  it('goes on with its options when a file is broken', async () => {
    writeFileSync(file(), 'nodegroups: {old: \n');
    hangUp();
    await eventually('the complaint', () => log().includes('the files have errors: nothing was taken over'), {
      describe: log,
    });
    expect((await fleet.salt('m1', 'test.echo', 'x')).code).not.toBe(0);
  });

  it('says that it stops', async () => {
    await fleet.master.stop();
    await eventually('it to be told', () => messages().at(-1) === 'STOPPING=1');
  });
});
