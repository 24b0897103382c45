// Streams of events over a real local socket, from the event tail of the master.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { newDict } from '../../base/codec/value.ts';
import type { HaliteError } from '../../base/errors/index.ts';
import { socketName } from '../../engine/client/socket.ts';
import { EventTail } from '../../master/local/event-tail.ts';
import { externalEvents } from '../../master/local/external-events.ts';
import { StartedJobs } from '../../master/local/started-jobs.ts';
import { EventBus } from '../../protocol/event/bus.ts';
import { type IpcServer, limitedUser, listenIpc } from '../../protocol/wire/ipc.ts';
import { Master } from '../master.ts';
import type { StreamEvent, StreamItem } from './items.ts';
import { type StreamRequest, Streams } from './streams.ts';

let folder: string;
let server: IpcServer;
let bus: EventBus;
let tail: EventTail;
let streams: Streams;
let calls: number;
let mode: string;
const stop = new Set<AbortController>();

async function listen(): Promise<void> {
  bus = new EventBus();
  tail = new EventTail(bus);
  const caller = { user: 'ann' };
  const parts = {
    opts: { raw: newDict([['rest_cherrypy', newDict([['api_events', mode]])]]) },
    authorization: { authenticateCaller: async () => caller },
    targets: { match: () => ({ matched: [], unknown: [] }) },
    started: new StartedJobs(),
    tail,
  };
  server = await listenIpc(join(folder, socketName), { mode: 0o600 }, async (call) => {
    calls += 1;
    await call.admit('ann', limitedUser);
    for await (const item of externalEvents(parts as never, call.args, caller, call.signal)) await call.send(item);
  });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halite-streams-'));
  mode = 'all';
  calls = 0;
  await listen();
  streams = new Streams(new Master(folder), 200);
});
afterEach(async () => {
  for (const each of stop) each.abort();
  stop.clear();
  tail.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function request(since?: string): StreamRequest & { readonly abort: AbortController } {
  const abort = new AbortController();
  stop.add(abort);
  const caller = { name: 'ann', eauth: 'auto', expire: 0, token: 'a1' };
  return { caller, from: '127.0.0.1', signal: abort.signal, since, abort };
}

interface Reading {
  readonly items: StreamItem[];
  readonly numbers: () => number[];
  readonly end: () => void;
  readonly done: Promise<void>;
}

/** Reads everything; `pause` is awaited after each item. */
function read(since?: string, pause: () => Promise<unknown> | undefined = () => undefined): Reading {
  const asked = request(since);
  const items: StreamItem[] = [];
  const done = (async () => {
    for await (const item of streams.items(asked)) {
      items.push(item);
      await pause();
    }
  })();
  const numbers = (): number[] => items.flatMap((item) => (item.type === 'event' ? [numberOf(item)] : []));
  return { items, numbers, done, end: () => asked.abort.abort() };
}

const numberOf = ({ data }: StreamEvent): number => Number((data as Record<string, unknown>)['n']);
let fired = 0;
const fire = (count: number): void => {
  for (let at = 0; at < count; at++) bus.fire('test/event', newDict([['n', ++fired]]));
};
const upTo = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
const began = (readings: readonly Reading[]) =>
  eventually('the streams to begin', () => readings.every(({ items }) => items.length > 0));

beforeEach(() => {
  fired = 0;
});

it('of one token share one call, and the bytes of an event', async () => {
  const readings = Array.from({ length: 16 }, () => read());
  await began(readings);
  fire(500);
  await eventually('all events', () => readings.every(({ items }) => items.length > 500));
  for (const { numbers } of readings) expect(numbers()).toEqual(upTo(1, 500));
  expect(calls).toBe(1);
  const made = readings.map(({ items }) => (items[7] as StreamEvent).form('salt', ({ tag }) => `tag: ${tag}`));
  expect(new Set(made).size).toBe(1);
  for (const { end } of readings) end();
  await Promise.all(readings.map(({ done }) => done));
  await eventually('the connection to be closed', () => server.connections === 0);
});

it('that come back hear everything after their last event once, in order, while events arrive', async () => {
  const first = read();
  await began([first]);
  let busy = true;
  const load = (async () => {
    while (busy) {
      fire(7);
      await nextTurn();
    }
  })();
  await eventually('some events', () => first.numbers().length > 300);
  const later: [number, Reading][] = [];
  for (let at = 0; at < 40; at++) {
    const seen = first.items.at(-1 - 29 * (at % 8));
    if (seen?.type === 'event') later.push([numberOf(seen), read(seen.id)]);
    await nextTurn();
  }
  await began(later.map(([, reading]) => reading));
  busy = false;
  await load;
  await eventually('the last event', () => later.every(([, { numbers }]) => numbers().at(-1) === fired), {
    describe: () => JSON.stringify([fired, later.map(([from, { numbers }]) => [from, numbers().at(-1)])]),
  });
  for (const [from, { numbers, items }] of later) {
    expect(numbers()).toEqual(upTo(from + 1, fired));
    expect(items.filter(({ type }) => type === 'gap')).toEqual([]);
  }
  // All of them have caught up: the next event comes from the shared call.
  await eventually('their own calls to end', () => server.connections === 1);
});

it('a slow reader holds nobody up, and still gets what the master has kept', async () => {
  let release: (() => void) | undefined;
  const closed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const quick = read();
  const slow = read(undefined, () => closed);
  await began([quick, slow]);
  for (let part = 0; part < 60; part++) {
    fire(100);
    await nextTurn();
  }
  await eventually('the quick one to have all', () => quick.numbers().length === 6_000);
  expect(slow.numbers()).toEqual([]);
  release?.();
  await eventually('the slow one to have all', () => slow.numbers().length === 6_000);
  expect(slow.numbers()).toEqual(upTo(1, 6_000));
});

it('end with what the master refuses, each of them', async () => {
  await server.close();
  mode = 'none';
  await listen();
  const readings = [read(), read(), read('0123456789ab-5')];
  for (const { done } of readings)
    await expect(done).rejects.toThrow(expect.objectContaining({ code: 'auth.denied' }) as HaliteError);
});

it('go on when the master comes back, and say that something is missing', async () => {
  const readings = [read(), read()];
  await began(readings);
  fire(3);
  await eventually('the events', () => readings.every(({ numbers }) => numbers().length === 3));
  tail.close();
  await server.close();
  await listen();
  await eventually('the new call', () => calls > 1);
  await eventually('the gap', () => readings.every(({ items }) => items.some(({ type }) => type === 'gap')));
  fire(2);
  await eventually('the events', () => readings.every(({ numbers }) => numbers().length === 5));
  for (const { numbers } of readings) expect(numbers()).toEqual(upTo(1, 5));
});

it('a reader that leaves before the stream begins leaves nothing behind', async () => {
  const reading = read();
  reading.end();
  await reading.done;
  await eventually('no connection', () => server.connections === 0);
  const next = read();
  await began([next]);
  fire(1);
  await eventually('the event', () => next.numbers().length === 1);
});
