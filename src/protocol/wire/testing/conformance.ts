// The requirements for every transport, as one test suite that each of them runs on real sockets.
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import type { Value } from '../../../base/codec/value.ts';
import type {
  IncomingRequest,
  PublishListenOptions,
  PublishServer,
  RequestHandler,
  RequestServer,
  SubscribeOptions,
  SubscriberEvent,
  Transport,
  WireProblem,
} from '../transport.ts';
import { eventually } from './eventually.ts';

type Closable = { close(): unknown };

export interface Bench {
  readonly transport: Transport;
  readonly problems: WireProblem[];
  own<T extends Closable>(thing: T): T;
  requests(handler: RequestHandler, port?: number, maxMessageBytes?: number): Promise<RequestServer>;
  publisher(options?: Partial<PublishListenOptions>): Promise<PublishServer>;
  subscriber(port: number, id: string, options?: Partial<SubscribeOptions>): Promise<TestSubscriber>;
}

export interface TestSubscriber extends Closable {
  readonly received: Value[];
  readonly states: string[];
  readonly connected: () => boolean;
  setPresence(topic: string): void;
}

export const loopback = '127.0.0.1';
export const echo: RequestHandler = (request) => request.reply(request.payload);

/** Servers and clients for tests, all closed after each test. */
export function makeBench(transport: Transport): Bench {
  const open: Closable[] = [];
  const problems: WireProblem[] = [];
  const onProblem = (problem: WireProblem) => problems.push(problem);
  const own = <T extends Closable>(thing: T): T => {
    open.push(thing);
    return thing;
  };
  afterEach(async () => {
    for (const thing of open.splice(0).reverse()) await thing.close();
    problems.length = 0;
  });
  return {
    transport,
    problems,
    own,
    requests: async (handler, port = 0, maxMessageBytes) =>
      own(await transport.listenRequests({ interface: loopback, port, maxMessageBytes, onProblem }, handler)),
    publisher: async (options) =>
      own(await transport.listenPublish({ interface: loopback, port: 0, hwm: 1000, onProblem, ...options })),
    async subscriber(port, id, options) {
      const received: Value[] = [];
      const states: string[] = [];
      const subscription = await transport.subscribe({
        host: loopback,
        port,
        id,
        reconnectMinMs: 10,
        reconnectMaxMs: 50,
        onPublish: (payload) => received.push(unpack(payload)),
        onState: (state) => states.push(state),
        onProblem,
        ...options,
      });
      const connected = () => states.at(-1) === 'connected';
      return own({
        received,
        states,
        connected,
        setPresence: subscription.setPresence.bind(subscription),
        close: () => subscription.close(),
      });
    },
  };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/** Bytes that no peer should send. Deterministic, so that a failure can be reproduced. */
export function hostileMessages(): Buffer[] {
  const noise = Buffer.alloc(3000);
  let seed = 12345;
  for (let i = 0; i < noise.length; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    noise[i] = seed >>> 16;
  }
  return [
    noise,
    Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    Buffer.from([0x82, 0xa4]),
    Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff]),
    Buffer.concat([Buffer.from([0x82, 0xa4]), Buffer.from('head'), Buffer.alloc(200_000, 0x91)]),
    Buffer.concat([Buffer.from([0x82, 0xa4]), Buffer.from('head'), Buffer.from([0xdb, 0x06, 0x40, 0, 0])]),
    Buffer.concat([Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f]), Buffer.alloc(54), noise]),
  ];
}

/** Sends bytes to a port and disconnects. */
export async function throwAt(port: number, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = connect(port, loopback, () => socket.end(bytes));
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.on('data', () => undefined);
    // Half-closed is enough: a server that waits for more must not block the test.
    socket.on('finish', () => resolve());
  });
}

export function describeTransport(name: string, load: () => Promise<Transport>): void {
  describe(`${name} transport`, async () => {
    const bench = makeBench(await load());
    describe('requests', () => describeRequests(bench));
    describe('request failures', () => describeRequestFailures(bench));
    describe('publishes', () => describePublishes(bench));
    describe('hostile peers', () => describeHostile(bench));
  });
}

function describeRequests(bench: Bench): void {
  it('answers 300 concurrent requests in any order, each with its own reply', async () => {
    const server = await bench.requests((request) => {
      setTimeout(() => request.reply(request.payload), Math.random() * 20);
    });
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    const replies = await Promise.all(
      numbers(300).map((n) => client.request(pack({ n, text: `request ${n}` }), { timeoutMs: 10_000 })),
    );
    expect(replies.map((reply) => (unpack(reply) as { n: number }).n)).toEqual(numbers(300));
  });

  it('transfers 5 MB in both directions', async () => {
    const server = await bench.requests(echo);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    const load = pack({ load: Buffer.alloc(5_000_000, 0xfe) });
    const reply = await client.request(load, { timeoutMs: 10_000 });
    expect(Buffer.compare(reply, load)).toBe(0);
  });

  it('resolves the name at each dial', async () => {
    const server = await bench.requests(echo);
    const client = bench.own(bench.transport.dial({ host: 'localhost', port: server.port }));
    expect(unpack(await client.request(pack('x'), { timeoutMs: 5000 }))).toBe('x');
  });

  it('recovers after a server restart with the same client object', async () => {
    const server = await bench.requests(echo);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    await client.request(pack(1), { timeoutMs: 5000 });
    await server.close();
    await bench.requests(echo, server.port);
    // A request that was already on the lost connection may be rejected; the one after it may not.
    await client.request(pack(2), { timeoutMs: 5000 }).catch((thrown) => expect(thrown.code).toBe('wire.closed'));
    expect(unpack(await client.request(pack(3), { timeoutMs: 5000 }))).toBe(3);
  });

  it('waits for a server that starts later', async () => {
    const first = await bench.requests(echo);
    await first.close();
    const client = bench.own(bench.transport.dial({ host: loopback, port: first.port }));
    const waiting = client.request(pack('late'), { timeoutMs: 10_000 });
    await bench.requests(echo, first.port);
    expect(unpack(await waiting)).toBe('late');
  });
}

function describeRequestFailures(bench: Bench): void {
  it('times out, and never gives a late reply to another request', async () => {
    const held: IncomingRequest[] = [];
    const server = await bench.requests((request) => {
      if (unpack(request.payload) === 'slow') held.push(request);
      else request.reply(request.payload);
    });
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    await expect(client.request(pack('slow'), { timeoutMs: 100 })).rejects.toMatchObject({ code: 'wire.timeout' });
    const next = client.request(pack('next'), { timeoutMs: 5000 });
    held[0]?.reply(pack('the late reply'));
    expect(unpack(await next)).toBe('next');
    expect(unpack(await client.request(pack('third'), { timeoutMs: 5000 }))).toBe('third');
  });

  it('gives the reason why no server was reached', async () => {
    const server = await bench.requests(echo);
    await server.close();
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    await expect(client.request(pack(1), { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'wire.timeout',
      message: expect.stringContaining('refused'),
      hint: expect.stringContaining('master'),
    });
  });

  it('rejects requests in progress when the server closes', async () => {
    const server = await bench.requests(() => undefined);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    const lost = client.request(pack(1), { timeoutMs: 10_000 });
    const outcome = expect(lost).rejects.toMatchObject({ code: 'wire.closed' });
    const arrived = await bench.requests(echo);
    // Another server's answer proves that enough time has passed for the first request to arrive.
    const probe = bench.own(bench.transport.dial({ host: loopback, port: arrived.port }));
    for (let i = 0; i < 20; i++) await probe.request(pack(i), { timeoutMs: 5000 });
    await server.close();
    await outcome;
  });

  it('can be cancelled, and refuses after close', async () => {
    const server = await bench.requests(() => undefined);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    const abort = new AbortController();
    const lost = client.request(pack(1), { timeoutMs: 10_000, signal: abort.signal });
    const outcome = expect(lost).rejects.toMatchObject({ code: 'wire.closed' });
    abort.abort();
    await outcome;
    client.close();
    await expect(client.request(pack(2), { timeoutMs: 1000 })).rejects.toMatchObject({ code: 'wire.closed' });
  });

  it('answers even when the handler throws', async () => {
    const server = await bench.requests(() => {
      throw new Error('broken handler');
    });
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    expect(unpack(await client.request(pack(1), { timeoutMs: 5000 }))).toBe('Server-side exception handling payload');
    expect(bench.problems).toMatchObject([{ kind: 'handler', detail: 'broken handler' }]);
  });

  it('refuses a port that is taken', async () => {
    const server = await bench.requests(echo);
    await expect(bench.requests(echo, server.port)).rejects.toMatchObject({ code: 'daemon.running' });
  });
}

function describePublishes(bench: Bench): void {
  it('keeps the order and loses nothing in a burst beyond the high-water mark', async () => {
    const publisher = await bench.publisher({ hwm: 1000 });
    const one = await bench.subscriber(publisher.port, 'one');
    const two = await bench.subscriber(publisher.port, 'two');
    await bothReady(publisher, one, two);
    for (const n of numbers(5000)) publisher.publish(pack({ n }));
    for (const each of [one, two]) {
      await eventually(() => each.received.length >= 5000, 'all publishes');
      expect(each.received.map((item) => (item as { n: number }).n)).toEqual(numbers(5000));
    }
  });

  it('transfers publishes of 5 MB', async () => {
    const publisher = await bench.publisher();
    const one = await bench.subscriber(publisher.port, 'one');
    await bothReady(publisher, one);
    const load = Buffer.alloc(5_000_000, 0xfe);
    publisher.publish(pack({ load }));
    await eventually(() => one.received.length >= 1, 'the large publish');
    expect(Buffer.compare((one.received[0] as { load: Buffer }).load, load)).toBe(0);
  });

  it('reports when the publisher disconnects and when it is back', async () => {
    const publisher = await bench.publisher();
    const one = await bench.subscriber(publisher.port, 'one');
    await bothReady(publisher, one);
    await publisher.close();
    await eventually(() => one.states.includes('disconnected'), 'disconnected');
    const again = await bench.publisher({ port: publisher.port });
    await eventually(() => one.connected(), 'connected again');
    await bothReady(again, one);
    again.publish(pack('again'));
    await eventually(() => one.received.includes('again'), 'a publish after the restart');
  });

  it('reports added and removed presence texts, one by one', async () => {
    const events: SubscriberEvent[] = [];
    const publisher = await bench.publisher({ onSubscriber: (event) => events.push(event) });
    const seen = () => events.map((event) => `${event.kind} ${event.topic}`);
    const one = await bench.subscriber(publisher.port, 'one', { presenceTopic: 'halite1/one/b1/m1' });
    const two = await bench.subscriber(publisher.port, 'two', { presenceTopic: 'halite1/two/b2/m2' });
    await eventually(() => events.length === 2, 'two joined');
    expect(seen().sort()).toEqual(['joined halite1/one/b1/m1', 'joined halite1/two/b2/m2']);
    two.setPresence('halite1/two/b2/m3');
    await eventually(() => events.length === 4, 'the new text');
    expect(seen().slice(2)).toEqual(['left halite1/two/b2/m2', 'joined halite1/two/b2/m3']);
    one.close();
    await eventually(() => events.length === 5, 'one left');
    expect(seen()[4]).toBe('left halite1/one/b1/m1');
  });

  it('does not report a minion as left while another connection of it is open', async () => {
    const events: SubscriberEvent[] = [];
    const publisher = await bench.publisher({ onSubscriber: (event) => events.push(event) });
    const presenceTopic = 'halite1/one/b1/m1';
    const old = await bench.subscriber(publisher.port, 'one', { presenceTopic });
    await eventually(() => events.length === 1, 'joined');
    const fresh = await bench.subscriber(publisher.port, 'one', { presenceTopic });
    await bothReady(publisher, old, fresh);
    old.close();
    const other = await bench.subscriber(publisher.port, 'two', { presenceTopic: 'halite1/two/b2/m2' });
    await eventually(() => events.length === 2, 'the other joined');
    expect(events.map((event) => event.kind)).toEqual(['joined', 'joined']);
    fresh.close();
    other.close();
    await eventually(() => events.length === 4, 'both left');
  });
}

/** Publishes until every subscriber has received something, then empties the lists. */
export async function bothReady(publisher: PublishServer, ...subscribers: TestSubscriber[]): Promise<void> {
  await eventually(() => {
    publisher.publish(pack('hello'));
    return subscribers.every((each) => each.received.length > 0);
  }, 'subscribers ready');
  publisher.publish(pack('start'));
  await eventually(() => subscribers.every((each) => each.received.includes('start')), 'start');
  for (const each of subscribers) each.received.length = 0;
}

function describeHostile(bench: Bench): void {
  it('continues to answer while garbage arrives on the request port', async () => {
    const server = await bench.requests(echo, 0, 1_000_000);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    for (const bytes of hostileMessages()) {
      await throwAt(server.port, bytes);
      expect(unpack(await client.request(pack(bytes.length), { timeoutMs: 5000 }))).toBe(bytes.length);
    }
  });

  it('continues to publish while garbage arrives on the publish port', async () => {
    const events: SubscriberEvent[] = [];
    const publisher = await bench.publisher({ onSubscriber: (event) => events.push(event) });
    const one = await bench.subscriber(publisher.port, 'one');
    await bothReady(publisher, one);
    for (const bytes of hostileMessages()) await throwAt(publisher.port, bytes);
    publisher.publish(pack('still here'));
    await eventually(() => one.received.includes('still here'), 'a publish after the garbage');
    expect(one.states).toEqual(['connected']);
    expect(events).toEqual([]);
  });
}
