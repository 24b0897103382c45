// Malformed and hostile messages on every port: each is answered or dropped, logged once, and valid requests continue
// to work.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Request } from 'zeromq';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import type { Value } from '../../src/base/codec/value.ts';
import { Crypticle } from '../../src/base/crypto/index.ts';
import { Deployment } from '../support/deployment.ts';
import { OldMinion } from '../support/old-minion.ts';

const clear = (load: Value, version: Value = 3): Buffer => pack({ enc: 'clear', load, version });
const sealed = (id: Value, load: Value, extra: Record<string, Value> = {}): Buffer =>
  pack({ enc: 'aes', load: new Crypticle(Crypticle.generateKeyString()).seal(load), version: 3, id, ...extra });
const nested = (depth: number): Buffer => Buffer.concat([Buffer.alloc(depth, 0x91), Buffer.from([0xc0])]);
const auth = (id: Value, extra: Record<string, Value> = {}): Buffer =>
  clear({
    cmd: '_auth',
    id,
    pub: 'none',
    nonce: 'a'.repeat(32),
    enc_algo: 'OAEP-SHA1',
    sig_algo: 'PKCS1v15-SHA1',
    ...extra,
  });

/** Requests that a hostile or broken peer might send. */
const payloads: Record<string, Buffer> = {
  'random bytes': randomBytes(512),
  'nothing at all': Buffer.alloc(0),
  'a lone integer': pack(5),
  'text instead of a map': pack('hello'),
  'a map without an envelope': pack({ a: 1 }),
  'deep arrays': nested(100_000),
  'deep maps': Buffer.concat([Buffer.from(Array(50_000).fill([0x81, 0xa1, 0x61]).flat()), Buffer.from([0xc0])]),
  'an array announcing four billion items': Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]),
  'text announcing four gigabytes': Buffer.from([0xdb, 0xff, 0xff, 0xff, 0xff, 0x61]),
  'a truncated frame': auth('good').subarray(0, 40),
  'trailing bytes': Buffer.concat([auth('good'), randomBytes(9)]),
  'an unknown enc': pack({ enc: 'rot13', load: {}, version: 3 }),
  'a load that is not a map': clear([1, 2, 3]),
  'an id with slashes': auth('../../../etc/passwd'),
  'an id with a null byte': auth('a\0b'),
  'an id that is a number': auth(7),
  'an id of a megabyte': auth('x'.repeat(1_000_000)),
  'an unknown algorithm': auth('m9', { enc_algo: 'ROT13', sig_algo: 'NONE' }),
  'an old protocol': clear({ cmd: '_auth', id: 'm9', pub: 'none' }, 0),
  'a version that is text': clear({ cmd: '_auth', id: 'm9', pub: 'none' }, 'three'),
  'an unknown clear command': clear({ cmd: '__class__' }),
  'a publish without a key': clear({ cmd: 'publish', tgt: '*', fun: 'cmd.run', arg: ['id'], user: 'root', kwargs: {} }),
  'a wheel call with a wrong key': clear({ cmd: 'wheel', fun: 'key.list_all', user: 'root', key: 'x'.repeat(76) }),
  'a prototype in the envelope': clear({ cmd: 'ping', __proto__x: 1, constructor: { prototype: {} } }),
  'a sealed load for an unknown id': sealed('ghost', { cmd: '_return', id: 'ghost' }),
  'a sealed load under a foreign key': sealed('m1', { cmd: '_return', id: 'm1' }),
  'a sealed load with a path as id': sealed('../m1', { cmd: '_return', id: '../m1' }),
  'a sealed load that is too short': pack({ enc: 'aes', load: Buffer.alloc(7), version: 3, id: 'm1' }),
};

async function ask(port: number, payload: Buffer): Promise<Value> {
  const socket = new Request({ linger: 0, receiveTimeout: 5000 });
  socket.connect(`tcp://127.0.0.1:${port}`);
  try {
    await socket.send(payload);
    const [reply] = await socket.receive();
    return unpack(reply!);
  } finally {
    socket.close();
  }
}

/** Writes raw bytes to a port and waits until the peer closes or a moment of silence has passed. */
function poke(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (): void => {
      socket.destroy();
      resolve();
    };
    socket.setTimeout(300, done);
    socket
      .on('error', done)
      .on('close', done)
      .on('data', () => {});
    socket.write(bytes);
  });
}

describe.each(['zeromq', 'tcp'] as const)('hostile requests over %s', (transport) => {
  let fleet: Deployment;

  beforeAll(async () => {
    fleet = await Deployment.create({ transport });
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
  });
  afterAll(async () => {
    await fleet?.destroy();
  });

  it('keeps serving through all of them', async () => {
    for (const payload of Object.values(payloads)) {
      await poke(fleet.ports.requests, payload);
      await poke(fleet.ports.publish, payload);
    }
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
    expect(fleet.master.running).toBe(true);
  });

  it('is not affected by a frame that announces 100 MB', async () => {
    const greeting = Buffer.from('ff00000000000000017f', 'hex');
    const huge = Buffer.concat([Buffer.from([0xdb, 0x06, 0x40, 0x00, 0x00]), Buffer.alloc(1_000_000, 0x61)]);
    for (const port of [fleet.ports.requests, fleet.ports.publish]) {
      await poke(port, Buffer.concat([greeting, randomBytes(64)]));
      await poke(port, huge);
    }
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
  });
});

describe('hostile requests, one by one, over zeromq', () => {
  let fleet: Deployment;

  beforeAll(async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
  });
  afterAll(async () => {
    await fleet?.destroy();
  });

  it.each(Object.entries(payloads))('answers %s', async (_name, payload) => {
    const reply = await ask(fleet.ports.requests, payload);
    expect(reply).toBeDefined();
    expect(JSON.stringify(reply)).not.toMatch(/at .*\.(js|ts):\d+/);
  });

  it('writes nothing outside its folders and accepts no key', async () => {
    const { stdout } = await fleet.run('salt-key', ['-L', '--out=json']);
    const keys = JSON.parse(stdout) as Record<string, string[]>;
    expect(keys['minions']).toEqual(['m1']);
    expect(keys['minions_pre']).toEqual([]);
  });

  it('refuses a replay of a sealed request with a changed id', async () => {
    const stolen = sealed('m1', { cmd: '_return', id: 'm2', jid: '20200101000000000000', return: true });
    expect(await ask(fleet.ports.requests, stolen)).toBe('bad load');
  });

  it('logs each kind of refusal once, not per request', async () => {
    const marker = createHash('sha1').update(randomBytes(8)).digest('hex').slice(0, 12);
    const before = readFileSync(fleet.master.log, 'utf8').length;
    for (let round = 0; round < 20; round++)
      await ask(fleet.ports.requests, sealed(`ghost-${marker}`, { cmd: 'x', id: 'y' }));
    const added = readFileSync(fleet.master.log, 'utf8').slice(before);
    expect(added.split('\n').filter((line) => line.includes(marker)).length).toBeLessThanOrEqual(2);
  });

  it('still answers honest requests', async () => {
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
  });
});

describe('a minion that acts as a syndic', () => {
  const jid = '20260101000000000000';
  const forge = async (masterConfig: string, announced = true): Promise<string> => {
    const fleet = await Deployment.create({
      masterConfig: `minimum_auth_version: 0\n${masterConfig}`,
    });
    const minions: OldMinion[] = [];
    try {
      await fleet.startMaster();
      for (const id of ['m1', 'm9'])
        minions.push(await OldMinion.start({ id, generation: 2, version: '3005', requests: fleet.ports.requests }));
      if (announced)
        await minions[1]?.send({
          cmd: '_minion_event',
          id: 'm9',
          tag: 'salt/syndic/m9/start',
          data: 'Syndic m9 started',
        });
      const parts = { m1: { return: 'forged', retcode: 0 }, below: { return: 'brought', retcode: 0 } };
      const load = { jid, fun: 'test.echo', arg: [], tgt: '*', tgt_type: 'glob', user: 'root' };
      await minions[1]?.send({
        cmd: '_syndic_return',
        id: 'm9',
        load: [{ id: 'm9', jid, fun: 'test.echo', load, return: parts }],
      });
      return (await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout;
    } finally {
      for (const minion of minions) minion.stop();
      await fleet.destroy();
    }
  };

  it('cannot send results of others to a master without order_masters', async () => {
    expect(JSON.parse(await forge(''))).toEqual({});
  });

  it('cannot send them before it says that it is a syndic', async () => {
    expect(JSON.parse(await forge('order_masters: True', false))).toEqual({});
  });

  it('may send results of minions below it, never of one that has a key here', async () => {
    expect(JSON.parse(await forge('order_masters: True'))).toEqual({ below: 'brought' });
  });
});

// `daemon` is an account of every Linux system.
describe('a system user whom publisher_acl names', () => {
  const rules =
    "publisher_acl: {daemon: ['test.*', {'web*': [cmd.run]}]}\npublisher_acl_blacklist: {modules: [cmd.script]}";
  let fleet: Deployment;
  let minion: OldMinion;

  beforeAll(async () => {
    fleet = await Deployment.create({ masterConfig: `minimum_auth_version: 0\n${rules}` });
    await fleet.startMaster();
    minion = await OldMinion.start({ id: 'web1', generation: 2, version: '3005', requests: fleet.ports.requests });
  });
  afterAll(async () => {
    minion?.stop();
    await fleet?.destroy();
  });

  const keyOf = (user: string): string => readFileSync(fleet.path('cache/master', `.${user}_key`), 'utf8');
  const asked = async (user: string, key: string, fun: string): Promise<Value> => {
    const load = { cmd: 'publish', tgt: '*', tgt_type: 'glob', fun, arg: [], ret: '', user, key, kwargs: {} };
    return await ask(fleet.ports.requests, clear(load));
  };

  it('may do what the rules allow', async () => {
    for (const fun of ['test.ping', 'cmd.run'])
      expect(await asked('daemon', keyOf('daemon'), fun)).toMatchObject({ load: { minions: ['web1'] } });
  });

  it.each([
    ['another function', 'daemon', 'daemon', 'pkg.install', 'AuthorizationError'],
    ['what is forbidden to everybody', userInfo().username, userInfo().username, 'cmd.script', 'AuthorizationError'],
    ['to be root', 'root', 'daemon', 'test.ping', 'AuthenticationError'],
    ['to be root by sudo', 'sudo_daemon', 'daemon', 'test.ping', 'AuthenticationError'],
    ['to be somebody else', 'bin', 'daemon', 'test.ping', 'AuthenticationError'],
  ])('may not: %s', async (_what, user, owner, fun, error) => {
    expect(await asked(user, keyOf(owner), fun)).toMatchObject({ error: { name: error } });
  });
});
