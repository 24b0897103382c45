// The sockets for programs with Salt's Python library, at the level of bytes: framings, limits, permissions.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { jidDir } from '../../src/base/util/jid.ts';
import {
  type EventFraming,
  EventReader,
  encodeEvent,
  type SocketEvent,
} from '../../src/protocol/wire/event-socket/frames.ts';
import { getTransport } from '../../src/protocol/wire/transports.ts';
import { Deployment, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { userKey } from '../support/local-caller.ts';

let fleet: Deployment;
const configure = (framing: EventFraming, more = ''): void =>
  writeFileSync(fleet.path('etc/master.d/sockets.conf'), `event_socket_framing: ${framing}\n${more}\n`);
beforeAll(async () => {
  fleet = await Deployment.create();
  configure('stream');
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(async () => {
  await fleet?.destroy();
});

const socket = (name: string): string => fleet.path('run/master', name);

class Reader {
  readonly events: SocketEvent[] = [];
  first: number | undefined;
  closed = false;
  readonly socket: Socket;

  constructor(options: { reads?: boolean } = {}) {
    const reader = new EventReader(64 * 1024 * 1024);
    this.socket = connect(socket('master_event_pub.ipc'));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.closed = true;
    });
    if (options.reads === false) this.socket.pause();
    else
      this.socket.on('data', (chunk: Buffer) => {
        this.first ??= chunk[0];
        reader.feed(chunk, (event) => this.events.push(event));
      });
  }

  tags(): string[] {
    return this.events.map(({ tag }) => tag);
  }

  /** Nothing says that the master has noticed a reader: events are sent until one arrives. */
  async ready(): Promise<this> {
    await eventually('events to arrive', async () => {
      await fire([encodeEvent('test/ready', {}, 'stream')]);
      return this.events.length > 0;
    });
    return this;
  }
}

/** Sends bytes to the pull socket; resolves to whether the master closed the connection. */
function fire(parts: readonly Uint8Array[], stay = false): Promise<boolean> {
  return new Promise((resolve) => {
    const out = connect(socket('master_event_pull.ipc'));
    out.on('error', () => undefined);
    out.on('close', () => resolve(true));
    for (const part of parts) out.write(part);
    if (!stay) out.end();
  });
}

async function publish(fields: PlainDict): Promise<PlainDict> {
  const client = (await getTransport('zeromq')).dial({ host: '127.0.0.1', port: fleet.ports.requests });
  try {
    const load = { cmd: 'publish', tgt: '*', tgt_type: 'glob', fun: 'test.ping', arg: [], ret: '', jid: '', ...fields };
    return unpack(
      await client.request(pack({ enc: 'clear', load, version: 3 } as Value), { timeoutMs: 120_000 }),
    ) as PlainDict;
  } finally {
    client.close();
  }
}
const root = (): PlainDict => ({ user: 'root', key: userKey(fleet, 'root') });
const folderOf = (jid: string): string => jidDir(jid, fleet.path('cache/master/jobs'));

describe('the event socket', () => {
  it('is for the master’s user alone, and so are the others', () => {
    for (const name of ['publish_pull.ipc', 'master_event_pub.ipc', 'master_event_pull.ipc'])
      expect(statSync(socket(name)).mode & 0o777, name).toBe(0o600);
  });

  it('carries every event, and takes both framings on the way in', async () => {
    const reader = await new Reader().ready();
    expect(reader.first).toBe(0x82);
    await fire([encodeEvent('test/maps', { n: 1, text: 'ü' }, 'stream'), encodeEvent('test/maps2', {}, 'stream')]);
    await fire([encodeEvent('test/length', { n: 2 }, 'length'), encodeEvent('test/length2', {}, 'length')]);
    await fleet.salt('m1', 'test.ping');
    await eventually('all events', () => {
      const tags = reader.tags();
      return (
        ['test/maps', 'test/maps2', 'test/length', 'test/length2'].every((tag) => tags.includes(tag)) &&
        tags.some((tag) => /^salt\/job\/\d{20}\/ret\/m1$/.test(tag))
      );
    });
    expect(reader.events.find(({ tag }) => tag === 'test/maps')?.data).toMatchObject({ n: 1, text: 'ü' });
    reader.socket.destroy();
  });

  it('cuts off a program that does not read, and nobody else', async () => {
    const reader = await new Reader().ready();
    const lazy = new Reader({ reads: false });
    const large = { text: 'x'.repeat(900_000) };
    await eventually('the lazy reader to be cut off', async () => {
      await fire(Array.from({ length: 8 }, (_, n) => encodeEvent(`test/flood/${n}`, large, 'stream')));
      return fleet.master.output().includes('a program that does not read its events is cut off');
    });
    expect(lazy.socket.destroyed && !lazy.closed).toBe(false);
    await fire([encodeEvent('test/after', {}, 'stream')]);
    await eventually('the other reader to go on', () => reader.tags().includes('test/after'));
    for (const each of [reader, lazy]) each.socket.destroy();
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
  });

  it('closes connections that send garbage, frames without end, and ones that are too large', async () => {
    const length = (bytes: number): Buffer => {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(bytes);
      return head;
    };
    const bad = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(10)),
      length(1 << 30),
      Buffer.concat([length(3), Buffer.from([1, 2, 3])]),
      Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff]),
      Buffer.concat([
        Buffer.from([0x82, 0xa4]),
        Buffer.from('head'),
        Buffer.from([0x80, 0xa4]),
        Buffer.from('body'),
        Buffer.from([0xc6, 0xff, 0xff, 0xff, 0xff]),
      ]),
      encodeEvent('', { n: 1 }, 'stream'),
      encodeEvent('tag\nwith line', { n: 1 }, 'length'),
    ];
    for (const bytes of bad) expect(await fire([bytes], true), bytes.subarray(0, 20).toString('hex')).toBe(true);
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
  });

  it('a key event of a program has the effects of salt-key', async () => {
    const reader = await new Reader().ready();
    await fire([encodeEvent('salt/key', { act: 'reject', id: 'gone', result: true }, 'stream')]);
    await eventually('the event', () => reader.tags().includes('salt/key'));
    await eventually(
      'the new key',
      () => fleet.master.output().includes('AES key rotated') || reader.tags().length > 1,
    );
    reader.socket.destroy();
  });
});

describe('jobs of programs', () => {
  it('are there as files before the answer, with their results; those of our commands are not', async () => {
    const answer = (await publish(root()))['load'] as PlainDict;
    const jid = String(answer['jid']);
    expect(answer['minions']).toEqual(['m1']);
    const load = unpack(readFileSync(`${folderOf(jid)}/.load.p`)) as PlainDict;
    expect(load).toMatchObject({ jid, fun: 'test.ping', tgt: '*', tgt_type: 'glob', user: 'root' });
    expect(JSON.stringify(load)).not.toContain(userKey(fleet, 'root'));
    expect(statSync(folderOf(jid)).mode & 0o777).toBe(0o700);
    await eventually('the result', () => existsSync(`${folderOf(jid)}/m1/return.p`));
    expect(unpack(readFileSync(`${folderOf(jid)}/m1/return.p`))).toEqual({ return: true, retcode: 0, success: true });
    const own = /ID: (\d{20})/.exec((await fleet.salt('--async', 'm1', 'test.ping')).stdout)?.[1] ?? '';
    expect(own).not.toBe('');
    expect(existsSync(folderOf(own))).toBe(false);
  });

  it('of others are refused: no key, a wrong key, the key of another user, in the name of a syndic', async () => {
    const named = (answer: PlainDict): unknown => (answer['error'] as PlainDict)['name'];
    expect(named(await publish({}))).toBe('AuthenticationError');
    expect(named(await publish({ user: 'root', key: 'x' }))).toBe('AuthenticationError');
    expect(named(await publish({ user: 'nobody', key: 'x', kwargs: { auth_list: [] } }))).toBe('AuthenticationError');
  });

  it('in the name of a user of a higher master have the rights of that user', async () => {
    const as = (auth_list: Value): Promise<PlainDict> =>
      publish({ ...root(), kwargs: { auth_list, master_id: 'top' } });
    expect((await as([]))['load']).toMatchObject({ minions: ['m1'] });
    expect((await as(['test.*']))['load']).toMatchObject({ minions: ['m1'] });
    expect((await as(['cmd.*']))['error']).toMatchObject({ name: 'AuthorizationError' });
    expect((await as([{ 'other*': ['test.ping'] }]))['error']).toMatchObject({ name: 'AuthorizationError' });
    expect((await as([5, null]))['error']).toMatchObject({ name: 'AuthorizationError' });
  });
});

describe('other configurations', () => {
  it('length framing, a group with rights, and none of it', async () => {
    await fleet.master.stop();
    configure('length', 'publisher_acl: {nobody: [test.ping]}');
    await fleet.startMaster();
    const reader = await new Reader().ready();
    expect(reader.first).toBe(0);
    reader.socket.destroy();
    expect(statSync(socket('master_event_pub.ipc')).mode & 0o777).toBe(0o660);
    expect(statSync(socket('master_event_pull.ipc')).mode & 0o777).toBe(0o600);
    // A user with rights of its own finds its job, and nobody else does.
    const answer = (await publish({ user: 'nobody', key: userKey(fleet, 'nobody') }))['load'] as PlainDict;
    const folder = folderOf(String(answer['jid']));
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (which) => Number((await runProgram('id', [which, 'nobody'])).stdout)),
    );
    expect(statSync(`${folder}/.load.p`)).toMatchObject({ uid, gid });
    expect(statSync(`${folder}/.load.p`).mode & 0o777).toBe(0o600);
    // The user may look into the folder, and puts nothing there that root would follow.
    expect(statSync(folder)).toMatchObject({ uid: 0, gid });
    expect(statSync(folder).mode & 0o777).toBe(0o750);
    await fleet.master.stop();
    configure('stream', 'salt_library_sockets: False');
    await fleet.startMaster();
    expect(existsSync(socket('master_event_pub.ipc'))).toBe(false);
    expect(existsSync(socket('publish_pull.ipc'))).toBe(false);
    await fleet.answering('m1');
  });
});
