// A master and minions as real processes in a private folder, of any implementation: Halite or a Salt release.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from './eventually.ts';
import { freePorts } from './ports.ts';

/** Where the commands of an implementation are: `halite`, or a Salt version prepared by salt-release.ts. */
export interface Implementation {
  readonly name: string;
  readonly bin: string;
}

export const halite: Implementation = { name: 'halite', bin: resolve(import.meta.dirname, '../../bin') };

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

interface ProgramOptions {
  readonly timeoutMs?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Runs a program to its end; never throws, the code says how it went. */
export function runProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<CommandResult> {
  return startProgram(file, args, options).done;
}

/** The same while it still runs, to send it signals. */
export function startProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions = {},
): { pid: number; done: Promise<CommandResult> } {
  const child = spawn(file, args, {
    env: { ...process.env, NO_COLOR: '1', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const done = new Promise<CommandResult>((done) => {
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000);
    child.on('error', (error) => done({ stdout, stderr: `${stderr}${error.message}`, code: 127 }));
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ stdout, stderr, code });
    });
    child.stdin.end(options.input ?? '');
  });
  return { pid: child.pid ?? 0, done };
}

/** What a minion logs when it can take jobs: Halite, and every Salt release. */
const minionReady = ['connected to the master, waiting for jobs', 'Minion is ready to receive requests!'];

class Daemon {
  readonly log: string;
  readonly #child: ChildProcess;
  /** How long the log of its predecessors is, in bytes. */
  readonly #logStart: number;
  readonly #foreign: boolean;

  constructor(implementation: Implementation, command: string, configDir: string, log: string) {
    this.log = log;
    this.#foreign = implementation.bin !== halite.bin;
    writeFileSync(log, '', { flag: 'a' });
    this.#logStart = statSync(log).size;
    const script = `exec "$0" "$@" >>"${log}" 2>&1`;
    const args = ['-c', script, join(implementation.bin, command), '-c', configDir, '-l', 'info'];
    // A process group of its own: Salt's daemons fork, and all of it must end with the test.
    this.#child = spawn('/bin/sh', args, { stdio: 'ignore', detached: true });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }
  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
  output(): string {
    return readFileSync(this.log, 'utf8');
  }

  /** Whether one of these was logged since it was started. */
  said(lines: readonly string[]): boolean {
    const text = readFileSync(this.log).subarray(this.#logStart).toString('utf8');
    return lines.some((line) => text.includes(line));
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.running) return;
    const ended = new Promise<void>((done) => this.#child.once('exit', () => done()));
    signalGroup(this.pid, signal);
    const hard = setTimeout(() => signalGroup(this.pid, 'SIGKILL'), 10_000);
    await ended;
    clearTimeout(hard);
    signalGroup(this.pid, 'SIGKILL');
  }

  /** Where it matters only that it ends: a real Salt minion takes seven seconds to end by SIGTERM, which proves nothing of ours. */
  async dispose(): Promise<void> {
    await this.stop(this.#foreign ? 'SIGKILL' : 'SIGTERM');
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

export interface DeploymentOptions {
  readonly master?: Implementation;
  readonly transport?: 'zeromq' | 'tcp';
  /** Lines added to the master's configuration. */
  readonly masterConfig?: string;
  readonly autoAccept?: boolean;
}

export class Deployment {
  readonly root: string;
  readonly ports: { publish: number; requests: number };
  readonly #options: DeploymentOptions;
  readonly #minions = new Map<string, Daemon>();
  #starts = 0;
  #implementation: Implementation;
  #master: Daemon | undefined;

  private constructor(root: string, ports: { publish: number; requests: number }, options: DeploymentOptions) {
    this.root = root;
    this.ports = ports;
    this.#options = options;
    this.#implementation = options.master ?? halite;
  }

  static async create(options: DeploymentOptions = {}): Promise<Deployment> {
    const [publish, requests] = await freePorts(2);
    const root = mkdtempSync(join(tmpdir(), 'halite-test-'));
    const deployment = new Deployment(root, { publish: publish!, requests: requests! }, options);
    deployment.#writeMasterConfig();
    return deployment;
  }

  get masterConfigDir(): string {
    return join(this.root, 'etc');
  }
  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }
  get master(): Daemon {
    if (!this.#master) throw new Error('the master was not started');
    return this.#master;
  }
  minion(id: string): Daemon {
    const daemon = this.#minions.get(id);
    if (!daemon) throw new Error(`minion ${id} was not started`);
    return daemon;
  }

  #writeMasterConfig(): void {
    const { publish, requests } = this.ports;
    for (const folder of ['etc/master.d', 'srv/salt', 'srv/pillar', 'log', 'run'])
      mkdirSync(this.path(folder), { recursive: true });
    const lines = [
      'user: root',
      `root_dir: ${this.root}`,
      'interface: 127.0.0.1',
      `publish_port: ${publish}`,
      `ret_port: ${requests}`,
      `pki_dir: ${this.path('etc/pki/master')}`,
      `cachedir: ${this.path('cache/master')}`,
      `sock_dir: ${this.path('run/master')}`,
      `log_file: ${this.path('log/master')}`,
      `key_logfile: ${this.path('log/key')}`,
      `pidfile: ${this.path('run/master.pid')}`,
      `auto_accept: ${this.#options.autoAccept === false ? 'False' : 'True'}`,
      `transport: ${this.#options.transport ?? 'zeromq'}`,
      `file_roots: {base: [${this.path('srv/salt')}]}`,
      `pillar_roots: {base: [${this.path('srv/pillar')}]}`,
      'gather_job_timeout: 1',
      'worker_threads: 2',
      this.#options.masterConfig ?? '',
    ];
    writeFileSync(this.path('etc/master'), `${lines.join('\n')}\n`);
  }

  async startMaster(implementation = this.#implementation): Promise<void> {
    this.#implementation = implementation;
    this.#forgetPid(implementation, this.path('run/master.pid'));
    this.#master = new Daemon(implementation, 'salt-master', this.masterConfigDir, this.path('log/master.out'));
    const master = this.#master;
    // Halite says it. A port alone may be that of another process when this one could not have it.
    const listens = (): boolean | Promise<boolean> =>
      implementation.bin === halite.bin ? master.said(['master is ready']) : reachable(this.ports.requests);
    await eventually('the master to listen', listens, {
      describe: () => master.output(),
      abort: () => !master.running,
    });
  }

  /** Salt does not start when any process has the number its killed predecessor left in the file, and numbers come again. */
  #forgetPid(implementation: Implementation, file: string): void {
    if (implementation.bin !== halite.bin) rmSync(file, { force: true });
  }

  /** Writes a minion's configuration without starting it. */
  configureMinion(id: string, extra = '', pidFile = 'pid'): string {
    const configDir = this.path(id, 'etc');
    mkdirSync(configDir, { recursive: true });
    const lines = [
      `id: ${id}`,
      'user: root',
      `root_dir: ${this.path(id)}`,
      'master: 127.0.0.1',
      `master_port: ${this.ports.requests}`,
      `pki_dir: ${this.path(id, 'pki')}`,
      `cachedir: ${this.path(id, 'cache')}`,
      `sock_dir: ${this.path(id, 'run')}`,
      `log_file: ${this.path(id, 'log')}`,
      `pidfile: ${this.path(id, pidFile)}`,
      `transport: ${this.#options.transport ?? 'zeromq'}`,
      'acceptance_wait_time: 1',
      'auth_timeout: 5',
      'random_reauth_delay: 1',
      'recon_default: 100',
      'recon_max: 1000',
      extra,
    ];
    writeFileSync(join(configDir, 'minion'), `${lines.join('\n')}\n`);
    return configDir;
  }

  startMinion(id: string, implementation: Implementation = halite, extra = ''): Daemon {
    // A process of a killed Salt minion may live on and write its number once more: each start has a file of its own.
    const pidFile = implementation.name.startsWith('salt ') ? `pid-${this.#starts++}` : 'pid';
    const configDir = this.configureMinion(id, extra, pidFile);
    const daemon = new Daemon(implementation, 'salt-minion', configDir, this.path('log', `${id}.out`));
    this.#minions.set(id, daemon);
    return daemon;
  }

  /** A command of the master's side (`salt`, `salt-key`, `salt-run`). */
  run(
    command: string,
    args: readonly string[],
    options: { timeoutMs?: number; implementation?: Implementation; input?: string } = {},
  ): Promise<CommandResult> {
    const { implementation = this.#implementation, ...rest } = options;
    return runProgram(join(implementation.bin, command), ['-c', this.masterConfigDir, ...args], rest);
  }

  salt(...args: string[]): Promise<CommandResult> {
    return this.run('salt', args);
  }

  /** Result of a job by minion, through `--out=json --static`. */
  async json(...args: string[]): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await this.salt(...args, '--out=json', '--static');
    try {
      return JSON.parse(stdout) as Record<string, unknown>;
    } catch {
      throw new Error(`salt ${args.join(' ')} printed no JSON:\n${stdout}\n${stderr}`);
    }
  }

  /**
   * Waits until each of these minions answers a ping. None is sent before they have said that they can take jobs: a
   * command of Salt's costs a second of a processor, and so does a job on minions that are still starting.
   */
  async answering(...ids: string[]): Promise<void> {
    const deadline = Date.now() + 100_000;
    const started = ids.map((id) => this.#minions.get(id)).filter((daemon) => daemon !== undefined);
    const ready = (): boolean => started.every((daemon) => daemon.said(minionReady) || !daemon.running);
    // One that says nothing is asked all the same.
    await eventually('minions to be ready', ready, { timeoutMs: 60_000 }).catch(() => undefined);
    const missing = async (): Promise<string[]> => {
      const answers = await this.json('-L', ids.join(','), 'test.ping', '-t', '1').catch(
        () => ({}) as Record<string, unknown>,
      );
      return ids.filter((id) => answers[id] !== true);
    };
    await eventually(`${ids.join(', ')} to answer`, async () => (await missing()).length === 0, {
      timeoutMs: deadline - Date.now(),
      abort: () => this.#master?.running === false,
      describe: () =>
        [this.#master, ...this.#minions.values()]
          .map((daemon) => daemon && `--- ${daemon.log}\n${daemon.output().slice(-3000)}`)
          .join('\n'),
    });
  }

  /** Ends every process and removes the folder (kept with HALITE_KEEP=1, to look at). */
  async destroy(): Promise<void> {
    await Promise.all([...this.#minions.values()].map((daemon) => daemon.dispose()));
    await this.#master?.dispose();
    if (!process.env['HALITE_KEEP'] && existsSync(this.root))
      rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function reachable(port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });
}
