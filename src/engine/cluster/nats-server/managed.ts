// A nats-server that a master starts itself, for small set-ups: it ends with the master, and is started again when it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { replaceFileNow } from '../../../base/util/replace-file.ts';
import type { ClusterOptions } from '../options.ts';
import { findNatsServer, type Login, loginOf, serverConfig } from './config.ts';

const startMs = 10_000;
const stopMs = 5000;
const againMs = 1000;
/** Ends a program with the thread that started it, also when that is killed. */
const withMaster = '/usr/bin/setpriv';

/** Below the `cachedir` of the master: configuration, data and log of the server. */
export const managedFolder = 'nats';
const configFile = 'nats-server.conf';

/** How its master logs in to the server that it runs; undefined when there is none, or this user may not know. */
export function managedLogin(cachedir: string): Login | undefined {
  try {
    return loginOf(readFileSync(join(cachedir, managedFolder, configFile), 'utf8'));
  } catch {
    return undefined;
  }
}

export interface ManagedServer {
  /** How this master logs in there: nobody else on this machine can. */
  readonly login: Login;
  stop(): Promise<void>;
}

export interface ManagedParts {
  readonly id: string;
  readonly options: ClusterOptions;
  readonly cachedir: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export async function startManagedServer({ id, options, cachedir, log }: ManagedParts): Promise<ManagedServer> {
  const found = findNatsServer();
  const { routesListen, peers } = options;
  const folder = join(cachedir, managedFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = {
    config: join(folder, configFile),
    pid: join(folder, 'nats-server.pid'),
    log: join(folder, 'nats-server.log'),
  };
  const login = { user: 'halite', password: randomBytes(24).toString('hex') };
  const text = serverConfig({
    ...{ name: id, cluster: options.name, listen: options.listen, store: join(folder, 'store') },
    ...{ tls: options.tls, insecure: options.insecure, login, syncAlways: found.syncAlways, pidFile: files.pid },
    ...(routesListen === undefined ? {} : { routes: { listen: routesListen, peers } }),
  });
  replaceFileNow(files.config, text, 0o600);
  await endLeftover(files.pid, files.config, log);
  if (await listens(options.listen)) {
    throw new HaliteError('daemon.running', `Something else listens on cluster.listen ${options.listen}`, {
      hint: 'Stop it, or choose another address; a server that runs already needs no `nats: managed`.',
    });
  }
  const supervisor = new Supervisor([found.program, '-c', files.config], files.log, log);
  supervisor.start();
  const until = performance.now() + startMs;
  while (!(await listens(options.listen))) {
    if (performance.now() > until || supervisor.failed) {
      await supervisor.stop();
      throw new HaliteError('daemon.unreachable', `The nats-server of this master does not start: see ${files.log}`);
    }
    await pause(50);
  }
  log.info('started a nats-server', { version: found.version, listen: options.listen, pid: supervisor.pid });
  return { login, stop: () => supervisor.stop() };
}

class Supervisor {
  readonly #command: readonly string[];
  readonly #logFile: string;
  readonly #log: ManagedParts['log'];
  #child: ChildProcess | undefined;
  #stopping = false;
  #ends = 0;

  constructor(command: readonly string[], logFile: string, log: ManagedParts['log']) {
    const kept = existsSync(withMaster) ? [withMaster, '--pdeathsig', 'SIGTERM', '--'] : [];
    this.#command = [...kept, ...command];
    this.#logFile = logFile;
    this.#log = log;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }
  /** It ended right after its start, several times. */
  get failed(): boolean {
    return this.#ends >= 3;
  }

  start(): void {
    const output = openSync(this.#logFile, 'a', 0o600);
    const [file = '', ...args] = this.#command;
    const child = spawn(file, args, { stdio: ['ignore', output, output], cwd: '/' });
    closeSync(output);
    this.#child = child;
    child.on('error', (error) => this.#log.error('the nats-server cannot be started', { error: messageOf(error) }));
    child.once('close', (code, signal) => {
      this.#ends += 1;
      if (this.#stopping) return;
      this.#log.error('the nats-server of this master ended; it is started again', {
        code,
        signal,
        log: this.#logFile,
      });
      setTimeout(() => {
        if (!this.#stopping) this.start();
      }, againMs);
    });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await ended;
    clearTimeout(hard);
  }
}

/** Of a master that was killed: only a process that runs with this very configuration. */
async function endLeftover(pidFile: string, config: string, log: ManagedParts['log']): Promise<void> {
  const isOurs = (): number | undefined => {
    try {
      const pid = Number(readFileSync(pidFile, 'utf8').trim());
      return pid > 1 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(config) ? pid : undefined;
    } catch {
      return undefined;
    }
  };
  const pid = isOurs();
  if (pid === undefined) return;
  log.warn('a nats-server of an earlier run is ended', { pid });
  process.kill(pid, 'SIGTERM');
  const until = performance.now() + stopMs;
  while (isOurs() !== undefined) {
    if (performance.now() > until) process.kill(pid, 'SIGKILL');
    await pause(50);
  }
}

function listens(address: string): Promise<boolean> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(address.slice(at + 1)), timeout: 1000 });
    const done = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
    socket.once('timeout', () => done(false));
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
