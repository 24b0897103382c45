// What a burst and a subscriber that stands still do to the others.
import { afterEach, expect, it } from 'vitest';
import { Subscriber, XPublisher } from 'zeromq';
import { eventually } from '../testing/eventually.ts';
import { Outbox } from './outbox.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

async function publisher(hwm: number): Promise<{ outbox: Outbox; address: string; joined: () => number }> {
  const socket = new XPublisher({ sendTimeout: 0, sendHighWaterMark: hwm, linger: 0 });
  open.push(socket);
  await socket.bind('tcp://127.0.0.1:*');
  let joined = 0;
  void (async () => {
    for await (const [message] of socket) if (message?.[0] === 1) joined++;
  })();
  return { outbox: new Outbox(socket), address: socket.lastEndpoint ?? '', joined: () => joined };
}

function subscriber(address: string, topic: string): Subscriber {
  const socket = new Subscriber({ receiveHighWaterMark: 1, linger: 0 });
  open.push(socket);
  socket.subscribe('', topic);
  socket.connect(address);
  return socket;
}

async function collect(socket: Subscriber, into: number[]): Promise<void> {
  for await (const [message] of socket) into.push(message?.readUInt32BE(0) ?? -1);
}

const numbered = (n: number, size: number): Buffer => {
  const bytes = Buffer.alloc(size);
  bytes.writeUInt32BE(n);
  return bytes;
};
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

it('waits for queues that are full: nothing of a burst is lost', async () => {
  const { outbox, address, joined } = await publisher(10);
  const received: number[] = [];
  void collect(subscriber(address, 'a'), received);
  await eventually(() => joined() === 2, 'the subscriber');
  for (const n of numbers(3000)) outbox.push([''], numbered(n, 100));
  await eventually(() => received.length >= 3000, 'the burst');
  expect(received).toEqual(numbers(3000));
});

it('goes on without a subscriber that does not read', async () => {
  const { outbox, address, joined } = await publisher(20);
  const received: number[] = [];
  subscriber(address, 'stuck');
  void collect(subscriber(address, 'good'), received);
  await eventually(() => joined() === 3, 'both subscribers');
  // Far more than the stuck one's queue and the buffers of the system hold.
  for (const n of numbers(200)) {
    outbox.push([''], numbered(n, 200_000));
    await eventually(() => received.at(-1) === n, `message ${n}`);
  }
  expect(received).toEqual(numbers(200));
});
