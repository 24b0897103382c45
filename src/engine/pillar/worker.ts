// A worker thread of the master that compiles pillars, so that a template never blocks the master's event loop.
import { parentPort, workerData } from 'node:worker_threads';
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import type { PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { LogLevel } from '../../extend/sdk/exec.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import { type FromWorker, type ToWorker, unpackRequest } from './messages.ts';
import { createProcessHost } from './process-host.ts';
import { doWork } from './work.ts';

const port = parentPort;
if (!port) throw new Error('this program is a worker of salt-master');
const send = (message: FromWorker): void => port.postMessage(message);

/** Only values that can be cloned are sent. */
function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      if (value instanceof Error) return [key, value.stack ?? value.message];
      return [key, typeof value === 'object' || typeof value === 'function' ? JSON.stringify(value) : value];
    }),
  );
}

const logAt =
  (level: LogLevel) =>
  (text: string, fields: Readonly<Record<string, unknown>> = {}) =>
    send({ t: 'log', level, text, fields: plainFields(fields) });
const log: ExtensionLog = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };

const opts = unpackValue((workerData as { opts: Uint8Array }).opts) as PlainDict;
const process_ = createProcessHost(opts, log);
const running = new Map<number, AbortController>();

async function work(message: Extract<ToWorker, { t: 'work' }>): Promise<void> {
  const control = new AbortController();
  running.set(message.n, control);
  try {
    const { request, extra } = unpackRequest(message.body);
    const value = await doWork(message.kind, process_.host(control.signal), opts, request, extra);
    send({ t: 'done', n: message.n, body: packValue(value) });
  } catch (error) {
    send({ t: 'failed', n: message.n, message: messageOf(error) });
  } finally {
    running.delete(message.n);
  }
}

port.on('message', (message: ToWorker) => {
  if (message.t === 'work') void work(message);
  else running.get(message.n)?.abort();
});
