// The ZeroMQ transport: the shared suite, and what only ZeroMQ has.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Request, Subscriber } from 'zeromq';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { bothReady, describeTransport, echo, loopback, makeBench } from './testing/conformance.ts';
import { eventually } from './testing/eventually.ts';
import { zeromqTransport } from './zeromq.ts';

describeTransport('zeromq', async () => zeromqTransport);

describe('zeromq details', () => {
  const bench = makeBench(zeromqTransport);

  it('answers plain REQ sockets, also with a request id frame before the delimiter', async () => {
    const server = await bench.requests(echo);
    for (const correlate of [false, true]) {
      const req = bench.own(new Request({ linger: 0, correlate }));
      req.connect(`tcp://${loopback}:${server.port}`);
      await req.send(pack({ correlate }));
      const [reply] = await req.receive();
      expect({ ...(unpack(reply as Buffer) as object) }).toEqual({ correlate });
    }
  });

  it('ignores messages with a wrong number of frames and answers the next', async () => {
    const server = await bench.requests(echo);
    const req = bench.own(new Request({ linger: 0, relaxed: true }));
    req.connect(`tcp://${loopback}:${server.port}`);
    await req.send(['one', 'two', 'three']);
    await eventually(() => bench.problems.length === 1, 'the problem');
    expect(bench.problems[0]).toMatchObject({ kind: 'malformed' });
    const good = bench.own(new Request({ linger: 0 }));
    good.connect(`tcp://${loopback}:${server.port}`);
    await good.send('fine');
    expect(String((await good.receive())[0])).toBe('fine');
  });

  it('drops and answers a request that is too large', async () => {
    const server = await bench.requests(echo, 0, 10_000);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    expect(unpack(await client.request(pack(Buffer.alloc(15_000)), { timeoutMs: 5000 }))).toBe('bad load');
    expect(bench.problems).toMatchObject([{ kind: 'too-large' }]);
  });

  it('closes a connection that announces far more than allowed, and serves the others', async () => {
    const server = await bench.requests(echo, 0, 10_000);
    const client = bench.own(bench.transport.dial({ host: loopback, port: server.port }));
    await expect(client.request(pack(Buffer.alloc(50_000)), { timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'wire.closed',
    });
    expect(unpack(await client.request(pack(1), { timeoutMs: 5000 }))).toBe(1);
  });

  it('moves a route to a client that reconnects with the same identity', async () => {
    const server = await bench.requests(echo);
    for (let i = 0; i < 3; i++) {
      const req = bench.own(new Request({ linger: 0, routingId: 'salt-req/minion/one/0' }));
      req.connect(`tcp://${loopback}:${server.port}`);
      await req.send(`call ${i}`);
      expect(String((await req.receive())[0])).toBe(`call ${i}`);
    }
  });

  it('filters by topic: own hash and broadcast arrive, others do not', async () => {
    const publisher = await bench.publisher({ filtering: true });
    const one = await bench.subscriber(publisher.port, 'one', { filtering: true });
    const two = await bench.subscriber(publisher.port, 'two', { filtering: true });
    const syndic = await bench.subscriber(publisher.port, 'low', { filtering: true, syndic: true });
    const open = await bench.subscriber(publisher.port, 'three');
    await bothReady(publisher, one, two, syndic, open);
    publisher.publish(pack('for one'), ['one']);
    publisher.publish(pack('for both'), ['one', 'two']);
    publisher.publish(pack('for three'), ['three']);
    publisher.publish(pack('for all'), []);
    for (const each of [one, two, syndic, open]) {
      await eventually(() => each.received.includes('for all'), 'the broadcast');
    }
    expect(one.received).toEqual(['for one', 'for both', 'for all']);
    expect(two.received).toEqual(['for both', 'for all']);
    expect(syndic.received).toEqual(['for all']);
    expect(open.received).toEqual(['for three', 'for all']);
  });

  it('sends two frames with the documented topics, and a third message to syndics', async () => {
    const publisher = await bench.publisher({ filtering: true, syndics: true });
    const sub = bench.own(new Subscriber({ linger: 0 }));
    const topics: string[] = [];
    sub.connect(`tcp://${loopback}:${publisher.port}`);
    sub.subscribe('');
    void (async () => {
      for await (const [topic] of sub) topics.push(String(topic));
    })();
    await eventually(() => {
      publisher.publish(pack(0));
      return topics.length > 0;
    }, 'subscription');
    publisher.publish(pack(1), ['web1']);
    await eventually(() => topics.includes('syndic'), 'the syndic copy');
    expect(topics.slice(-2)).toEqual([createHash('sha1').update('web1').digest('hex'), 'syndic']);
  });
});
