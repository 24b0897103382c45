// Reads a stream from a place on, in order and without gaps, over lost connections, restarted servers and new leaders.
//
// A consumer of JetStream lives as long as its reader hears of it: after three seconds without a message or a heartbeat, or
// after a gap in its own count, another one is made behind the last message that was taken.
import { setTimeout as sleep } from 'node:timers/promises';
import { createInbox, type Msg } from '@nats-io/transport-node';
import { messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { AsyncQueue } from '../../../base/util/async-queue.ts';
import { asJson, type JetStream, JetStreamError, jetStreamErrors, wholeNumber } from './jetstream.ts';

export interface StreamMessage {
  readonly subject: string;
  readonly seq: number;
  /** When the engine stored it, in milliseconds since the epoch. */
  readonly time: number;
  /** How many follow. */
  readonly pending: number;
  readonly data: Uint8Array;
}

export type Start = { readonly from: number } | 'last-per-subject';

export interface ReaderOptions {
  readonly js: JetStream;
  readonly stream: string;
  /** What the stream holds, for `last-per-subject`. */
  readonly filter?: string;
  readonly start: Start;
  onMessage(message: StreamMessage): Promise<void> | void;
  /** Nothing is left to read for now; called once. */
  onCaughtUp?(): void;
  /** The stream is gone, or ends before what was read: where to begin in what is there now. */
  onLost(): Promise<Start>;
  readonly signal: AbortSignal;
  readonly log: Pick<Logger, 'limited'>;
}

const batch = 256;
const batchBytes = 4 * 1024 * 1024;
const expiresMs = 20_000;
const heartbeatMs = 1000;
const silenceMs = 3000;
const nanos = 1_000_000;

/** Runs until the signal; rejects only when a handler does. */
export async function readStream(options: ReaderOptions): Promise<void> {
  const state: State = { start: options.start, caughtUp: false };
  while (!options.signal.aborted) {
    try {
      await readOnce(options, state);
    } catch (error) {
      if (error instanceof HandlerError) throw error.cause;
      if (options.signal.aborted) return;
      const why = messageOf(error);
      options.log.limited(`reader:${options.stream}`, 'debug', 'reading a stream begins again', {
        stream: options.stream,
        why,
      });
      await sleep(250, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
}

interface State {
  start: Start;
  caughtUp: boolean;
}

class HandlerError extends Error {}

async function readOnce(options: ReaderOptions, state: State): Promise<void> {
  const { js, stream, signal } = options;
  const { nc } = js.connection;
  const consumer = await makeConsumer(options, state);
  const inbox = createInbox();
  const arrived = new AsyncQueue<Msg | 'silence'>();
  const subscription = nc.subscribe(inbox, {
    callback: (error, message) => {
      heard = performance.now();
      if (error) arrived.fail(error);
      else arrived.push(message);
    },
  });
  const stop = (): void => arrived.close();
  signal.addEventListener('abort', stop, { once: true });
  let heard = performance.now();
  const watchdog = setInterval(() => {
    if (performance.now() - heard > silenceMs || !js.connection.connected) arrived.push('silence');
  }, heartbeatMs);
  watchdog.unref();
  try {
    let [wanted, expected] = [0, 1];
    const pull = (): void => {
      const ask = { batch, max_bytes: batchBytes, expires: expiresMs * nanos, idle_heartbeat: heartbeatMs * nanos };
      wanted = batch;
      nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer.name}`, JSON.stringify(ask), { reply: inbox });
    };
    if (consumer.pending === 0) caughtUp(options, state);
    pull();
    for await (const message of arrived) {
      if (message === 'silence') throw new Error('nothing was heard of the consumer');
      const status = message.headers?.code ?? 0;
      if (status === 100) continue;
      if (
        status === 404 ||
        status === 408 ||
        (status === 409 && /maxbytes/i.test(message.headers?.description ?? ''))
      ) {
        pull();
        continue;
      }
      if (status >= 400) throw new Error(`the consumer ended: ${message.headers?.description ?? status}`);
      const read = messageOfStream(message);
      if (!read || read.delivered !== expected++) throw new Error('a gap in what the consumer sent');
      const preparing = js.prepare(read.data);
      if (preparing) await preparing;
      try {
        await options.onMessage(read);
      } catch (error) {
        throw new HandlerError('handler', { cause: error });
      }
      state.start = { from: read.seq + 1 };
      if (read.pending === 0) caughtUp(options, state);
      if (--wanted === 0) pull();
    }
  } finally {
    clearInterval(watchdog);
    signal.removeEventListener('abort', stop);
    subscription.unsubscribe();
    if (js.connection.connected) void js.call(`CONSUMER.DELETE.${stream}.${consumer.name}`).catch(() => undefined);
  }
}

function caughtUp(options: ReaderOptions, state: State): void {
  if (state.caughtUp) return;
  state.caughtUp = true;
  options.onCaughtUp?.();
}

async function makeConsumer(options: ReaderOptions, state: State): Promise<{ name: string; pending: number }> {
  const { js, stream } = options;
  try {
    if (typeof state.start === 'object' && state.start.from > 1) {
      const last = await lastSequence(js, stream);
      if (last + 1 < state.start.from) state.start = await options.onLost();
    }
    const { start } = state;
    const deliver =
      typeof start === 'object'
        ? { deliver_policy: 'by_start_sequence', opt_start_seq: Math.max(1, start.from) }
        : { deliver_policy: 'last_per_subject', filter_subject: options.filter };
    const config = {
      ...{ ...deliver, ack_policy: 'none', replay_policy: 'instant', max_waiting: 8 },
      ...{ inactive_threshold: 30_000 * nanos, mem_storage: true, num_replicas: 1 },
    };
    const info = await js.call(`CONSUMER.CREATE.${stream}`, { stream_name: stream, config });
    const name = info['name'];
    const pending = wholeNumber(info['num_pending']);
    if (typeof name !== 'string' || !/^[\w-]+$/.test(name) || pending === undefined)
      throw new Error('no consumer was made');
    return { name, pending };
  } catch (error) {
    if (error instanceof JetStreamError && error.number === jetStreamErrors.streamNotFound) {
      state.start = await options.onLost();
    }
    throw error;
  }
}

async function lastSequence(js: JetStream, stream: string): Promise<number> {
  const info = await js.call(`STREAM.INFO.${stream}`);
  return wholeNumber(asJson(info['state'])?.['last_seq']) ?? 0;
}

/** Where it is in stream and consumer is told by its reply subject: `$JS.ACK.stream.consumer.n.seq.count.time.pending`. */
function messageOfStream(message: Msg): (StreamMessage & { readonly delivered: number }) | undefined {
  const parts = (message.reply ?? '').split('.');
  // Newer servers may put domain and account in front.
  const at = parts.length >= 11 ? 4 : 2;
  if (parts[0] !== '$JS' || parts[1] !== 'ACK' || parts.length < 9) return undefined;
  const numbers = parts.slice(at + 2, at + 7).map(Number);
  if (numbers.length < 5 || numbers.some((number) => !(number >= 0))) return undefined;
  const [, seq, delivered, time, pending] = numbers as [number, number, number, number, number];
  return { subject: message.subject, seq, delivered, time: time / nanos, pending, data: message.data };
}
