// One engine as seen by its daemon: started, given events, kept from harming others, started again, and ended reliably.
import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { packValue } from '../../base/codec/msgpack/index.ts';
import { asText, newDict } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { backoff } from '../../base/util/index.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import type { EventWatcher } from '../../protocol/event/bus.ts';
import { forkJobProcess } from '../exec/fork-job-process.ts';
import type { WorkerData } from '../exec/index.ts';
import { type FromJobProcess, type ToJobProcess, unpackDict } from '../exec/job-messages.ts';
import { answerService } from '../exec/job-services.ts';
import { killTree } from '../exec/process-tree.ts';
import { EventFeed } from './feed.ts';
import { Pace } from './pace.ts';
import type { EngineSetting } from './settings.ts';

export interface EngineHost {
  /** The program of job processes. */
  readonly entry: string;
  readonly log: Logger;
  data(): Promise<WorkerData>;
  services(): MinionServices;
  /** Every event that engines may see. */
  watch(watcher: EventWatcher): () => void;
  /** The first wait before another try, in milliseconds; tests make it short. */
  readonly firstWaitMs?: number;
}

/** The process itself ends within 3 s. */
const stopMs = 5000;
/** One that ran so long starts with the shortest wait again. */
const healthyMs = 60_000;
const longestWaitMs = 60_000;
const eventsPerSecond = 1000;
const eventsAtOnce = 5000;
const linesPerSecond = 100;
const linesAtOnce = 1000;
const mostRequests = 256;
const messagesPerSecond = 20_000;
const mostFeeds = 32;
const largestRequest = 64 * 1024 * 1024;

type Message<T extends FromJobProcess['t']> = Extract<FromJobProcess, { t: T }>;

/** One run of the engine. */
interface Run {
  readonly child: ChildProcess;
  readonly since: number;
  readonly feeds: Map<number, EventFeed>;
  readonly commands: Set<number>;
  readonly gone: Promise<void>;
  unwatch: (() => void) | undefined;
  requests: number;
  /** Why it ended, as it says itself. */
  reason: string | undefined;
  /** The user's file, and which version of it. */
  origin: string | undefined;
  version: string | undefined;
  /** Its end was asked for. */
  ending: boolean;
}

export class EngineWorker {
  readonly setting: EngineSetting;
  readonly #host: EngineHost;
  readonly #log: Logger;
  readonly #wait;
  readonly #firing = new Pace(eventsPerSecond, eventsAtOnce);
  readonly #lines = new Pace(linesPerSecond, linesAtOnce);
  readonly #messages = new Pace(messagesPerSecond, messagesPerSecond);
  #run: Run | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** Another try is of no use before extensions change. */
  #unusable = false;
  #lost = 0;

  constructor(setting: EngineSetting, host: EngineHost) {
    this.setting = setting;
    this.#host = host;
    this.#log = host.log.with({ engine: setting.name });
    this.#wait = backoff({ base: host.firstWaitMs ?? 1000, max: longestWaitMs });
  }

  start(): void {
    clearTimeout(this.#timer);
    if (this.#stopped || this.#run) return;
    this.#unusable = false;
    this.#begin().catch((error: unknown) => this.#again(messageOf(error)));
  }

  /** Extensions changed: one that has no process tries at once, one whose file changed starts again with the new one. */
  async recycle(): Promise<void> {
    const run = this.#run;
    if (!run) {
      if (this.#unusable) this.start();
      return;
    }
    if (run.origin === undefined || (await versionOf(run.origin)) === run.version) return;
    this.#log.info('the file of the engine changed: it is started again');
    await this.#end(run);
    this.#wait.reset();
    this.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (this.#run) await this.#end(this.#run);
  }

  async #begin(): Promise<void> {
    const data = await this.#host.data();
    if (this.#stopped || this.#run) return;
    const child = forkJobProcess(this.#host.entry);
    let over = (): void => undefined;
    const run: Run = {
      ...{ child, since: performance.now(), feeds: new Map(), commands: new Set() },
      gone: new Promise((resolve) => {
        over = resolve;
      }),
      ...{ unwatch: undefined, requests: 0, reason: undefined, origin: undefined, version: undefined, ending: false },
    };
    this.#run = run;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => this.#printed(piece));
    child.on('message', (message) => this.#receive(run, message as FromJobProcess));
    child.on('error', (error) => this.#over(run, error.message, over));
    child.on('exit', (code, signal) => this.#over(run, `its process ended (${signal ?? `status ${code}`})`, over));
    const { name, module, config } = this.setting;
    this.#send(run, { t: 'data', id: data.id, sdkUrl: data.sdkUrl, body: data.body });
    const body = packValue(newDict(Object.entries({ name, module, config })));
    this.#send(run, { t: 'engine', hasMaster: this.#host.services().hasMaster, body });
  }

  /** Asks it to end, and kills what is left of it a moment later. */
  async #end(run: Run): Promise<void> {
    run.ending = true;
    this.#send(run, { t: 'end' });
    await withTimeout(run.gone, stopMs, () => this.#log.warn('the engine did not end when asked and is killed'));
    await killTree([run.child.pid ?? 0, ...run.commands].filter((pid) => pid > 1));
  }

  #kill(run: Run, why: string): void {
    run.reason ??= why;
    void killTree([run.child.pid ?? 0, ...run.commands].filter((pid) => pid > 1));
  }

  #over(run: Run, why: string, over: () => void): void {
    over();
    run.unwatch?.();
    run.unwatch = undefined;
    if (this.#run !== run) return;
    this.#run = undefined;
    // What it started must not outlive it.
    if (run.commands.size > 0) void killTree([...run.commands]);
    if (run.ending || this.#stopped) return;
    if (performance.now() - run.since >= healthyMs) this.#wait.reset();
    this.#again(run.reason ?? why);
  }

  #again(why: string): void {
    if (this.#stopped) return;
    if (this.#unusable) {
      this.#log.error(`The engine ${this.setting.name} is not started: ${why}`);
      return;
    }
    const ms = this.#wait.next();
    this.#log.error(`The engine ${this.setting.name} ended and is started again: ${why}`, { seconds: ms / 1000 });
    this.#timer = setTimeout(() => this.start(), ms).unref();
  }

  #send(run: Run, message: ToJobProcess): void {
    if (run.child.connected) run.child.send(message, () => undefined);
  }

  /** What it prints; lines that come too fast are counted only. */
  #printed(piece: Buffer): void {
    const text = piece.toString('utf8', 0, 8192).trimEnd();
    if (text !== '' && this.#mayLog()) this.#log.info(text);
  }

  #mayLog(): boolean {
    if (!this.#lines.take()) {
      this.#lost++;
      return false;
    }
    if (this.#lost > 0) this.#log.warn(`${this.#lost} lines of the engine were left out: it writes too many`);
    this.#lost = 0;
    return true;
  }

  #receive(run: Run, message: FromJobProcess): void {
    if (run !== this.#run) return;
    if (!this.#messages.take()) {
      this.#kill(run, 'it sent more messages than an engine may');
      return;
    }
    try {
      this.#take(run, message);
    } catch (error) {
      this.#kill(run, `it sent what Halite does not understand (${messageOf(error)})`);
    }
  }

  #take(run: Run, message: FromJobProcess): void {
    switch (message.t) {
      case 'engine':
        this.#said(run, message);
        return;
      case 'listen':
        this.#listen(run, message);
        return;
      case 'unlisten':
        run.feeds.delete(Number(message.n));
        return;
      case 'more':
        run.feeds.get(Number(message.n))?.more();
        return;
      case 'call':
        this.#answer(run, message);
        return;
      case 'exec':
        if (message.on) run.commands.add(Number(message.pid));
        else run.commands.delete(Number(message.pid));
        return;
      case 'log':
        if (this.#mayLog()) this.#log[message.level]?.(String(message.message).slice(0, 8192), message.fields);
    }
  }

  #said(run: Run, { body }: Message<'engine'>): void {
    const { state, origin, error, unusable } = unpackDict(body);
    if (state === 'runs') {
      this.#log.info(`The engine ${this.setting.name} runs`, { pid: run.child.pid });
      const path = asText(origin);
      if (path === undefined || path === 'built-in') return;
      run.origin = path;
      void versionOf(path).then((version) => {
        run.version = version;
      });
      return;
    }
    run.reason ??= asText(error) || undefined;
    this.#unusable = unusable === true;
  }

  #listen(run: Run, { n, tags }: Message<'listen'>): void {
    if (run.feeds.size >= mostFeeds) throw new HaliteError('call.failed', 'too many readers of events');
    const wanted = tags.slice(0, 100).map((tag) => String(tag).slice(0, 1000));
    const send = (body: Uint8Array, dropped: number): void => this.#send(run, { t: 'events', n, dropped, body });
    run.feeds.set(Number(n), new EventFeed({ tags: wanted, send }));
    run.unwatch ??= this.#host.watch((tag, origin, event) => {
      // Another member of a cluster has engines of its own for its events.
      if (origin === 'foreign') return;
      for (const feed of run.feeds.values()) if (feed.wants(tag)) feed.push(event());
    });
  }

  #answer(run: Run, call: Message<'call'>): void {
    if (run.requests >= mostRequests || call.body.length > largestRequest) {
      this.#kill(run, 'it asks for more at once than an engine may');
      return;
    }
    run.requests++;
    void this.#answered(call)
      .then((answer) => this.#send(run, answer))
      .finally(() => run.requests--);
  }

  /** Events are taken at a certain pace: the engine waits, and nobody else does. */
  async #answered(call: Message<'call'>): Promise<ToJobProcess> {
    const ms = call.method === 'fire' ? this.#firing.place() : 0;
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms).unref());
    return answerService(this.#host.services(), call);
  }
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}
