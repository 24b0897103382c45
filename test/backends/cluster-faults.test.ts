// What a cluster on NATS survives: members and servers killed and frozen, data lost or put back, strangers on the servers.
import { rmSync } from 'node:fs';
import { connect, headers } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerItem } from '../../src/engine/cluster/messages.ts';
import { openMember, publication, removeMember, result, type TestMember } from '../support/cluster-member.ts';
import { buildMember, MemberProcess } from '../support/cluster-processes.ts';
import { eventually } from '../support/eventually.ts';
import { type NatsCluster, natsPrograms, startNats } from '../support/servers/nats.ts';

const jid = '20261118120000000000';
/** By default a question to the nats-server is given up after a second. */
const slowAnswer = { timeout: 20_000 };
/** Longer runs by HALITE_CLUSTER_ITEMS. */
const manyItems = Number(process.env['HALITE_CLUSTER_ITEMS'] ?? 20_000);

let program = '';
beforeAll(async () => {
  program = await buildMember();
});
afterAll(() => rmSync(program, { force: true }));

/** Ids of results that a member reads, in order. */
function read(member: TestMember, wanted = jid): string[] {
  const ids: string[] = [];
  const { signal } = new AbortController();
  void member.cluster.ledger.follow(
    undefined,
    async ({ items }) => {
      for (const item of items as (LedgerItem & { jid: string; id: string })[])
        if (item.jid === wanted) ids.push(item.id);
    },
    signal,
  );
  return ids;
}

const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => `id${from + n}`);
const firstOfEach = (ids: readonly string[]): string[] => [...new Set(ids)];

/** What takes long runs with one of the servers only, or with all of them by HALITE_CLUSTER_LONG. */
const programs = natsPrograms();
const isLong = process.env['HALITE_CLUSTER_LONG'] !== undefined;

describe.each(programs)('a cluster on nats-server $name', ({ program: server }) => {
  let nats: NatsCluster;
  const members: TestMember[] = [];
  const processes: MemberProcess[] = [];
  const open = async (id: string, more: Partial<Parameters<typeof openMember>[0]> = {}): Promise<TestMember> => {
    const member = await openMember({ id, servers: nats.servers, ...more });
    members.push(member);
    return member;
  };
  const spawnMember = (id: string, more: Partial<Parameters<typeof openMember>[0]> = {}): MemberProcess => {
    const member = new MemberProcess(program, { id, servers: nats.servers, ...more });
    processes.push(member);
    return member;
  };
  afterEach(async () => {
    for (const member of processes) member.kill('SIGKILL');
    for (const member of processes.splice(0)) {
      await member.ended();
      member.remove();
    }
    for (const member of members) await member.close();
    for (const member of members.splice(0)) removeMember(member);
    await nats.stop();
  });

  it('holds on disk what cannot be sent, over a kill, and sends it before newer items', async () => {
    nats = await startNats(server);
    const reader = await open('m1');
    const ids = read(reader);
    const first = spawnMember('m2');
    await first.event('open');
    first.order({ do: 'append', key: jid, from: 0, count: 100 });
    await eventually('the first items', () => ids.length === 100);
    process.kill(nats.nodes[0]!.pid, 'SIGSTOP');
    first.order({ do: 'append', key: jid, from: 100, count: 1000 });
    let held: { items: number } = { items: 0 };
    await eventually('all to be held', async () => {
      held = (await first.tell())['held'] as { items: number };
      return held.items >= 1000;
    });
    first.kill('SIGKILL');
    await first.ended();
    process.kill(nats.nodes[0]!.pid, 'SIGCONT');
    const again = spawnMember('m2', { folder: first.folder });
    await again.event('open');
    again.order({ do: 'append', key: jid, from: 1100, count: 100 });
    await eventually('everything', () => new Set(ids).size === 1200, { describe: () => String(ids.length) });
    expect(firstOfEach(ids)).toEqual(numbered(1200));
    await eventually('nothing to be held', async () => ((await again.tell())['held'] as { items: number }).items === 0);
  });

  const newestOnly = (name: string, test: () => Promise<void>): void => {
    if (isLong || server === programs.at(-1)?.program) it(name, test);
  };
  const oldestOnly = (name: string, test: () => Promise<void>): void => {
    if (isLong || server === programs[0]?.program) it(name, test);
  };

  newestOnly('has everything everywhere after members and servers were killed one after the other', async () => {
    nats = await startNats(server, 3);
    const reader = await open('m1');
    const ids = read(reader);
    const writer = spawnMember('m2');
    await writer.event('open');
    const third = manyItems / 4;
    writer.order({ do: 'append', key: jid, from: 0, count: third });
    for (const [at, node] of nats.nodes.entries()) {
      process.kill(node.pid, 'SIGKILL');
      writer.order({ do: 'append', key: jid, from: third * (at + 1), count: third });
      await node.pause();
      await node.start();
      await eventually(
        'both to be joined',
        async () => (await writer.tell())['state'] === 'joined' && reader.cluster.state.kind === 'joined',
      );
    }
    await eventually('everything', () => new Set(ids).size >= third * 4, {
      timeoutMs: 120_000,
      describe: () => String(new Set(ids).size),
    });
    expect(firstOfEach(ids)).toEqual(numbered(third * 4));
    const told = await writer.tell();
    expect(told['acknowledged']).toBe(third * 4);
    expect(Number(told['rss'])).toBeLessThan(600e6);
  });

  oldestOnly(
    'says that it is cut off while the majority is gone, sends publications when it is back, each once',
    async () => {
      nats = await startNats(server, 3);
      const [a, b] = [await open('m1'), await open('m2')];
      const seen: string[][] = [[], []];
      for (const [at, { cluster }] of [a, b].entries()) {
        cluster.relay.onPublication(async (message, place, late) => {
          if (message.kind === 'job') seen[at]?.push(`${message.job.jid} ${late}`);
          expect(place).toBeGreaterThan(0);
        });
      }
      await a.cluster.relay.publish('first', publication('first'), 20_000);
      for (const node of nats.nodes.slice(0, 2)) process.kill(node.pid, 'SIGSTOP');
      await eventually('both to be cut off', () => [a, b].every(({ cluster }) => cluster.state.kind === 'cut-off'));
      await expect(a.cluster.relay.publish('second', publication('second', 60_000), 300)).rejects.toMatchObject({
        code: 'cluster.cut-off',
      });
      await expect(a.cluster.registry.claim('x', 1000)).rejects.toMatchObject({ code: 'cluster.cut-off' });
      expect(a.cluster.leads()).toBe(false);
      for (const node of nats.nodes.slice(0, 2)) process.kill(node.pid, 'SIGCONT');
      await eventually('both to be back', () => [a, b].every(({ cluster }) => cluster.state.kind === 'joined'), {
        timeoutMs: 120_000,
      });
      await a.cluster.relay.publish('third', publication('third'), 20_000);
      await eventually('all publications', () => seen.every((list) => list.length === 3));
      // Each is tried again on its own: their order is that of the nats-servers, and the same for everybody.
      expect([...seen[0]!].sort()).toEqual(['first false', 'second false', 'third false']);
      expect(seen[0]![0]).toBe('first false');
      expect(seen[1]).toEqual(seen[0]);
    },
  );

  it('lets one act at a time although the holder of the lease is frozen', async () => {
    nats = await startNats(server);
    const pair = [spawnMember('m1'), spawnMember('m2')];
    for (const member of pair) await member.event('open');
    pair[0]!.order({ do: 'lease', key: 'test', ttlMs: 5000 });
    await pair[0]!.event('act');
    pair[1]!.order({ do: 'lease', key: 'test', ttlMs: 5000 });
    pair[0]!.kill('SIGSTOP');
    await pair[1]!.event('act');
    pair[0]!.kill('SIGCONT');
    await pair[0]!.event('lost');
    const acts = pair.map((member) => member.events.filter((event) => event.say === 'act'));
    const [last, next] = [
      Math.max(...acts[0]!.map((act) => Number(act['at']))),
      Math.min(...acts[1]!.map((act) => Number(act['at']))),
    ];
    expect(last).toBeLessThan(next);
    expect(acts.map((list) => list[0]?.['term'])).toEqual([1, 2]);
  });

  it('notices that streams were removed or put back, tells so, and works on', async () => {
    nats = await startNats(server);
    const [a, b] = [await open('m1', { replicas: 1 }), await open('m2', { replicas: 1 })];
    const bucket = a.cluster.registry.bucket('keys');
    await bucket.create('web1', 'rejected');
    const ids = read(b);
    await a.cluster.ledger.append(result(jid, 'id0'));
    await eventually('the item', () => ids.length === 1);
    const lost = (member: TestMember): number =>
      member.changes.filter(({ kind }) => kind === 'engine-lost-data').length;
    const nc = await connect({ servers: [...nats.servers] });
    const js = (what: string, body = ''): Promise<unknown> =>
      nc.request(`$JS.API.${what}`, body, slowAnswer).then((answer) => answer.json());
    const [node] = nats.nodes;
    /** 2.9 ends when a message of a stream is asked for while the stream is removed; a service manager starts it again. */
    const keptRunning = async (): Promise<void> => {
      if (!node!.runs) await node!.start();
    };
    const remove = (stream: string): Promise<unknown> => js(`STREAM.DELETE.${stream}`).catch(keptRunning);
    const before = a.cluster.report()!.epoch;
    await remove('HALITE_test_LOG');
    const told = async (): Promise<boolean> => {
      await keptRunning();
      return lost(a) > 0 && lost(b) > 0;
    };
    await eventually('both to tell it', told, { describe: () => [...a.log, ...b.log].slice(-20).join('\n') });
    expect(a.cluster.report()!.epoch).toBeGreaterThan(before);
    void a.cluster.ledger.append(result(jid, 'id1'));
    await eventually('new items', () => ids.includes('id1'));
    // An older value of a key, exactly as it was stored, put back by whoever operates the server.
    const stream = 'KV_halite_test_keys';
    const old = (await js(`STREAM.MSG.GET.${stream}`, JSON.stringify({ seq: 1 }))) as {
      message: { subject: string; data: string };
    };
    const entry = (await bucket.get('web1'))!;
    await bucket.update('web1', 'gone', entry.revision);
    const [tellA, tellB] = [lost(a), lost(b)];
    await nc.request(old.message.subject, Buffer.from(old.message.data, 'base64'), slowAnswer);
    const heard: unknown[] = [];
    b.cluster.registry
      .bucket('keys')
      .watch({ on: (change) => heard.push(change), signal: new AbortController().signal });
    expect(await bucket.get('web1')).toBeUndefined();
    await eventually('it to be told', () => lost(a) > tellA);
    expect(tellB).toBeGreaterThan(0);
    expect(a.cluster.report()!.refused['went-back']).toBeGreaterThan(0);
    await remove(stream);
    await nc.close();
    // One that was stored although its answer was lost conflicts with itself.
    let why: unknown;
    const created = async (): Promise<boolean> => {
      await keptRunning();
      return bucket.create('web2', 1).then(
        () => true,
        (error: { code?: string }) => {
          why = error;
          return error.code === 'cluster.conflict';
        },
      );
    };
    await eventually('the bucket to work again', created, {
      timeoutMs: 120_000,
      describe: () => `${String(why)}\n${node!.output()}`,
    });
    expect((await b.cluster.registry.bucket('keys').get('web2'))?.value).toBe(1);
  });

  it('takes nothing that was forged, changed, replayed or moved, and goes on', async () => {
    nats = await startNats(server);
    const [a, b] = [await open('m1', { replicas: 1 }), await open('m2', { replicas: 1 })];
    const stranger = await open('x1', { replicas: 1, name: 'other', key: Buffer.alloc(32, 9) });
    const ids = read(b);
    const places: string[] = [];
    b.cluster.relay.onPublication(
      async (message) => void places.push(message.kind === 'job' ? message.job.jid : message.kind),
    );
    const signals: unknown[] = [];
    b.cluster.signals.on('event', (body) => signals.push(body));
    const nc = await connect({ servers: [...nats.servers] });
    const captured = new Map<string, Uint8Array>();
    nc.subscribe('halite.test.>', { callback: (_error, message) => void captured.set(message.subject, message.data) });
    await nc.flush();
    await a.cluster.ledger.append(result(jid, 'id0'));
    await a.cluster.relay.publish('p0', publication('p0'), 20_000);
    a.cluster.signals.send('event', 'one');
    const [log, pub, sig] = [`halite.test.log.${a.cluster.self.slot}`, 'halite.test.pub', 'halite.test.sig.event'];
    await eventually(
      'messages',
      () => [log, pub, sig].every((subject) => captured.has(subject)) && ids.length === 1 && signals.length === 1,
    );
    const genuine = new Map(captured);
    const bad = [Buffer.alloc(0), Buffer.from('hello'), Buffer.alloc(100, 1), Buffer.alloc(900_000, 0)];
    for (const [subject, bytes] of genuine) {
      const changed = Buffer.from(bytes);
      changed[changed.length - 1]! ^= 1;
      const flags = Buffer.from(bytes);
      flags[3]! ^= 1;
      // Replayed, moved to another subject, cut short, and with a bit changed at the end or in the clear part.
      bad.push(changed, flags, Buffer.from(bytes.subarray(0, -1)));
      for (const target of [
        log,
        pub,
        sig,
        `halite.test.to.${b.cluster.self.slot}.event`,
        `halite.test.ask.${b.cluster.self.slot}`,
      ]) {
        const extra = headers();
        nc.publish(target, bytes, { headers: extra });
        for (const some of bad) nc.publish(target, some);
      }
      nc.publish(`$KV.halite_test_members.m.${a.cluster.self.slot}`, genuine.get(subject)!);
    }
    stranger.cluster.signals.send('event', 'stranger');
    await nc.flush();
    await a.cluster.ledger.append(result(jid, 'id1'));
    await a.cluster.relay.publish('p1', publication('p1'), 20_000);
    a.cluster.signals.send('event', 'two');
    await eventually('what follows', () => ids.includes('id1') && places.includes('p1') && signals.includes('two'));
    expect([ids, places, signals]).toEqual([
      ['id0', 'id1'],
      ['p0', 'p1'],
      ['one', 'two'],
    ]);
    const refused = b.cluster.report()!.refused;
    expect(refused['foreign']).toBeGreaterThan(10);
    expect(refused['replayed']).toBeGreaterThan(1);
    expect(
      b.cluster
        .members()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['m1', 'm2']);
    await nc.close();
  });

  it('names a stream that is configured otherwise, and refuses one that is not its own', async () => {
    nats = await startNats(server);
    const nc = await connect({ servers: [...nats.servers] });
    const create = (name: string, subject: string): Promise<unknown> =>
      nc.request(
        `$JS.API.STREAM.CREATE.${name}`,
        JSON.stringify({ name, subjects: [subject], storage: 'memory', num_replicas: 1 }),
        slowAnswer,
      );
    await create('HALITE_test_PUB', 'halite.test.pub');
    const member = await open('m1', { replicas: 1 });
    expect(member.cluster.report()!.problems.join('\n')).toMatch(/HALITE_test_PUB: storage is memory, not file/);
    expect(member.log.join('\n')).toMatch(/a stream on the nats-servers is configured otherwise/);
    await create('HALITE_mine_PUB', 'somebody.else');
    await nc.close();
    const refused = openMember({ id: 'm1', servers: nats.servers, name: 'mine', replicas: 1 });
    await expect(refused).rejects.toThrow(/HALITE_mine_PUB on the nats-servers is not one of Halite/);
    const wrongKey = openMember({ id: 'm9', servers: nats.servers, key: Buffer.alloc(32, 9), replicas: 1 });
    await expect(wrongKey).rejects.toThrow(/keys of this master do not open/);
  });
});
