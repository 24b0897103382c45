// Unauthenticated peers on the ports of a real master: their resources are bounded, they are disconnected, and the
// minions continue to work.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Request } from 'zeromq';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import {
  announced,
  frame,
  handshakeBytes,
  type RawPeer,
  rawPeer,
  request,
  zmtpPeer,
} from '../../src/protocol/wire/testing/raw-peer.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

const MB = 1024 * 1024;
const ping = (filler = Buffer.alloc(0)): Buffer => pack({ enc: 'clear', load: { cmd: 'ping', filler }, version: 3 });
const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

let strangers: RawPeer[] = [];
afterEach(() => {
  for (const { socket } of strangers) socket.destroy();
  strangers = [];
});
const known = (peers: RawPeer[]): RawPeer[] => {
  strangers.push(...peers);
  return peers;
};

/** Memory of a process in MB. */
const residentMb = (pid: number): number =>
  (Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * 4096) / MB;

async function ask(port: number, payload: Buffer, identity?: string): Promise<unknown> {
  const socket = new Request({ linger: 0, receiveTimeout: 60_000, ...(identity ? { routingId: identity } : {}) });
  socket.connect(`tcp://127.0.0.1:${port}`);
  try {
    await socket.send(payload);
    return unpack((await socket.receive())[0] as Buffer);
  } finally {
    socket.close();
  }
}

describe('over ZeroMQ', () => {
  let fleet: Deployment;
  const serves = async (): Promise<void> => {
    expect(await fleet.json('m1', 'test.ping', '-t', '30')).toEqual({ m1: true });
  };
  /** The most memory that the master took above what it has now, as long as `work` lasts. */
  const growth = async (work: () => Promise<void>): Promise<number> => {
    const { pid } = fleet.master;
    const before = residentMb(pid);
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, residentMb(pid));
    }, 50);
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
    return most - before;
  };

  beforeAll(async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
  });
  afterAll(async () => {
    for (const { socket } of silent) socket.destroy();
    await fleet?.destroy();
  });

  /** Not among the known ones: they stay over several tests, and only the master closes them. */
  let silent: RawPeer[] = [];

  it('twenty incomplete messages of 60 MB cost less than two of them, and are closed', async () => {
    silent = [
      ...(await times(50, () => rawPeer(fleet.ports.requests))),
      ...(await times(50, () => rawPeer(fleet.ports.publish))),
    ];
    const peers = known(await times(20, () => zmtpPeer(fleet.ports.requests, 'DEALER')));
    const part = Buffer.alloc(MB, 7);
    const grown = await growth(async () => {
      for (const { socket } of peers) {
        socket.write(Buffer.concat([frame('', 1), announced(60 * MB)]));
        for (let i = 0; i < 59; i++) socket.write(part);
      }
      await serves();
      await eventually('the first of them to be cut', () => peers.some(({ socket }) => socket.destroyed), {
        timeoutMs: 120_000,
      });
      await serves();
    });
    expect(grown).toBeLessThan(400);
  });

  it('peers that ask for large replies and never read them are no longer read from, then closed', async () => {
    const peers = known(await times(6, () => zmtpPeer(fleet.ports.requests, 'DEALER')));
    const large = request(ping(Buffer.alloc(2 * MB, 120)));
    const grown = await growth(async () => {
      for (const { socket } of peers) {
        socket.pause();
        for (let i = 0; i < 100; i++) socket.write(large);
      }
      await serves();
      await eventually(
        'a line about them in the log',
        () => /does not read what is sent to it/.test(fleet.master.output()),
        {
          timeoutMs: 120_000,
        },
      );
      await serves();
    });
    expect(grown).toBeLessThan(400);
  });

  it('silent connections are closed, on both ports', async () => {
    expect(silent).toHaveLength(100);
    await eventually('all of them to be closed', () => silent.every(({ socket }) => socket.destroyed), {
      timeoutMs: 120_000,
    });
    await serves();
  });

  it('replies reach the sender of the request, even if others connect with the same identity', async () => {
    const identity = 'salt-req/minion/m1/0';
    for (let i = 0; i < 20; i++) {
      const [before, after] = known(await times(2, () => zmtpPeer(fleet.ports.requests, 'DEALER', identity)));
      expect(await ask(fleet.ports.requests, ping(), identity)).toBeDefined();
      for (const peer of [before, after]) {
        expect(peer?.received().length).toBeLessThanOrEqual(handshakeBytes('ROUTER'));
        peer?.socket.destroy();
      }
    }
  });

  it('subscribers that never read delay no other, and presence claims for others have no effect', async () => {
    const stuck = known(await times(10, () => zmtpPeer(fleet.ports.publish, 'SUB')));
    for (const { socket } of stuck) {
      socket.write(Buffer.concat([frame('\x01'), frame('\x01halite1/m1/boot/0000'), frame('\0halite1/m1/boot/0000')]));
      socket.pause();
    }
    const key = readFileSync(fleet.path('cache/master/.root_key'), 'utf8');
    const grown = await growth(async () => {
      for (let i = 0; i < 60; i++) {
        const load = { cmd: 'publish', fun: 'test.arg', arg: ['y'.repeat(250_000)], tgt: 'nobody', tgt_type: 'glob' };
        const more = { ret: '', jid: '', user: 'root', key, kwargs: {} };
        await ask(fleet.ports.requests, pack({ enc: 'clear', load: { ...load, ...more }, version: 3 }));
      }
    });
    expect(grown).toBeLessThan(400);
    for (const { socket } of stuck) socket.destroy();
    await serves();
  });

  it('a result of 40 MB arrives although the master was restarted before it came', async () => {
    const go = fleet.path('go');
    const command = `until [ -e ${go} ]; do sleep 0.2; done; head -c 40000000 /dev/zero | tr '\\0' x`;
    const { stdout, stderr } = await fleet.salt('m1', 'cmd.run', command, 'python_shell=True', '--async');
    const jid = /\b\d{20}\b/.exec(stdout + stderr)?.[0] ?? '';
    await fleet.master.stop();
    await fleet.startMaster();
    writeFileSync(go, '');
    await eventually(
      'the result',
      async () => (await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout.length > 40_000_000,
      { timeoutMs: 120_000 },
    );
  });
});

describe('over TCP', () => {
  let fleet: Deployment;
  beforeAll(async () => {
    fleet = await Deployment.create({ transport: 'tcp' });
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
  });
  afterAll(() => fleet?.destroy());

  it('a connection that did not authenticate as m1 gets no job for m1 alone', async () => {
    const [silent, lying] = known(await times(2, () => rawPeer(fleet.ports.publish)));
    lying?.socket.write(pack({ head: {}, body: { enc: 'clear', load: { id: 'm1', tok: 'x' }, id: 'm1', version: 3 } }));
    for (let i = 0; i < 3; i++) {
      expect(await fleet.json('-L', 'm1', 'test.ping', '-t', '30')).toEqual({ m1: true });
    }
    expect([silent, lying].map((peer) => peer?.received().length)).toEqual([0, 0]);
  });
});
