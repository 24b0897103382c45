// Attacks on a master: unauthenticated peers, and an accepted minion that sends false data. Bounded in count and size.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { Crypticle } from '../../src/base/crypto/index.ts';
import type { SimulatedFleet } from '../bench/simulated-fleet.ts';
import { anyDict, Choices } from '../fuzz/engine/values.ts';

export interface Target {
  readonly ports: { readonly publish: number; readonly requests: number };
  /** Accepted minions; the first of them lies. */
  readonly simulated: SimulatedFleet;
}

const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const clear = (load: Value): Buffer => pack({ enc: 'clear', load, version: 3 });

/** Writes bytes and goes away after a moment, or when the peer has had enough. */
function poke(port: number, bytes: Uint8Array, lingerMs = 100): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (): void => {
      socket.destroy();
      resolve();
    };
    socket.setTimeout(lingerMs, done);
    socket
      .on('error', done)
      .on('close', done)
      .on('data', () => {});
    socket.write(bytes);
  });
}

const both = ({ ports }: Target): number[] => [ports.requests, ports.publish];
/** What comes of it is not looked at: an answer, a refusal, or silence. */
const ask = (target: Target, request: Buffer): Promise<unknown> => target.simulated.ask(request, 500).catch(() => {});
const askAll = async (target: Target, requests: readonly Buffer[]): Promise<void> => {
  for (const request of requests) await ask(target, request);
};

const signIn = (id: string, pub: string): Buffer =>
  clear({
    cmd: '_auth',
    id,
    pub,
    nonce: randomBytes(16).toString('hex'),
    enc_algo: 'OAEP-SHA1',
    sig_algo: 'PKCS1v15-SHA1',
  });

/** A ZeroMQ greeting and a handshake, then a frame that announces much and brings little. */
const greeting = Buffer.concat([
  Buffer.from('ff00000000000000017f0300', 'hex'),
  Buffer.from('NULL'.padEnd(20, '\0')),
  Buffer.alloc(32),
]);
const ready = Buffer.from('0426055245414459', 'hex');
const announced = (bytes: number): Buffer => {
  const head = Buffer.from([0x02, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64BE(BigInt(bytes), 1);
  return Buffer.concat([greeting, ready, head, Buffer.alloc(100_000)]);
};

const bomb = (count: number): Buffer => {
  const head = Buffer.from([0xdd, 0, 0, 0, 0]);
  head.writeUInt32BE(count, 1);
  return Buffer.concat([head, Buffer.alloc(count, 0x80)]);
};

const jid = (): string => `20200101${String(Math.floor(Math.random() * 1e12)).padStart(12, '0')}`;
const lie = (target: Target, load: PlainDict): Promise<unknown> => ask(target, target.simulated.seal(0, load));

const keys = 'cmd|id|jid|fun|arg|tgt|tgt_type|return|events|tag|data|pretag|path|loc|ret|grains|saltenv'.split('|');
const commands =
  '_return|_minion_event|_mine|_mine_get|_pillar|_serve_file|_file_hash|_file_list|_ext_nodes|pub_ret|minion_pub|minion_publish|minion_runner|_syndic_return|nothing'.split(
    '|',
  );

/** In turn, beside the honest work. */
export const attacks: Readonly<Record<string, (target: Target) => Promise<void>>> = {
  'garbage on the ports': async (target) => {
    for (const port of both(target)) await Promise.all(times(5).map(() => poke(port, randomBytes(2_000))));
  },
  'frames announced and not sent': async (target) => {
    for (const port of both(target)) await Promise.all(times(3).map(() => poke(port, announced(60_000_000), 500)));
  },
  'half-open connections': async (target) => {
    for (const port of both(target)) await Promise.all(times(10).map(() => poke(port, greeting.subarray(0, 20), 300)));
  },
  'requests that are no requests': (target) =>
    askAll(target, [
      pack(5),
      pack({ a: 1 }),
      clear([1]),
      randomBytes(300),
      Buffer.alloc(0),
      pack({ enc: 'rot13', load: {} }),
    ]),
  'many items': (target) => askAll(target, [bomb(200_000), clear({ cmd: '_auth', id: 'x', extra: times(50_000) })]),
  'big requests': (target) =>
    askAll(
      target,
      times(3).map(() => pack({ enc: 'aes', load: randomBytes(4_000_000), version: 3, id: 'good1' })),
    ),
  'refused sign-ins': (target) =>
    askAll(
      target,
      times(20).map((at) =>
        signIn(at % 2 === 0 ? 'good1' : `stranger${at % 10}`, `-----BEGIN PUBLIC KEY-----\n${at}\n`),
      ),
    ),
  'ids that are no ids': (target) =>
    askAll(
      target,
      ['../x', 'a\0b', 'x'.repeat(100_000), '', '\u001b[31m', '*'].map((id) => signIn(id, 'none')),
    ),
  'sealed under a foreign key': (target) =>
    askAll(
      target,
      times(10).map(() =>
        pack({
          enc: 'aes',
          load: new Crypticle(Crypticle.generateKeyString()).seal({ cmd: '_return', id: 'good1' }),
          version: 3,
          id: 'good1',
        }),
      ),
    ),
  'a request again and again': async (target) => {
    const request = target.simulated.seal(0, { cmd: '_minion_event', tag: 'soak/replayed', data: {} });
    await askAll(
      target,
      times(20).map(() => request),
    );
  },
  'results of others': async (target) => {
    for (const at of times(10))
      await lie(target, {
        cmd: '_return',
        id: at % 2 === 0 ? 'good1' : 'sim-0000',
        jid: jid(),
        fun: 'test.ping',
        return: 'a lie',
        retcode: 0,
      });
  },
  'events of the master': async (target) => {
    for (const tag of [
      'salt/auth',
      'salt/key',
      'key',
      'salt/job/x/new',
      'salt/minion/good1/start',
      'salt/job/x/ret/good1',
    ])
      await lie(target, {
        cmd: '_minion_event',
        events: times(20).map(() => ({ tag, data: { id: 'good1' } })),
        pretag: 'salt/key',
      });
  },
  'loads of any shape': async (target) => {
    for (const cmd of commands) {
      const load = anyDict(new Choices(randomBytes(200)), keys);
      await lie(target, { ...(load instanceof Map ? {} : load), cmd });
    }
  },
  'large results and events': async (target) => {
    await lie(target, { cmd: '_return', jid: jid(), fun: 'test.ping', return: 'x'.repeat(2_000_000), retcode: 0 });
    await lie(target, { cmd: '_minion_event', tag: 'soak/large', data: { text: 'x'.repeat(1_000_000) } });
  },
};
