// Making a cluster by the commands, with real masters and a nats-server that the master runs itself.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { preparedProgram } from '../support/servers/server.ts';

let folder: string;
const children: ReturnType<typeof spawn>[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-cluster-command-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await eventually('the master to end', () => child.exitCode !== null || child.signalCode !== null);
  }
  rmSync(folder, { recursive: true, force: true });
});

const place = (...parts: string[]): string => join(folder, ...parts);
const command = (...args: string[]) => runProgram(join(halite.bin, 'halite'), ['-c', place('etc'), ...args]);

async function configure(cluster = ''): Promise<number> {
  const [publish, ret, nats] = await freePorts(3);
  mkdirSync(place('etc/master.d'), { recursive: true });
  const settings = {
    id: 'm1',
    interface: '127.0.0.1',
    publish_port: publish,
    ret_port: ret,
    user: process.env['USER'] ?? 'root',
  };
  const folders = {
    pki_dir: place('pki'),
    cachedir: place('cache'),
    sock_dir: place('sock'),
    log_file: place('log'),
    pidfile: place('pid'),
  };
  const lines = Object.entries({ ...settings, ...folders }).map(([key, value]) => `${key}: ${String(value)}`);
  writeFileSync(place('etc/master'), `${lines.join('\n')}\n`);
  if (cluster !== '') writeFileSync(place('etc/master.d/cluster.conf'), cluster.replaceAll('{port}', String(nats)));
  return nats!;
}

function startMaster(): ReturnType<typeof spawn> {
  const child = spawn(join(halite.bin, 'salt-master'), ['-c', place('etc'), '-l', 'info'], { stdio: 'ignore' });
  children.push(child);
  return child;
}
const logged = (text: string): Promise<void> => {
  const read = (): string => (existsSync(place('log')) ? readFileSync(place('log'), 'utf8') : '');
  return eventually(`the log to say ${text}`, () => read().includes(text), { timeoutMs: 120_000, describe: read });
};

it('makes keys once, says what it would do, and prints a block that a master takes', async () => {
  await configure();
  const dry = await command('--dry-run', 'cluster', 'init', 'prod', 'nats://127.0.0.1:4222');
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/cluster_bus\.key would be made/) });
  expect(existsSync(place('pki/cluster_bus.key'))).toBe(false);
  const made = await command('cluster', 'init', 'prod', 'nats://127.0.0.1:4222');
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/cluster:\n {2}name: prod\n {2}servers:\n {4}- nats:/),
  });
  const files = ['cluster_bus.key', 'cluster_identity.pem'].map((name) => place('pki', name));
  expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o400, 0o400]);
  const before = files.map((file) => readFileSync(file, 'utf8'));
  expect(made.stdout).not.toContain(before[0]!.trim().split(' ')[1]!);
  const again = await command('cluster', 'init', 'prod', 'nats://127.0.0.1:4222');
  expect(again.stdout).toMatch(/cluster_bus\.key is there already and stays/);
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
});

it.each([
  [['cluster', 'init', 'Prod', 'tls://n1:4222'], /cluster\.name is needed/],
  [['cluster', 'init', 'prod', 'n1'], /cluster\.servers has an entry that is no address: n1/],
  [['cluster', 'init', 'prod'], /takes a name and the addresses/],
  [['cluster', 'ini'], /no "cluster ini"/],
  [['cluster', 'nats'], /no option `cluster`/],
])('refuses halite %j', async (words, message) => {
  await configure();
  const done = await command(...words);
  expect(done.code).not.toBe(0);
  expect(done.stderr).toMatch(message);
});

it('shows the files of a nats-server, and refuses one without TLS on a network', async () => {
  if (!preparedProgram('nats-server', 'nats-server')) return;
  await configure('cluster: {name: prod, servers: ["tls://n1:4222"]}\n');
  const refused = await command('--dry-run', 'cluster', 'nats', 'n1', 'n2', 'n3');
  expect(refused).toMatchObject({ stderr: expect.stringMatching(/listens on n1:4222 and n1:6222 needs TLS/) });
  await configure('cluster: {name: prod, servers: ["tls://n1:4222"], ca: /ca.pem, cert: /c.pem, key: /k.pem}\n');
  const shown = await command('--dry-run', 'cluster', 'nats', 'n1', 'n2', 'n3');
  expect(shown.code).toBe(0);
  for (const part of [
    'listen: "n1:4222"',
    '"nats-route://n3:6222"',
    'verify: true',
    'ExecStart=',
    'enable --now halite-nats',
  ]) {
    expect(shown.stdout).toContain(part);
  }
  expect(existsSync(place('etc/nats-server.conf'))).toBe(false);
});

it('runs a nats-server of its own, which ends with it, also when it is killed', async () => {
  if (!preparedProgram('nats-server', 'nats-server')) return;
  await configure('cluster: {name: prod, nats: managed, listen: "127.0.0.1:{port}", replicas: 1}\n');
  await command('cluster', 'init', 'prod', 'nats://127.0.0.1:4222');
  const first = startMaster();
  await logged('joined the cluster');
  expect(statSync(place('cache/nats/nats-server.conf')).mode & 0o777).toBe(0o600);
  const pidOf = (): number => Number(readFileSync(place('cache/nats/nats-server.pid'), 'utf8'));
  const lives = (pid: number): boolean => existsSync(`/proc/${pid}`);
  const pid = pidOf();
  first.kill('SIGKILL');
  if (existsSync('/usr/bin/setpriv')) await eventually('it to end with its master', () => !lives(pid));
  rmSync(place('log'));
  const second = startMaster();
  await logged('master is ready');
  // The doctor logs in as the master does.
  const examined = await command('doctor', '--out=json');
  expect(examined.stdout).toMatch(/The nats-server nats:\S+ \(2\.\d+\.\d+\) can be used/);
  const next = pidOf();
  expect(next).not.toBe(pid);
  second.kill('SIGTERM');
  await eventually('both to end', () => second.exitCode !== null && !lives(next));
});
