// One job process as seen by the daemon: started, given jobs, and ended reliably.
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { packValue } from '../../base/codec/msgpack/index.ts';
import type { ExtensionLog, MinionServices } from '../../extend/sdk/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { jobFields } from '../../protocol/wire/messages/job.ts';
import { detachChild, forkJobProcess } from './fork-job-process.ts';
import { type FromJobProcess, type Packed, type ToJobProcess, unpackDict } from './job-messages.ts';
import { answerService } from './job-services.ts';
import { failed, type Outcome } from './outcome.ts';
import { type KillResult, killTree, signalTree } from './process-tree.ts';

export interface WorkerOptions {
  readonly entry: string;
  readonly log: ExtensionLog;
}

/** Data for all jobs of one master, packed once; the version tells a process whether it already has it. */
export interface WorkerData {
  readonly version: string;
  readonly id: string;
  readonly sdkUrl: string | undefined;
  readonly body: Packed;
}

/** One job as passed to a process; without `job` it collects the grains. */
export interface Assignment {
  readonly job: PublishedJob | undefined;
  readonly services: MinionServices;
  readonly data: WorkerData;
  /** Where the process stores the result if the daemon has ended by then. */
  readonly spool?: string;
  /** Called when nothing but the process itself can keep the job from running: the daemon may end from here on. */
  readonly onBegun?: () => void;
  readonly onProgress?: (text: string) => void;
}

interface Running {
  readonly assignment: Assignment;
  resolve(outcome: Outcome): void;
}

const keptErrorText = 2000;

export const notStarted = (): Outcome => failed('ERROR: The minion stopped before the job started');

export class JobWorker {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #log: ExtensionLog;
  readonly #commands = new Set<number>();
  #running: Running | undefined;
  /** From then on a job is begun at once. What is sent before is lost when the daemon ends before the process listens. */
  #listens = false;
  #dataVersion = '';
  #lastSignal: number | undefined;
  #errorText = '';
  #over = false;
  /** Called once when the process has ended. */
  onExit: () => void = () => undefined;

  constructor(options: WorkerOptions) {
    this.#log = options.log;
    this.#child = forkJobProcess(options.entry);
    this.pid = this.#child.pid ?? 0;
    this.#child.on('message', (message) => this.#receive(message as FromJobProcess));
    this.#child.on('error', (error) => this.#log.error('job process failed', { pid: this.pid, error: error.message }));
    this.#child.on('exit', (code, signal) => this.#exited(code, signal));
    this.#child.stdout?.on('data', (piece: Buffer) =>
      this.#log.info('job process output', { pid: this.pid, text: piece.toString().trimEnd() }),
    );
    this.#child.stderr?.on('data', (piece: Buffer) => {
      this.#errorText = (this.#errorText + piece.toString()).slice(-keptErrorText);
    });
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  get alive(): boolean {
    return !this.#over;
  }

  /** Runs one job; resolves with its outcome, even if the process dies. */
  run(assignment: Assignment): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#running = { assignment, resolve };
      this.#errorText = '';
      if (this.#over) this.#finish(this.#lost(null, null));
      else if (this.#listens) this.#begin(assignment);
    });
  }

  #begin({ data, job, services, spool, onBegun }: Assignment): void {
    onBegun?.();
    if (this.#dataVersion !== data.version) {
      this.#dataVersion = data.version;
      this.#send({ t: 'data', id: data.id, sdkUrl: data.sdkUrl, body: data.body });
    }
    if (job) this.#send({ t: 'run', hasMaster: services.hasMaster, spool, body: packValue(jobFields(job)) });
    else this.#send({ t: 'grains', device: services.proxy !== undefined });
  }

  /** Sends a signal to the job's whole process tree. Signal 9 waits until no process of it is left. */
  async signal(number: number): Promise<KillResult> {
    this.#lastSignal = number;
    const roots = [this.pid, ...this.#commands];
    if (number === constants.signals.SIGKILL) return killTree(roots);
    signalTree(roots, number);
    return { gone: false, left: [] };
  }

  /** Lets an idle process end by itself. */
  end(): void {
    this.#send({ t: 'end' });
    this.#child.channel?.unref();
    this.#child.unref();
  }

  /** Detaches from a busy process: it finishes and stores its result in the spool. One that has not begun does not. */
  release(): void {
    if (!this.#listens) this.#finish(notStarted());
    detachChild(this.#child);
  }

  #send(message: ToJobProcess): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #receive(message: FromJobProcess): void {
    switch (message.t) {
      case 'ready':
        this.#listens = true;
        if (this.#running) this.#begin(this.#running.assignment);
        return;
      case 'done':
        this.#finish(unpackDict(message.body) as unknown as Outcome);
        return;
      case 'call':
        void this.#answer(message);
        return;
      case 'progress':
        this.#running?.assignment.onProgress?.(String(message.text));
        return;
      case 'exec':
        if (message.on) this.#commands.add(Number(message.pid));
        else this.#commands.delete(Number(message.pid));
        return;
      case 'log':
        this.#log[message.level]?.(message.message, message.fields);
    }
  }

  async #answer(call: Extract<FromJobProcess, { t: 'call' }>): Promise<void> {
    if (this.#running) this.#send(await answerService(this.#running.assignment.services, call));
  }

  #finish(outcome: Outcome): void {
    const running = this.#running;
    this.#running = undefined;
    this.#commands.clear();
    running?.resolve(outcome);
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#over = true;
    if (this.#running) this.#finish(this.#lost(code, signal));
    this.onExit();
  }

  /** The result of a job whose process died: the reason (Salt returns nothing). */
  #lost(code: number | null, signal: NodeJS.Signals | null): Outcome {
    if (signal) {
      const number = constants.signals[signal];
      const who = this.#lastSignal === number ? 'as asked' : 'unexpectedly';
      return failed(`ERROR: The job was ended ${who} by signal ${number} (${signal})`, 128 + number);
    }
    const detail = this.#errorText.trim();
    return failed(
      `ERROR: The job process ended unexpectedly with status ${code ?? 'unknown'}${detail ? `\n${detail}` : ''}`,
    );
  }
}
