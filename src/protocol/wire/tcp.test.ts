// The TCP transport: the shared suite, the same over TLS, and what only TCP has.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { isDict } from '../../base/codec/value.ts';
import { joinFrame, publishFrame, splitFrame } from './tcp/frame.ts';
import { FrameReader } from './tcp/frame-reader.ts';
import { tcpTransport } from './tcp.ts';
import { bothReady, describeTransport, echo, loopback, makeBench } from './testing/conformance.ts';
import { eventually } from './testing/eventually.ts';
import type { SubscriberEvent, TlsOptions, Transport } from './transport.ts';

describeTransport('tcp', async () => tcpTransport);

const fixture = (name: string) => fileURLToPath(new URL(`../../../test/fixtures/wire-tls/${name}`, import.meta.url));
const serverSide: TlsOptions = { certfile: fixture('master.pem'), keyfile: fixture('master.key') };
const clientSide: TlsOptions = { ca_certs: fixture('ca.pem') };

/** The same transport with the `ssl` option set on both sides. */
function overTls(server: TlsOptions, client: TlsOptions | true): Transport {
  return {
    name: 'tcp',
    listenRequests: (options, handler) => tcpTransport.listenRequests({ ...options, tls: server }, handler),
    listenPublish: (options) => tcpTransport.listenPublish({ ...options, tls: server }),
    dial: (options) => tcpTransport.dial({ ...options, tls: client }),
    subscribe: (options) => tcpTransport.subscribe({ ...options, tls: client }),
  };
}

describeTransport('tcp with TLS', async () => overTls(serverSide, clientSide));

describe('TLS options', () => {
  const refuses = async (server: TlsOptions, client: TlsOptions | true, message: RegExp) => {
    const transport = overTls(server, client);
    const listening = await transport.listenRequests({ interface: loopback, port: 0 }, echo);
    const dialed = transport.dial({ host: loopback, port: listening.port });
    await expect(dialed.request(pack(1), { timeoutMs: 400 })).rejects.toThrow(message);
    dialed.close();
    await listening.close();
  };

  it('verifies the server unless disabled', async () => {
    await refuses(serverSide, true, /certificate/);
    const bench = overTls(serverSide, { cert_reqs: 'CERT_NONE' });
    const listening = await bench.listenRequests({ interface: loopback, port: 0 }, echo);
    const dialed = bench.dial({ host: loopback, port: listening.port });
    expect(unpack(await dialed.request(pack(1), { timeoutMs: 5000 }))).toBe(1);
    dialed.close();
    await listening.close();
  });

  it('requires client certificates with CERT_REQUIRED', async () => {
    const strict = { ...serverSide, ca_certs: fixture('ca.pem'), cert_reqs: 'CERT_REQUIRED' };
    const listening = await overTls(strict, {}).listenRequests({ interface: loopback, port: 0 }, echo);
    const own = { ...clientSide, certfile: fixture('minion.pem'), keyfile: fixture('minion.key') };
    const good = overTls(strict, own).dial({ host: loopback, port: listening.port });
    expect(unpack(await good.request(pack(1), { timeoutMs: 5000 }))).toBe(1);
    const bad = overTls(strict, clientSide).dial({ host: loopback, port: listening.port });
    await expect(bad.request(pack(1), { timeoutMs: 500 })).rejects.toMatchObject({ name: 'HaliteError' });
    good.close();
    bad.close();
    await listening.close();
  });

  it('names the invalid option of the map', async () => {
    const listen = (tls: TlsOptions | true) => tcpTransport.listenRequests({ interface: loopback, port: 0, tls }, echo);
    await expect(listen(true)).rejects.toThrow(/certfile/);
    await expect(listen({ ...serverSide, cert_reqs: 'MAYBE' })).rejects.toThrow(/cert_reqs .* CERT_NONE/);
    await expect(listen({ ...serverSide, ssl_version: 'PROTOCOL_SSLv2' })).rejects.toThrow(/PROTOCOL_TLSv1_2/);
    await expect(listen({ ...serverSide, ca_certs: fixture('none.pem') })).rejects.toThrow(/none\.pem/);
    await expect(listen({ ...serverSide, verify_flags: ['VERIFY_CRL_CHECK_LEAF'] })).rejects.toThrow(/verify_flags/);
  });
});

describe('tcp details', () => {
  const bench = makeBench(tcpTransport);
  const rawConnection = async (port: number): Promise<Socket> => {
    const socket = connect(port, loopback);
    socket.on('error', () => undefined);
    bench.own({ close: () => socket.destroy() });
    await once(socket, 'connect');
    return socket;
  };

  it('repeats the head unchanged and answers several requests of one chunk', async () => {
    const server = await bench.requests(echo);
    const socket = await rawConnection(server.port);
    const frames: Buffer[] = [];
    const reader = new FrameReader(1e6);
    socket.on('data', (chunk: Buffer) => frames.push(...reader.feed(chunk)));
    const heads = [pack({ mid: 'a', more: [1] }, { bin: true }), pack({ mid: 7 })];
    socket.write(Buffer.concat(heads.map((head, i) => joinFrame(head, pack({ i })))));
    await eventually(() => frames.length === 2, 'two replies');
    expect(frames.map((frame) => splitFrame(frame)?.head)).toEqual(heads);
  });

  it('delivers by id, to everybody without ids, and to all with syndics', async () => {
    const identify = async (body: unknown) =>
      isDict(body) && !(body instanceof Map) && typeof body['id'] === 'string' ? body['id'] : undefined;
    const events: SubscriberEvent[] = [];
    const onSubscriber = (event: SubscriberEvent) => events.push(event);
    const publisher = await bench.publisher({ identify, onSubscriber });
    const one = await bench.subscriber(publisher.port, 'one', { identification: async () => ({ id: 'one' }) });
    const two = await bench.subscriber(publisher.port, 'two', { identification: async () => ({ id: 'two' }) });
    const nobody = await bench.subscriber(publisher.port, 'three');
    await eventually(() => events.length === 2, 'both identified');
    expect(events.map(({ kind, id, topic }) => [kind, id, topic]).sort()).toEqual([
      ['joined', 'one', ''],
      ['joined', 'two', ''],
    ]);
    await bothReady(publisher, one, two, nobody);
    publisher.publish(pack('for one'), ['one', 'absent']);
    publisher.publish(pack('for both'), ['one', 'two']);
    publisher.publish(pack('for all'), []);
    for (const each of [one, two, nobody]) await eventually(() => each.received.includes('for all'), 'the last');
    expect(one.received).toEqual(['for one', 'for both', 'for all']);
    expect(two.received).toEqual(['for both', 'for all']);
    // Connections without an authenticated id receive only what is for all.
    expect(nobody.received).toEqual(['for all']);
    const upper = await bench.publisher({ identify, syndics: true });
    const low = await bench.subscriber(upper.port, 'low');
    await bothReady(upper, low);
    upper.publish(pack('for one'), ['one']);
    await eventually(() => low.received.includes('for one'), 'the copy for lower masters');
  });

  it('identifies again at every connection and retries when that fails', async () => {
    let calls = 0;
    const identification = async () => {
      calls += 1;
      if (calls === 1) throw new Error('not signed in yet');
      return { id: 'one' };
    };
    const publisher = await bench.publisher({ identify: async () => 'one' });
    const one = await bench.subscriber(publisher.port, 'one', { identification });
    await eventually(() => one.connected(), 'connected at the second try');
    await publisher.close();
    await bench.publisher({ port: publisher.port });
    await eventually(() => calls === 3, 'identified again');
  });

  it('accepts publishes as map, as 3005 and 3006 masters send them', async () => {
    const sockets: Socket[] = [];
    const master = createServer((socket) => sockets.push(socket)).listen(0, loopback);
    bench.own({ close: () => master.close() });
    await once(master, 'listening');
    const { port } = master.address() as { port: number };
    const one = await bench.subscriber(port, 'one');
    await eventually(() => one.connected() && sockets.length === 1, 'connected');
    bench.own({ close: () => sockets[0]?.destroy() });
    sockets[0]?.write(joinFrame(pack({}), pack({ enc: 'aes', load: 'x' })));
    sockets[0]?.write(publishFrame(pack({ enc: 'aes', load: 'y' })));
    sockets[0]?.write(pack({ head: {}, body: pack({ enc: 'aes', load: 'z' }) }, { bin: true }));
    await eventually(() => one.received.length === 3, 'three publishes');
    expect(one.received.map((item) => (item as { load: string }).load)).toEqual(['x', 'y', 'z']);
  });

  it('closes the connection on too large frames, and reports it', async () => {
    const server = await bench.requests(echo, 0, 10_000);
    const socket = await rawConnection(server.port);
    socket.write(Buffer.from([0x82, 0xdb, 0x06, 0x40, 0, 0]));
    await once(socket, 'close');
    expect(bench.problems).toMatchObject([{ kind: 'too-large' }]);
  });

  it('disconnects a subscriber that does not read, and continues with the others', async () => {
    const publisher = await bench.publisher();
    const stuck = await rawConnection(publisher.port);
    stuck.pause();
    const one = await bench.subscriber(publisher.port, 'one');
    await bothReady(publisher, one);
    const load = pack({ load: Buffer.alloc(4_000_000, 0xfe) });
    let sent = 0;
    await eventually(() => {
      if (one.received.length === sent) {
        publisher.publish(load);
        sent += 1;
      }
      return bench.problems.some((problem) => problem.kind === 'slow');
    }, 'the slow one to be closed');
    await eventually(() => one.received.length === sent, 'all publishes at the healthy one');
  });

  it('treats a hostile identification as unauthenticated', async () => {
    const events: SubscriberEvent[] = [];
    const publisher = await bench.publisher({
      identify: async () => {
        throw new Error('does not verify');
      },
      onSubscriber: (event) => events.push(event),
    });
    const socket = await rawConnection(publisher.port);
    const deep = Buffer.concat([Buffer.alloc(1000, 0x91), Buffer.from([1])]);
    socket.write(joinFrame(pack({ presence: 'nonsense' }), pack({ enc: 'aes' })));
    socket.write(joinFrame(pack({}), deep));
    await eventually(() => bench.problems.length === 2, 'both refused');
    expect(events).toEqual([]);
    expect(socket.destroyed).toBe(false);
  });
});
