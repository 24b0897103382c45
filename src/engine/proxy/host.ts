// The daemon's side of a proxy process: starts it, passes requests on, and starts another when it died or hangs.
import type { ChildProcess } from 'node:child_process';
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { type ErrorCode, errorCodes, HaliteError } from '../../base/errors/index.ts';
import type { ExtensionLog, MinionServices } from '../../extend/sdk/index.ts';
import { detachChild, forkJobProcess } from '../exec/fork-job-process.ts';
import type { WorkerData } from '../exec/index.ts';
import { answerService } from '../exec/job-services.ts';
import type { FromProxyProcess, ToProxyProcess } from './messages.ts';

export interface ProxyHostOptions {
  /** The program of proxy processes. */
  readonly entry: string;
  readonly log: ExtensionLog;
  /** See `hangsAfterMs`; for tests. */
  readonly patienceMs?: number;
}

/** A minion whose device is served here. */
export interface Tenant {
  readonly id: string;
  readonly data: () => WorkerData;
  readonly services: () => MinionServices;
  /** The session ended: the process died, or the driver failed. */
  readonly lost: (why: string) => void;
}

interface Waiting {
  readonly child: ChildProcess;
  resolve(value: Value): void;
  reject(error: Error): void;
}

/** A driver that never returns control for this long is stuck, and its process is killed. */
const hangsAfterMs = 30_000;
const beats = 5;

export class ProxyHost {
  readonly #options: ProxyHostOptions;
  readonly #tenants = new Map<string, Tenant>();
  /** Which version of its data the process has of each tenant. */
  readonly #known = new Map<string, string>();
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #last = 0;
  /** Beats without a sign of life since. */
  #missed = 0;
  #watch: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ProxyHostOptions) {
    this.#options = options;
  }

  /** How many devices it serves. */
  get size(): number {
    return this.#tenants.size;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  add(tenant: Tenant): void {
    this.#tenants.set(tenant.id, tenant);
  }

  remove(id: string): void {
    this.#tenants.delete(id);
    if (this.#known.delete(id)) this.#send({ t: 'forget', id });
  }

  /** The answer of a tenant's device; the process is started when there is none. */
  ask(id: string, request: PlainDict): Promise<Value> {
    const tenant = this.#tenants.get(id);
    if (this.#stopped || !tenant) return Promise.reject(new HaliteError('daemon.unreachable', 'The proxy is stopping'));
    const child = this.#child ?? this.#start();
    this.#sendData(tenant);
    const n = ++this.#last;
    return new Promise<Value>((resolve, reject) => {
      this.#waiting.set(n, { child, resolve, reject });
      this.#send({ t: 'ask', n, id, body: packValue(request) });
      this.#startWatch();
    });
  }

  /** Grains or pillar of a tenant changed. */
  changed(id: string): void {
    const tenant = this.#tenants.get(id);
    if (tenant && this.#known.has(id)) this.#sendData(tenant);
  }

  reload(): void {
    this.#send({ t: 'reload' });
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#watch);
    const child = this.#child;
    this.#child = undefined;
    if (!child) return;
    // Sessions are closed first; the process ends by itself.
    detachChild(child);
    this.#failAll(child, 'the proxy is stopping');
  }

  #start(): ChildProcess {
    const child = forkJobProcess(this.#options.entry);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (piece: Buffer) => this.#options.log.info(piece.toString().trimEnd(), { pid: child.pid }));
    child.on('message', (message) => this.#receive(child, message as FromProxyProcess));
    child.on('error', (error) => this.#lost(child, error.message));
    child.on('exit', (code, signal) => this.#lost(child, `its process ended (${signal ?? `status ${code}`})`));
    this.#child = child;
    return child;
  }

  #sendData({ id, data, services }: Tenant): void {
    const { version, sdkUrl, body } = data();
    const hasMaster = services().hasMaster;
    if (this.#known.get(id) === `${version} ${hasMaster}`) return;
    this.#known.set(id, `${version} ${hasMaster}`);
    this.#send({ t: 'device', id, sdkUrl, hasMaster, body });
  }

  #send(message: ToProxyProcess): void {
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  #receive(child: ChildProcess, message: FromProxyProcess): void {
    if (child !== this.#child) return;
    this.#missed = 0;
    switch (message.t) {
      case 'answer':
        this.#take(message.n)?.resolve(unpackValue(message.body));
        return;
      case 'refused':
        this.#take(message.n)?.reject(new HaliteError(knownCode(message.code), message.message));
        return;
      case 'lost':
        this.#tenants.get(message.id)?.lost(message.why);
        return;
      case 'call':
        void this.#answer(message);
        return;
      case 'log':
        this.#options.log[message.level]?.(message.message, message.fields);
    }
  }

  async #answer(message: Extract<FromProxyProcess, { t: 'call' }>): Promise<void> {
    const tenant = this.#tenants.get(message.minion ?? '');
    if (tenant) this.#send(await answerService(tenant.services(), message));
    else this.#send({ t: 'failure', n: message.n, code: 'daemon.unreachable', message: 'The proxy is stopping' });
  }

  #take(n: number): Waiting | undefined {
    const found = this.#waiting.get(n);
    this.#waiting.delete(n);
    return found;
  }

  /** While somebody waits, the process has to show signs of life. */
  #startWatch(): void {
    if (this.#watch) return;
    const patience = this.#options.patienceMs ?? hangsAfterMs;
    this.#missed = 0;
    this.#watch = setInterval(() => {
      if (this.#waiting.size === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
        return;
      }
      // Counted, not timed: when this process itself was held up, answers wait to be read.
      if (++this.#missed > beats) {
        this.#options.log.error('a driver hangs: its proxy process is killed', { pid: this.#child?.pid });
        this.#child?.kill('SIGKILL');
        this.#missed = 0;
      } else this.#send({ t: 'beat' });
    }, patience / beats).unref();
  }

  #lost(child: ChildProcess, why: string): void {
    this.#failAll(child, why);
    if (this.#child !== child) return;
    this.#child = undefined;
    const tenants = [...this.#known.keys()].map((id) => this.#tenants.get(id));
    this.#known.clear();
    if (!this.#stopped) for (const tenant of tenants) tenant?.lost(why);
  }

  #failAll(child: ChildProcess, why: string): void {
    for (const [n, item] of this.#waiting) {
      if (item.child !== child) continue;
      this.#waiting.delete(n);
      item.reject(new HaliteError('daemon.unreachable', `The device does not answer: ${why}`));
    }
  }
}

const knownCode = (code: string): ErrorCode => (Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'call.failed');
