// Our listening side of ZeroMQ and libzmq as other programs use it: pyzmq, through every kind of socket that Salt uses.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PublishServer, RequestServer } from '../../src/protocol/wire/transport.ts';
import { zeromqTransport } from '../../src/protocol/wire/zeromq.ts';
import { runProgram } from '../support/deployment.ts';

const cache = process.env['HALITE_TEST_CACHE'] ?? join(homedir(), '.cache', 'halite-test');
const folder = join(cache, 'pyzmq');
const peer = `
import json, sys, zmq
requests, publishes = sys.argv[1:]
context = zmq.Context()
seen = {}

def made(kind, port, **options):
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVTIMEO, 30000)
    for name, value in options.items():
        socket.setsockopt(getattr(zmq, name), value)
    socket.connect('tcp://127.0.0.1:' + port)
    return socket

one = made(zmq.REQ, requests)
seen['sizes'] = []
for size in (0, 1, 255, 256, 70000, 3000000):
    one.send(b'x' * size)
    seen['sizes'].append(len(one.recv()))
named = made(zmq.REQ, requests, IDENTITY=b'salt-req/minion/m1/0')
named.send(b'who')
seen['peer'] = named.recv().decode()
relaxed = made(zmq.REQ, requests, REQ_CORRELATE=1, REQ_RELAXED=1)
relaxed.send(b'given up')
relaxed.send(b'wanted')
seen['relaxed'] = relaxed.recv().decode()
dealer = made(zmq.DEALER, requests)
for number in range(500):
    dealer.send_multipart([b'', b'%d' % number])
seen['dealer'] = all(dealer.recv_multipart() == [b'', b'%d' % number] for number in range(500))
all_of_it = made(zmq.SUB, publishes, SUBSCRIBE=b'')
seen['first'] = len(all_of_it.recv())
some = made(zmq.SUB, publishes, SUBSCRIBE=b'beta', HEARTBEAT_IVL=100)
seen['beta'] = sorted({some.recv().decode() for _ in range(5)})
print(json.dumps(seen))
`;

let server: RequestServer;
let publisher: PublishServer;
let timer: NodeJS.Timeout;
beforeAll(async () => {
  const python = join(folder, 'bin', 'python');
  if (!existsSync(python) || spawnSync(python, ['-c', 'import zmq']).status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    for (const [file, ...args] of [
      ['python3', '-m', 'venv', folder],
      [join(folder, 'bin', 'pip'), 'install', '--quiet', '--disable-pip-version-check', 'pyzmq'],
    ]) {
      const { status, stderr } = spawnSync(file as string, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed:\n${stderr}`);
    }
  }
  writeFileSync(join(folder, 'peer.py'), peer);
  server = await zeromqTransport.listenRequests({ interface: '127.0.0.1', port: 0 }, (request) => {
    request.reply(String(request.payload) === 'who' ? Buffer.from(request.peer) : request.payload);
  });
  publisher = await zeromqTransport.listenPublish({ interface: '127.0.0.1', port: 0, hwm: 1000 });
  timer = setInterval(() => {
    for (const text of ['alpha', 'beta 1', 'beta 2']) publisher.publish(Buffer.from(text));
  }, 20);
});
afterAll(async () => {
  clearInterval(timer);
  await server?.close();
  await publisher?.close();
});

it('REQ, DEALER and SUB of pyzmq are served', async () => {
  const args = [join(folder, 'peer.py'), String(server.port), String(publisher.port)];
  const { stdout, stderr } = await runProgram(join(folder, 'bin', 'python'), args, { timeoutMs: 120_000 });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    sizes: [0, 1, 255, 256, 70_000, 3_000_000],
    peer: expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:\d+ \(salt-req\/minion\/m1\/0\)$/),
    relaxed: 'wanted',
    dealer: true,
    first: expect.any(Number),
    beta: ['beta 1', 'beta 2'],
  });
});
