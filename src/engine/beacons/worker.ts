// The daemon's side of beacons: one process for all of them, running as long as one is configured.
import type { ChildProcess } from 'node:child_process';
import { packValue } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { backoff } from '../../base/util/index.ts';
import type { ExtensionLog, MinionServices } from '../../extend/sdk/index.ts';
import { detachChild, forkJobProcess } from '../exec/fork-job-process.ts';
import type { WorkerData } from '../exec/index.ts';
import { type FromJobProcess, type ToJobProcess, unpackDict } from '../exec/job-messages.ts';
import { answerService } from '../exec/job-services.ts';

export interface BeaconWorkerOptions {
  /** The program of job processes. */
  readonly entry: string;
  readonly log: ExtensionLog;
  /** How long a process that was only queried stays. */
  readonly idleMs: number;
  readonly data: () => WorkerData;
  readonly services: () => MinionServices;
  readonly onEvents: (events: PlainDict[]) => void;
  readonly onRanOnce: (name: string) => void;
}

/** A process that does not answer for this long hangs and is killed. */
const longestAnswerMs = 60_000;

interface Waiting {
  readonly child: ChildProcess;
  resolve(answer: PlainDict): void;
  reject(error: Error): void;
}

export class BeaconWorker {
  readonly #options: BeaconWorkerOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #wait = backoff({ base: 1000, max: 60_000 });
  #child: ChildProcess | undefined;
  #dataVersion = '';
  #wanted: PlainDict = newDict();
  #last = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: BeaconWorkerOptions) {
    this.#options = options;
  }

  /** The configured beacons, including `enabled`; without any there is no process. */
  async configure(beacons: PlainDict): Promise<void> {
    this.#wanted = beacons;
    if (!this.#needed && !this.#child) return;
    await this.request(newDict(Object.entries({ func: 'configure', beacons })));
  }

  /** Sends a request to the process, which is started when there is none. */
  request(request: PlainDict): Promise<PlainDict> {
    if (this.#stopped) return Promise.reject(new HaliteError('daemon.unreachable', 'The minion is about to stop'));
    clearTimeout(this.#timer);
    const child = this.#child ?? this.#start();
    this.#sendData();
    const n = ++this.#last;
    const stuck = setTimeout(() => child.kill('SIGKILL'), longestAnswerMs).unref();
    return new Promise<PlainDict>((resolve, reject) => {
      this.#waiting.set(n, { child, resolve, reject });
      this.#send({ t: 'beacons', n, hasMaster: this.#options.services().hasMaster, body: packValue(request) });
    }).finally(() => {
      clearTimeout(stuck);
      this.#restWhenIdle();
    });
  }

  /** Extensions changed: a new process loads them. */
  recycle(): void {
    this.#release();
    if (this.#needed) this.#again();
  }

  stop(): void {
    this.#stopped = true;
    this.#release();
  }

  get #needed(): boolean {
    const { enabled, ...rest } = this.#wanted;
    return enabled !== false && Object.keys(rest).length > 0;
  }

  #again(): void {
    this.configure(this.#wanted).catch(() => undefined);
  }

  #restWhenIdle(): void {
    if (this.#stopped || this.#needed || this.#waiting.size > 0) return;
    this.#timer = setTimeout(() => this.#release(), this.#options.idleMs).unref();
  }

  /** It ends when the connection is closed. */
  #release(): void {
    const child = this.#child;
    clearTimeout(this.#timer);
    this.#child = undefined;
    this.#dataVersion = '';
    if (!child) return;
    detachChild(child);
    this.#failAll(child, 'it was ended');
  }

  #start(): ChildProcess {
    const child = forkJobProcess(this.#options.entry);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (piece: Buffer) => this.#options.log.info(piece.toString().trimEnd(), { pid: child.pid }));
    child.on('message', (message) => this.#receive(child, message as FromJobProcess));
    child.on('error', (error) => this.#lost(child, error.message));
    child.on('exit', (code, signal) => this.#lost(child, `its process ended (${signal ?? code})`));
    this.#child = child;
    return child;
  }

  #sendData(): void {
    const { version, id, sdkUrl, body } = this.#options.data();
    if (version === this.#dataVersion) return;
    this.#dataVersion = version;
    this.#send({ t: 'data', id, sdkUrl, body });
  }

  #send(message: ToJobProcess): void {
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  #receive(child: ChildProcess, message: FromJobProcess): void {
    if (child !== this.#child) return;
    switch (message.t) {
      case 'beacons': {
        const request = this.#waiting.get(message.n);
        this.#waiting.delete(message.n);
        request?.resolve(unpackDict(message.body));
        return;
      }
      case 'beacon': {
        this.#wait.reset();
        const { events, ran_once: name } = unpackDict(message.body);
        if (Array.isArray(events)) this.#options.onEvents(events as PlainDict[]);
        if (typeof name === 'string') this.#options.onRanOnce(name);
        return;
      }
      case 'call':
        void answerService(this.#options.services(), message).then((answer) => this.#send(answer));
        return;
      case 'log':
        this.#options.log[message.level]?.(message.message, message.fields);
    }
  }

  #lost(child: ChildProcess, error: string): void {
    this.#failAll(child, error);
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#dataVersion = '';
    if (this.#stopped || !this.#needed) return;
    this.#options.log.error('the process of the beacons ended and is started again', { error });
    setTimeout(() => {
      if (!this.#child && !this.#stopped && this.#needed) this.#again();
    }, this.#wait.next()).unref();
  }

  #failAll(child: ChildProcess, error: string): void {
    for (const [n, item] of this.#waiting) {
      if (item.child !== child) continue;
      this.#waiting.delete(n);
      item.reject(new HaliteError('daemon.unreachable', `Beacons do not answer: ${error}`));
    }
  }
}
