// The ssh processes of one target. The first one opens the connection, others share it, and all of it ends with them.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Answering, Askpass, Questions } from './askpass.ts';
import { type ClientOptions, sshArguments } from './client-options.ts';
import { interrupted, type SshFailure, tooLate } from './reasons.ts';
import type { SshTarget } from './target.ts';

const mostErrorText = 64 * 1024;
/** Of a timer. */
export const longestMs = 2 ** 31 - 1;

/** When a command is stopped. */
export interface Limits {
  readonly signal: AbortSignal;
  readonly deadlineMs?: number | undefined;
}

/** One command on the target. */
export class SshProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Its exit status; 255 is ssh's own, or that of a program that a signal ended. */
  readonly ended: Promise<number>;
  /** ssh itself was ended by a signal. */
  killed = false;
  #errors = '';

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    // A session of its own: without a terminal ssh asks our program, and Ctrl-C is handled here.
    this.child = spawn('ssh', [...args], { env: { ...process.env, ...env }, stdio: 'pipe', detached: true });
    this.child.stdin.on('error', () => undefined);
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (this.#errors.length < mostErrorText) this.#errors += text;
    });
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.#errors += `ssh: ${error.message}\n`;
        resolve(255);
      });
      this.child.once('close', (code, signal) => {
        this.killed = signal !== null;
        resolve(code ?? 255);
      });
    });
  }

  get errors(): string {
    return this.#errors;
  }

  kill(): void {
    this.child.kill('SIGTERM');
  }

  /** Its exit status, or why it was stopped before it ended by itself. */
  async within({ signal, deadlineMs }: Limits): Promise<number | SshFailure> {
    let stopped: SshFailure | undefined;
    const stop = (failure: SshFailure): void => {
      stopped ??= failure;
      this.kill();
    };
    const abort = (): void => stop(interrupted());
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const timer =
      deadlineMs === undefined ? undefined : setTimeout(() => stop(tooLate()), Math.min(deadlineMs, longestMs));
    const status = await this.ended;
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    return stopped ?? status;
  }
}

export class SshHost {
  readonly target: SshTarget;
  readonly #client: ClientOptions;
  readonly #answering: Answering;
  readonly #control: string;
  readonly #running: Set<SshProcess>;

  private constructor(
    target: SshTarget,
    client: ClientOptions,
    answering: Answering,
    control: string,
    running: Set<SshProcess>,
  ) {
    this.target = target;
    this.#client = client;
    this.#answering = answering;
    this.#control = control;
    this.#running = running;
  }

  static async open(target: SshTarget, client: ClientOptions, askpass: Askpass): Promise<SshHost> {
    const running = new Set<SshProcess>();
    const answering = await askpass.open(target, (pid) => [...running].some(({ child }) => child.pid === pid));
    return new SshHost(target, client, answering, askpass.socketPath('c'), running);
  }

  get asked(): Questions {
    return this.#answering.asked;
  }

  /** Whether the connection is there. */
  get connected(): boolean {
    return existsSync(this.#control);
  }

  /** A command with a connection of its own, which `share` can use while it runs. */
  connect(command: string, tty = this.target.tty): SshProcess {
    return this.#start(command, { tty, control: { path: this.#control, role: 'open' } });
  }

  /** Another command over the open connection. */
  share(command: string, tty = false): SshProcess {
    return this.#start(command, { tty, control: { path: this.#control, role: 'use' } });
  }

  /** Ends everything that still runs. */
  close(): void {
    for (const running of this.#running) running.kill();
    this.#answering.close();
  }

  #start(command: string, form: Parameters<typeof sshArguments>[2]): SshProcess {
    const started = new SshProcess(sshArguments(this.target, this.#client, form, command), this.#answering.env);
    this.#running.add(started);
    void started.ended.then(() => this.#running.delete(started));
    return started;
  }
}
