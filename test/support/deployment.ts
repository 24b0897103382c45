// A master and minions as real processes in a private folder, of any implementation: Halite or a Salt release.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Daemon, halite, type Implementation, isHalite, minionReady } from './daemon.ts';
import { eventually } from './eventually.ts';
import { freePorts } from './ports.ts';

export { halite, type Implementation } from './daemon.ts';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

interface ProgramOptions {
  readonly timeoutMs?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Called with each piece of standard output. */
  readonly onOutput?: (text: string) => void;
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
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      options.onOutput?.(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 180_000);
    child.on('error', (error) => done({ stdout, stderr: `${stderr}${error.message}`, code: 127 }));
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ stdout, stderr, code });
    });
    // A program may end without reading it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
  return { pid: child.pid ?? 0, done };
}

export interface DeploymentOptions {
  readonly master?: Implementation;
  readonly transport?: 'zeromq' | 'tcp';
  /** Lines added to the master's configuration. */
  readonly masterConfig?: string;
  readonly autoAccept?: boolean;
  /** Where the master listens; masters behind one address have the same ports on different ones. */
  readonly interface?: string;
  readonly ports?: { readonly publish: number; readonly requests: number };
}

export class Deployment {
  readonly root: string;
  readonly ports: { publish: number; requests: number };
  readonly #options: DeploymentOptions;
  readonly #minions = new Map<string, Daemon>();
  #starts = 0;
  #implementation: Implementation;
  #master: Daemon | undefined;
  #api: Daemon | undefined;
  #syndic: Daemon | undefined;

  private constructor(root: string, ports: { publish: number; requests: number }, options: DeploymentOptions) {
    this.root = root;
    this.ports = ports;
    this.#options = options;
    this.#implementation = options.master ?? halite;
  }

  static async create(options: DeploymentOptions = {}): Promise<Deployment> {
    const [publish, requests] = options.ports ? [options.ports.publish, options.ports.requests] : await freePorts(2);
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

  get syndic(): Daemon {
    if (!this.#syndic) throw new Error('the syndic was not started');
    return this.#syndic;
  }

  /** A syndic beside this master, below the masters of other deployments; started after its master. */
  async startSyndic(id: string, above: readonly Deployment[], implementation = halite, extra = ''): Promise<void> {
    const [first] = above;
    if (!first) throw new Error('a syndic needs a higher master');
    const addresses = above.map(({ ports }) => `127.0.0.1:${ports.requests}`);
    const lines = [
      ...(above.length === 1
        ? ['syndic_master: 127.0.0.1', `syndic_master_port: ${first.ports.requests}`]
        : [`syndic_master: [${addresses.map((each) => `'${each}'`).join(', ')}]`]),
      `syndic_log_file: ${this.path('log/syndic')}`,
      `syndic_pidfile: ${this.path(`run/syndic-${this.#starts++}.pid`)}`,
      extra,
    ];
    writeFileSync(this.path('etc/master.d/syndic.conf'), `${lines.join('\n')}\n`);
    const minion = readFileSync(join(first.configureMinion(id), 'minion'), 'utf8');
    // Salt's syndic takes the publish port of the master beside it when the minion's file names none.
    const port = isHalite(implementation) ? '' : `publish_port: ${first.ports.publish}\n`;
    writeFileSync(this.path('etc/minion'), `${minion.replaceAll(first.path(id), this.path(id))}${port}`);
    const daemon = new Daemon(implementation, 'salt-syndic', this.masterConfigDir, this.path('log/syndic.out'));
    this.#syndic = daemon;
    const ready = isHalite(implementation)
      ? ['connected to the master, waiting for jobs']
      : ['Syndic successfully connected', 'Syndic successfully connected to'];
    await eventually('the syndic to connect', () => daemon.said(ready), {
      timeoutMs: 120_000,
      describe: () => daemon.output(),
      abort: () => !daemon.running,
    });
  }

  #writeMasterConfig(): void {
    const { publish, requests } = this.ports;
    for (const folder of ['etc/master.d', 'srv/salt', 'srv/pillar', 'log', 'run'])
      mkdirSync(this.path(folder), { recursive: true });
    const lines = [
      'user: root',
      `root_dir: ${this.root}`,
      `interface: ${this.#options.interface ?? '127.0.0.1'}`,
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
      isHalite(implementation) ? master.said(['master is ready']) : reachable(this.ports.requests);
    await eventually('the master to listen', listens, {
      describe: () => master.output(),
      abort: () => !master.running,
    });
  }

  /** Salt does not start when any process has the number its killed predecessor left in the file, and numbers come again. */
  #forgetPid(implementation: Implementation, file: string): void {
    if (!isHalite(implementation)) rmSync(file, { force: true });
  }

  /** salt-api with the master's configuration; the test writes its block of options. */
  async startApi(): Promise<Daemon> {
    const api = new Daemon(halite, 'salt-api', this.masterConfigDir, this.path('log/api.out'));
    this.#api = api;
    await eventually('the API to listen', () => api.said(['the API is ready']), {
      describe: () => api.output(),
      abort: () => !api.running,
    });
    return api;
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

  /** The folder of the configuration that all proxies of this deployment share, as on one machine; so is their key. */
  configureProxies(extra = '', folder = 'proxies'): string {
    const configDir = this.path(folder, 'etc');
    mkdirSync(configDir, { recursive: true });
    const lines = [
      'user: root',
      `root_dir: ${this.path(folder)}`,
      'master: 127.0.0.1',
      `master_port: ${this.ports.requests}`,
      `transport: ${this.#options.transport ?? 'zeromq'}`,
      'acceptance_wait_time: 1',
      'auth_timeout: 5',
      'random_reauth_delay: 1',
      'recon_default: 100',
      'recon_max: 1000',
      extra,
    ];
    writeFileSync(join(configDir, 'proxy'), `${lines.join('\n')}\n`);
    return configDir;
  }

  startProxy(id: string, implementation: Implementation = halite, extra = '', folder = 'proxies'): Daemon {
    const configDir = this.configureProxies(extra, folder);
    const log = this.path('log', `${id}.out`);
    const daemon = new Daemon(implementation, 'salt-proxy', configDir, log, [`--proxyid=${id}`]);
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
    const deadline = Date.now() + 240_000;
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
    await this.#api?.dispose();
    await this.#syndic?.dispose();
    await this.#master?.dispose();
    if (!process.env['HALITE_KEEP'] && existsSync(this.root))
      rmSync(this.root, { recursive: true, force: true, maxRetries: 20 });
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
