// Unauthenticated peers on the ZeroMQ ports: their cost is bounded, and no other peer has to wait.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Request } from 'zeromq';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { bothReady, echo, loopback, makeBench } from '../testing/conformance.ts';
import { eventually } from '../testing/eventually.ts';
import {
  announced,
  command,
  frame,
  greeting2,
  greeting3,
  handshakeBytes,
  type RawPeer,
  rawPeer,
  ready,
  request,
  zmtpPeer,
} from '../testing/raw-peer.ts';
import type { IncomingRequest, SubscriberEvent } from '../transport.ts';
import { zeromqTransport } from '../zeromq.ts';

const mb = 1024 * 1024;
const bench = makeBench(zeromqTransport);
const own = (peer: RawPeer): RawPeer => {
  bench.own({ close: () => peer.socket.destroy() });
  return peer;
};
const client = (port: number) => bench.own(bench.transport.dial({ host: loopback, port }));
/** With a time to live of 30 s. */
const ping = command('PING', Buffer.from([1, 44]));
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Time for the deadlines advances second by second, while the sockets are real. */
function clock(): (seconds: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  vi.advanceTimersByTime(1000);
  return async (seconds) => {
    for (let i = 0; i < seconds; i++) {
      vi.advanceTimersByTime(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}
afterEach(() => vi.useRealTimers());

describe('the request port', () => {
  it('sends a reply to the connection of the request, even if another one claims its identity', async () => {
    const held: IncomingRequest[] = [];
    const server = await bench.requests((one) => void held.push(one));
    const identity = 'salt-req/minion/m1/0';
    const good = bench.own(new Request({ linger: 0, routingId: identity }));
    good.connect(`tcp://${loopback}:${server.port}`);
    await good.send('mine');
    await eventually(() => held.length === 1, 'the request');
    expect(held[0]?.peer).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+ \(salt-req\/minion\/m1\/0\)$/);
    const strangers = await Promise.all(times(3, () => zmtpPeer(server.port, 'DEALER', identity)));
    for (const stranger of strangers) {
      own(stranger).socket.write(request('theirs'));
    }
    await eventually(() => held.length === 4, 'the requests of the strangers');
    held[0]?.reply(Buffer.from('for m1'));
    expect(String((await good.receive())[0])).toBe('for m1');
    const whole = ({ received }: RawPeer) => received().length >= handshakeBytes('ROUTER');
    await eventually(() => strangers.every(whole), 'the handshakes of the strangers');
    for (const stranger of strangers) expect(stranger.received()).toHaveLength(handshakeBytes('ROUTER'));
  });

  it('answers small requests while unauthenticated peers hold incomplete large ones, in bounded memory', async () => {
    const server = await bench.requests(echo, 0, 64 * mb);
    const part = Buffer.alloc(mb, 7);
    const strangers = await Promise.all(times(20, () => zmtpPeer(server.port, 'DEALER')));
    const before = process.memoryUsage().arrayBuffers;
    for (const stranger of strangers) {
      own(stranger).socket.write(Buffer.concat([frame('', 1), announced(60 * mb)]));
      for (let i = 0; i < 59; i++) stranger.socket.write(part);
    }
    const asking = client(server.port);
    for (let i = 0; i < 200; i++) expect(unpack(await asking.request(pack(i), { timeoutMs: 20_000 }))).toBe(i);
    await eventually(() => strangers.some(({ socket }) => socket.bytesWritten > 58 * mb), 'a large part');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * mb);
  });

  it('accepts all large requests of unauthenticated peers, one after the other', async () => {
    const sizes: number[] = [];
    const server = await bench.requests(
      (one) => {
        sizes.push(one.payload.length);
        one.reply(pack(one.payload.length));
      },
      0,
      64 * mb,
    );
    const payload = Buffer.alloc(60 * mb, 1);
    const replies = await Promise.all(times(4, () => client(server.port).request(payload, { timeoutMs: 60_000 })));
    expect(replies.map((reply) => unpack(reply))).toEqual(times(4, () => 60 * mb));
    expect(sizes).toHaveLength(4);
  });

  it('stops reading from a peer that does not read replies, and closes its connection', async () => {
    const pass = clock();
    let taken = 0;
    const answer = Buffer.alloc(mb, 1);
    const server = await bench.requests((one) => {
      taken += 1;
      one.reply(answer);
    });
    const stranger = own(await zmtpPeer(server.port, 'DEALER'));
    stranger.socket.pause();
    for (let i = 0; i < 500; i++) stranger.socket.write(request('more'));
    await eventually(() => taken > 0, 'the first requests');
    await pass(10);
    expect(taken).toBeLessThan(50);
    await pass(20);
    await eventually(() => bench.problems.length > 0, 'the cut');
    expect(bench.problems).toMatchObject([{ kind: 'slow' }]);
  });

  it('closes connections without a handshake, and those with stopped or slow messages', async () => {
    const pass = clock();
    const server = await bench.requests(echo);
    const silent = own(await rawPeer(server.port));
    const halfway = own(await rawPeer(server.port));
    halfway.socket.write(greeting3());
    const stalled = own(await zmtpPeer(server.port, 'REQ'));
    stalled.socket.write(request('x'.repeat(100)).subarray(0, 50));
    const slow = own(await zmtpPeer(server.port, 'REQ'));
    slow.socket.write(request('x'.repeat(100)).subarray(0, 50));
    const quiet = own(await zmtpPeer(server.port, 'REQ'));
    await eventually(() => quiet.received().length === handshakeBytes('ROUTER'), 'the handshake');
    const all = { silent, halfway, stalled, slow, quiet };
    const gone = () => Object.entries(all).flatMap(([name, { socket }]) => (socket.destroyed ? [name] : []));
    const asking = client(server.port);
    for (let i = 0; i < 14 && gone().length < 3; i++) {
      slow.socket.write('x');
      // When a request and its reply have been transferred, the byte has arrived too.
      for (let k = 0; k < 3; k++) await asking.request(pack(k), { timeoutMs: 20_000 });
      await pass(1);
    }
    expect(gone()).toEqual(['silent', 'halfway', 'stalled']);
    await pass(6);
    await eventually(() => gone().length === 4, 'the slow one to be closed');
    expect(gone()).not.toContain('quiet');
  });

  it('pings only peers that proved who they are: nobody keeps a connection by answering PINGs', async () => {
    const pass = clock();
    const server = await bench.requests((one) => {
      if (String(one.payload) === 'proof') one.trust();
      one.reply(Buffer.from('reply'));
    });
    const proven = own(await zmtpPeer(server.port, 'REQ'));
    const stranger = own(await zmtpPeer(server.port, 'REQ'));
    proven.socket.write(request('proof'));
    stranger.socket.write(request('none'));
    const whole = handshakeBytes('ROUTER') + request('reply').length;
    await eventually(() => [proven, stranger].every((peer) => peer.received().length >= whole), 'the replies');
    await pass(2);
    await eventually(() => proven.received().includes(ping), 'a PING');
    await pass(10);
    expect(stranger.received()).toHaveLength(whole);
  });

  it('closes connections that announce too much, in one frame or in many', async () => {
    const server = await bench.requests(echo, 0, mb);
    const attempts = [
      announced(3 * mb),
      Buffer.concat([frame('', 1), announced(2 ** 40)]),
      Buffer.from('02ffffffffffffffff', 'hex'),
      Buffer.concat(times(5, () => frame(Buffer.alloc(mb), 1))),
      Buffer.concat(times(20_000, () => frame('x', 1))),
      command('PING', Buffer.alloc(200)),
      Buffer.from([4, 0]),
      Buffer.from([9, 0]),
    ];
    for (const bytes of attempts) {
      const stranger = own(await zmtpPeer(server.port, 'DEALER'));
      stranger.socket.write(bytes);
      await eventually(() => stranger.socket.destroyed, 'the cut');
    }
    expect(unpack(await client(server.port).request(pack('fine'), { timeoutMs: 5000 }))).toBe('fine');
  });

  it('refuses sockets of other types and handshakes out of order', async () => {
    const server = await bench.requests(echo);
    const first = [
      Buffer.concat([greeting3(), ready('SUB')]),
      Buffer.concat([greeting3(), frame('early')]),
      Buffer.concat([greeting3(), command('ERROR', 'no')]),
      Buffer.concat([greeting3(), command('READY', '\x0bSocket-Type\xff\xff\xff\xff')]),
      greeting3(0, 'PLAIN'),
    ];
    for (const bytes of first) {
      const stranger = own(await rawPeer(server.port));
      stranger.socket.write(bytes);
      await eventually(() => stranger.socket.destroyed, 'the cut');
    }
  });

  it('serves peers of ZMTP 1.0 and 2.0 in their framing', async () => {
    const server = await bench.requests(echo);
    const oldest = own(await rawPeer(server.port));
    // Length with flags, flags: an empty identity, the delimiter, the payload.
    oldest.socket.write(
      Buffer.concat([Buffer.from([1, 0]), Buffer.from([1, 1]), Buffer.from([4, 0]), Buffer.from('old')]),
    );
    await eventually(() => oldest.received().length >= 17, 'the reply to ZMTP 1.0');
    expect(oldest.received().toString('hex')).toBe(
      `ff00000000000000017f${'0101'}${'0400'}${Buffer.from('old').toString('hex')}`,
    );
    const older = own(await rawPeer(server.port));
    older.socket.write(Buffer.concat([greeting2(3), request('older')]));
    await eventually(() => older.received().length >= 23, 'the reply to ZMTP 2.0');
    expect(older.received().toString('latin1')).toBe('\xff\0\0\0\0\0\0\0\x01\x7f\x03\x06\0\0\x01\0\0\x05older');
  });
});

describe('the publish port', () => {
  it('closes a connection with too many, too long or too frequently changing subscriptions', async () => {
    const publisher = await bench.publisher();
    const attempts = [
      Buffer.concat(times(65, (n) => frame(`\x01topic ${n}`))),
      Buffer.concat(times(5, (n) => frame(`\x01${String(n).repeat(4000)}`))),
      Buffer.concat(times(600, () => Buffer.concat([frame('\x01x'), frame('\0x')]))),
      Buffer.concat(times(65, (n) => command('SUBSCRIBE', `topic ${n}`))),
      announced(100 * mb),
    ];
    for (const bytes of attempts) {
      const stranger = own(await zmtpPeer(publisher.port, 'SUB'));
      stranger.socket.write(bytes);
      await eventually(() => stranger.socket.destroyed, 'the cut');
    }
  });

  it('accepts presence texts only with a valid proof, also when they are removed', async () => {
    const events: SubscriberEvent[] = [];
    const good = 'halite1/m1/boot/right';
    const publisher = await bench.publisher({
      onSubscriber: (event) => events.push(event),
      provesPresence: (topic) => topic === good,
    });
    const minion = await bench.subscriber(publisher.port, 'm1', { presenceTopic: good });
    await eventually(() => events.length === 1, 'joined');
    const stranger = own(await zmtpPeer(publisher.port, 'SUB'));
    stranger.socket.write(
      Buffer.concat([frame('\x01halite1/m1/boot/wrong'), frame('\0halite1/m1/boot/wrong'), frame(`\0${good}`)]),
    );
    stranger.socket.write(frame('\x01'));
    await eventually(() => {
      publisher.publish(pack('seen'));
      return stranger.received().length > handshakeBytes('XPUB');
    }, 'the stranger to be served');
    stranger.socket.destroy();
    minion.close();
    await eventually(() => events.length === 2, 'left');
    expect(events.map(({ kind, topic }) => [kind, topic])).toEqual([
      ['joined', good],
      ['left', good],
    ]);
  });

  it('continues without subscribers that never read, and closes them', async () => {
    const pass = clock();
    const publisher = await bench.publisher();
    const one = await bench.subscriber(publisher.port, 'one');
    const stuck = await Promise.all(times(5, () => zmtpPeer(publisher.port, 'SUB')));
    for (const peer of stuck) {
      own(peer).socket.write(frame('\x01'));
      await eventually(() => peer.received().length > 0, 'the handshake');
      peer.socket.pause();
    }
    await bothReady(publisher, one);
    const before = process.memoryUsage().arrayBuffers;
    for (let n = 0; n < 200; n++) {
      publisher.publish(pack({ n, filler: Buffer.alloc(250_000, n) }));
      await eventually(() => one.received.length > n, `publish ${n}`);
      one.received[n] = (one.received[n] as { n: number }).n;
    }
    expect(one.received).toEqual(times(200, (n) => n));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * mb);
    await pass(20);
    await eventually(
      () => bench.problems.filter(({ detail }) => detail.includes('does not read')).length === 5,
      'the cuts',
    );
  });

  it('pings silent peers of ZMTP 3.1 and closes those that do not answer; older ones are not pinged', async () => {
    const pass = clock();
    const publisher = await bench.publisher();
    const answering = own(await zmtpPeer(publisher.port, 'SUB'));
    const dead = own(await zmtpPeer(publisher.port, 'SUB'));
    const older = own(await zmtpPeer(publisher.port, 'SUB', '', 0));
    answering.socket.on('data', (chunk) => {
      if (chunk.includes(ping)) answering.socket.write(command('PONG'));
    });
    const all = [answering, dead, older];
    await eventually(() => all.every((peer) => peer.received().length === handshakeBytes('XPUB')), 'the handshakes');
    for (let i = 0; i < 35 && !dead.socket.destroyed; i++) {
      await pass(1);
      if (i === 1) await eventually(() => dead.received().length > handshakeBytes('XPUB'), 'a ping');
      await pingsAnswered(answering);
    }
    await eventually(() => dead.socket.destroyed, 'the dead one to be closed');
    expect([answering.socket.destroyed, older.socket.destroyed]).toEqual([false, false]);
    expect(older.received()).toHaveLength(handshakeBytes('XPUB'));
    answering.socket.write(command('PING', Buffer.concat([Buffer.alloc(2), Buffer.from('mark')])));
    await eventually(() => answering.received().includes(command('PONG', 'mark')), 'the answer to a PING');
  });

  it('sends a PING with each publish, because one ends the time to live; not to others than silent peers of 3.1', async () => {
    const publisher = await bench.publisher();
    const current = own(await zmtpPeer(publisher.port, 'SUB'));
    const beating = own(await zmtpPeer(publisher.port, 'SUB'));
    const older = own(await zmtpPeer(publisher.port, 'SUB', '', 0));
    const second = own(await rawPeer(publisher.port));
    second.socket.write(Buffer.concat([greeting2(2), frame('\x01')]));
    const oldest = own(await rawPeer(publisher.port));
    oldest.socket.write(Buffer.from([1, 0]));
    for (const peer of [current, beating, older]) peer.socket.write(frame('\x01'));
    beating.socket.write(command('PING', Buffer.alloc(2)));
    await eventually(() => beating.received().includes(command('PONG')), 'the answer to its PING');
    const all = [current, beating, older, second, oldest];
    let last = Buffer.alloc(0);
    for (let n = 0; n < 3; n++) {
      last = Buffer.from(`publish ${n}`);
      await eventually(() => {
        publisher.publish(last);
        return all.every((peer) => peer.received().includes(last));
      }, `publish ${n}`);
    }
    await eventually(() => current.received().subarray(-ping.length).equals(ping), 'the PING after it');
    const count = current.received().toString('latin1').split(ping.toString('latin1')).length - 1;
    expect(count).toBeGreaterThanOrEqual(3);
    for (const peer of [beating, older, second, oldest]) expect(peer.received().includes('PING')).toBe(false);
  });

  it('sends everything to peers of ZMTP 1.0, which filter themselves, and by topic to ZMTP 2.0', async () => {
    const publisher = await bench.publisher({ filtering: true });
    const oldest = own(await rawPeer(publisher.port));
    oldest.socket.write(Buffer.from([1, 0]));
    const older = own(await rawPeer(publisher.port));
    older.socket.write(Buffer.concat([greeting2(2), frame('\x01broad')]));
    const payload = Buffer.from('payload');
    await eventually(() => {
      publisher.publish(payload);
      return [oldest, older].every((peer) => peer.received().includes(payload));
    }, 'the publish');
    expect(
      oldest
        .received()
        .includes(Buffer.concat([Buffer.from([10, 1]), Buffer.from('broadcast'), Buffer.from([8, 0]), payload])),
    ).toBe(true);
    expect(older.received().includes(Buffer.concat([frame('broadcast', 1), frame(payload)]))).toBe(true);
  });
});

/** Waits for the answers to pings before time advances. */
async function pingsAnswered(peer: RawPeer): Promise<void> {
  const bytes = peer.received();
  if (bytes.includes(ping)) await eventually(() => peer.socket.writableLength === 0, 'the answer');
  await new Promise((resolve) => setImmediate(resolve));
}
