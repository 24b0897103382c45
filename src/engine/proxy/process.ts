// The program of proxy processes: holds the sessions of devices, so that a driver that hangs, leaks or dies does so here.

import { unpackValue } from '../../base/codec/msgpack/index.ts';
import type { Dict, Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf, PythonException } from '../../base/errors/index.ts';
import { collectWhenIdle, keepHeapSmall } from '../../base/util/small-heap.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { ExtensionLog, LogLevel } from '../../extend/sdk/index.ts';
import { createContext, execProgram, matchesMinion, type Runtime } from '../exec/index.ts';
import { type SharedData, unpackDict } from '../exec/job-messages.ts';
import { createRemoteServices } from '../exec/job-services.ts';
import { type Python, providePython } from '../python/index.ts';
import { Device } from './device.ts';
import type { FromProxyProcess, ToProxyProcess } from './messages.ts';

type DeviceData = Extract<ToProxyProcess, { t: 'device' }>;

function send(message: FromProxyProcess): void {
  if (process.connected) process.send?.(message, () => undefined);
}

const remote = createRemoteServices((message) => {
  if (message.t === 'call') send(message);
});
const quiet = { signal: new AbortController().signal, progress: () => undefined };

/** One minion with a device: its data, its loader, and, when its type is in Python, a worker of its own. */
class Served {
  readonly device: Device;
  readonly #id: string;
  readonly #log: ExtensionLog;
  readonly #python: Python;
  #data: SharedData = { opts: {}, grains: {}, pillar: {} };
  #message: DeviceData;
  #loader: Loader | undefined;

  constructor(message: DeviceData) {
    const { id } = message;
    this.#id = id;
    this.#message = message;
    this.#log = logOf(id);
    this.#python = providePython({ opts: () => this.#data.opts, log: this.#log, workers: 'shared' });
    this.update(message);
    this.device = new Device({
      log: this.#log,
      runtime: () => this.#runtime(),
      lost: (why) => send({ t: 'lost', id, why }),
    });
  }

  update(message: DeviceData): void {
    const data = unpackDict(message.body);
    this.#message = message;
    this.#data = { opts: data['opts'] as Record<string, Value>, grains: data['grains']!, pillar: data['pillar']! };
  }

  /** For the next session; the present one goes on with what it has. */
  reload(): void {
    this.#loader = undefined;
  }

  async close(): Promise<void> {
    await this.device.close();
    this.#python.release();
  }

  #runtime(): Runtime {
    const [id, data] = [this.#id, this.#data];
    const answer = (request: Parameters<Device['answer']>[0]): Promise<Value> =>
      this.device.answer(request).then((body) => unpackValue(body));
    const loader = this.#currentLoader();
    return {
      id,
      loader,
      log: this.#log,
      // Functions that a proxy type calls reach the device directly.
      minion: { ...remote.services(this.#message.hasMaster, id), proxy: answer },
      opts: () => data.opts,
      grains: () => data.grains as Dict,
      pillar: () => data.pillar as Dict,
      exec: (file, args, options, signal) => execProgram(file, args, options, signal),
      match: (expression, kind) => matchesMinion({ id, ...data }, expression, kind),
    };
  }

  #currentLoader(): Loader {
    const { sdkUrl } = this.#message;
    this.#loader ??= new Loader({
      opts: () => this.#data.opts,
      grains: () => this.#data.grains as Dict,
      log: this.#log,
      userCode: 'import',
      python: this.#python.source,
      pythonCaller: () => createContext(this.#runtime(), { ...quiet, retcode: 0 }),
      ...(sdkUrl ? { sdkUrl } : {}),
    });
    return this.#loader;
  }
}

function logOf(id: string): ExtensionLog {
  const at =
    (level: LogLevel) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      const plain = Object.entries(fields).map(([key, value]): [string, unknown] => [
        key,
        typeof value === 'object' || typeof value === 'function' ? JSON.stringify(value) : value,
      ]);
      send({ t: 'log', level, message, fields: { proxy: id, ...Object.fromEntries(plain) } });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const served = new Map<string, Served>();

async function ask({ n, id, body }: Extract<ToProxyProcess, { t: 'ask' }>): Promise<void> {
  try {
    const found = served.get(id);
    if (!found) throw new HaliteError('daemon.unreachable', `This process has no device for ${id}`);
    send({ t: 'answer', n, body: await found.device.answer(unpackDict(body)) });
  } catch (error) {
    const code = error instanceof HaliteError ? error.code : 'call.failed';
    send({ t: 'refused', n, code, message: textOf(error) });
  }
  collectWhenIdle();
}

/** Errors of drivers keep their class: it often says more than the text. */
function textOf(error: unknown): string {
  if (error instanceof HaliteError) return error.message;
  if (error instanceof PythonException || (error instanceof Error && error.name !== 'Error'))
    return `${error.name}: ${error.message}`;
  return messageOf(error);
}

async function leave(): Promise<void> {
  remote.close();
  await Promise.allSettled([...served.values()].map((each) => each.close()));
  process.exit(0);
}

function receive(message: ToProxyProcess): void {
  switch (message.t) {
    case 'device': {
      const found = served.get(message.id);
      if (found) found.update(message);
      else served.set(message.id, new Served(message));
      return;
    }
    case 'forget': {
      const found = served.get(message.id);
      served.delete(message.id);
      void found?.close();
      return;
    }
    case 'ask':
      void ask(message);
      return;
    case 'reload':
      for (const each of served.values()) each.reload();
      return;
    case 'beat':
      send({ t: 'beat' });
      return;
    case 'reply':
    case 'failure':
      remote.receive(message);
      return;
    case 'end':
      void leave();
  }
}

/** Makes this process a proxy process: it serves devices until the daemon ends. */
export function startProxyProcess(): void {
  if (!process.send) {
    process.stderr.write('This program is started by salt-proxy.\n');
    process.exit(64);
  }
  process.title = 'salt-proxy devices';
  keepHeapSmall();
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.on('SIGINT', () => undefined);
  // A driver's stray error must not end the sessions of others.
  const stray = (error: unknown): void => logOf('').error('an error in a proxy process', { error: textOf(error) });
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  process.on('message', receive);
  process.on('disconnect', () => void leave());
}
