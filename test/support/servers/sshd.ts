// A real sshd on a loopback port, with its own host key and one key that may sign in as the user of the tests.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePorts } from '../ports.ts';

export interface Sshd {
  readonly port: number;
  readonly pid: number;
  /** A configuration file for ssh that trusts the host key and names the user's key. */
  readonly config: string;
  /** The user's private key. */
  readonly key: string;
  /** The known host key. */
  readonly known: string;
  /** What it has logged. */
  log(): string;
  stop(): Promise<void>;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });

export interface SshdOptions {
  /** More lines of its configuration, before ours. */
  readonly lines?: readonly string[];
  /** Shell commands in a mount namespace of its own, before it starts: nothing outside has what they mount. Needs root. */
  readonly mounts?: string;
  /** Root's password, in that namespace. */
  readonly password?: string;
  /** The text of `authorized_keys` instead of the user's key. */
  readonly authorized?: string;
}

/** A copy of the system's passwords with another one for root. */
function withPassword(folder: string, password: string): string {
  const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], { input: password, encoding: 'utf8' }).trim();
  const lines = readFileSync('/etc/shadow', 'utf8').replace(/^root:[^:]*:/m, `root:${hash}:`);
  writeFileSync(join(folder, 'shadow'), lines, { mode: 0o600 });
  return `mount --bind ${join(folder, 'shadow')} /etc/shadow`;
}

/** `environment` is what the sessions get, for example a PATH. */
export async function startSshd(
  environment: Readonly<Record<string, string>> = {},
  options: SshdOptions = {},
): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-sshd-'));
  const [port = 0] = await freePorts(1);
  for (const name of ['host', 'user'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  // The service makes it when it starts; ours may be the first one.
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const own = readFileSync(join(folder, 'user.pub'), 'utf8');
  writeFileSync(join(folder, 'authorized'), options.authorized ?? own);
  chmodSync(join(folder, 'authorized'), 0o600);
  const setEnv = Object.entries(environment).map(([name, value]) => `SetEnv ${name}=${value}`);
  const lines = [
    ...(options.lines ?? []),
    // By default it drops some of more than ten that have not signed in yet.
    'MaxStartups 1000',
    'MaxSessions 100',
    ...(options.password === undefined ? [] : ['PasswordAuthentication yes', 'PermitRootLogin yes']),
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `PidFile ${join(folder, 'pid')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
    ...setEnv,
  ];
  writeFileSync(join(folder, 'sshd_config'), `${lines.join('\n')}\n`);
  const [kind, key] = readFileSync(join(folder, 'host.pub'), 'utf8').split(' ');
  writeFileSync(join(folder, 'known'), `[127.0.0.1]:${port} ${kind} ${key}\n`);
  const config = join(folder, 'ssh_config');
  const about = [
    'Host *',
    `IdentityFile ${join(folder, 'user')}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${join(folder, 'known')}`,
    `User ${userInfo().username}`,
  ];
  writeFileSync(config, `${about.join('\n  ')}\n`);
  const log: string[] = [];
  const mounts = [
    ...(options.password === undefined ? [] : [withPassword(folder, options.password)]),
    ...(options.mounts === undefined ? [] : [options.mounts]),
  ];
  const command = ['/usr/sbin/sshd', '-D', '-e', '-f', join(folder, 'sshd_config')];
  const [program = '', ...args] =
    mounts.length === 0
      ? command
      : ['unshare', '--mount', '/bin/sh', '-ec', `${mounts.join('\n')}\nexec "$@"`, 'sshd', ...command];
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr?.on('data', (data: Buffer) => log.push(data.toString()));
  await eventually('sshd to listen', () => listens(port), {
    describe: () => log.join(''),
    abort: () => child.exitCode !== null,
  });
  return {
    port,
    pid: child.pid ?? 0,
    config,
    key: join(folder, 'user'),
    known: join(folder, 'known'),
    log: () => log.join(''),
    stop: async () => {
      const ended = new Promise((done) => child.once('exit', done));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
