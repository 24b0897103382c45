// What every engine of a cluster promises: one master alone, and NATS in the oldest and the newest version that is used.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../src/base/codec/value.ts';
import type { Entry, Removed } from '../../src/engine/cluster/api.ts';
import type { LedgerItem, Position, Publication } from '../../src/engine/cluster/messages.ts';
import { openMember, publication, removeMember, result, type TestMember } from '../support/cluster-member.ts';
import { eventually } from '../support/eventually.ts';
import { type NatsCluster, natsPrograms, startNats } from '../support/servers/nats.ts';

const engines: { name: string; program?: string }[] = [{ name: 'alone' }, ...natsPrograms()];
const conflict = expect.objectContaining({ code: 'cluster.conflict' });
const jidOf = (message: Publication): string => (message.kind === 'job' ? message.job.jid : message.kind);
const jid = '20261118120000000000';

describe.each(engines)('a cluster: $name', ({ program }) => {
  let nats: NatsCluster | undefined;
  let members: TestMember[] = [];
  const many = program !== undefined;
  /** What only several members can show. */
  const onNats = (name: string, test: () => Promise<void>): void => {
    if (many) it(name, test);
  };
  const first = (): TestMember => members[0]!;
  const all = <T>(use: (member: TestMember, at: number) => T): T[] => members.map(use);
  const stops: AbortController[] = [];
  const signal = (): AbortSignal => {
    const stop = new AbortController();
    stops.push(stop);
    return stop.signal;
  };

  beforeAll(async () => {
    if (program !== undefined) nats = await startNats(program, 3);
    const ids = many ? ['m1', 'm2', 'm3'] : ['m1'];
    members = await Promise.all(ids.map((id) => openMember({ id, ...(nats ? { servers: nats.servers } : {}) })));
    const seeAll = (): boolean => members.every(({ cluster }) => cluster.members().length === members.length);
    await eventually('everybody to see everybody', seeAll);
  });
  afterAll(async () => {
    for (const stop of stops) stop.abort();
    for (const member of members) await member.close();
    for (const member of members) removeMember(member);
    await nats?.stop();
  });

  it('gives every member a slot and a boot of its own, and one leader', async () => {
    expect(new Set(all(({ cluster }) => cluster.self.slot)).size).toBe(members.length);
    expect(new Set(all(({ cluster }) => cluster.self.boot)).size).toBe(members.length);
    expect(new Set(all(({ cluster }) => cluster.state.kind))).toEqual(new Set([many ? 'joined' : 'alone']));
    const leaders = (): (string | undefined)[] => all(({ cluster }) => cluster.leader()?.member.id);
    await eventually('one leader', () => leaders()[0] !== undefined && new Set(leaders()).size === 1);
    expect(members.filter(({ cluster }) => cluster.leads()).map(({ id }) => id)).toEqual([leaders()[0]]);
  });

  onNats('knows how far each clock is from that of the engine, soon after it jumped', async () => {
    const right = Date.now;
    try {
      for (const shift of [-600_000, 0]) {
        Date.now = () => right() + shift;
        const near = ({ skewMs }: { skewMs: number }): boolean => Math.abs(skewMs - shift) < 5_000;
        // Each as it sees itself, and as the others see it.
        const known = (): boolean => members.every(({ cluster }) => cluster.members().every(near));
        const describe = (): string => members.map(({ cluster }) => cluster.self.skewMs).join(', ');
        await eventually('all to know it', known, { timeoutMs: 120_000, describe });
      }
    } finally {
      Date.now = right;
    }
  });

  it('relays publications of all members in one order to all of them, and each key once', async () => {
    const seen = all(() => new Map<string, number>());
    const orders: string[][] = all(() => []);
    for (const [at, { cluster }] of members.entries()) {
      cluster.relay.onPublication(async (message, place, late) => {
        expect(late).toBe(false);
        orders[at]?.push(jidOf(message));
        seen[at]?.set(jidOf(message), place);
      });
    }
    const names = Array.from({ length: 60 }, (_, n) => `j${n}`);
    const places = await Promise.all(
      names.map((name, n) => members[n % members.length]!.cluster.relay.publish(name, publication(name), 20_000)),
    );
    const again = await members.at(-1)!.cluster.relay.publish('j5', publication('j5'), 20_000);
    expect(again).toBe(places[5]);
    await eventually('all to be everywhere', () => orders.every((order) => order.length >= names.length));
    for (const order of orders) expect(order).toEqual(orders[0]);
    expect([...orders[0]!].sort()).toEqual([...names].sort());
    for (const [n, name] of names.entries())
      expect(seen.map((map) => map.get(name))).toEqual(members.map(() => places[n]));
  });

  it('keeps what it was told in a bucket, and refuses what was decided otherwise', async () => {
    const buckets = all(({ cluster }) => cluster.registry.bucket('keys'));
    const value = newDict([
      ['state', 'accepted'],
      ['more', [1, 'ü', null]],
    ]);
    const tries = await Promise.allSettled(buckets.map((bucket) => bucket.create('web1', value)));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const entry = (await buckets[0]!.get('web1'))!;
    expect(entry.value).toEqual(value);
    await expect(buckets.at(-1)!.create('web1', 1)).rejects.toEqual(conflict);
    const next = await buckets.at(-1)!.update('web1', 'new', entry.revision);
    expect(next).toBeGreaterThan(entry.revision);
    await expect(buckets[0]!.update('web1', 'old', entry.revision)).rejects.toEqual(conflict);
    await expect(buckets[0]!.remove('web1', entry.revision)).rejects.toEqual(conflict);
    expect((await buckets[0]!.get('web1'))?.value).toBe('new');
    await buckets[0]!.remove('web1', next);
    expect(await buckets.at(-1)!.get('web1')).toBeUndefined();
    await buckets[0]!.remove('web1');
    expect(await buckets[0]!.create('web1', null)).toBeGreaterThan(next);
    expect(await buckets[0]!.get('web1')).toMatchObject({ key: 'web1', value: null });
    expect(await buckets[0]!.get('unknown')).toBeUndefined();
  });

  it('tells watchers all there is, then that this was all, then changes, and later only changes', async () => {
    const bucket = first().cluster.registry.bucket('data');
    for (let n = 0; n < 20; n++) await bucket.create(`k${n}`, n);
    const told: (Entry<Value> | Removed)[][] = all(() => []);
    const synced: number[] = all(() => 0);
    for (const [at, { cluster }] of members.entries()) {
      cluster.registry.bucket('data').watch({
        on: (change) => told[at]?.push(change),
        synced: () => {
          synced[at] = told[at]!.length;
        },
        signal: signal(),
      });
    }
    await eventually('all to be told', () => synced.every((count) => count > 0));
    expect(synced).toEqual(members.map(() => 20));
    const revision = Math.max(...told[0]!.map((change) => change.revision));
    const entry = (await bucket.get('k3'))!;
    await bucket.update('k3', 'changed', entry.revision);
    await bucket.remove('k4');
    await eventually('changes', () => told.every((list) => list.length === 22));
    const later: (Entry<Value> | Removed)[] = [];
    members
      .at(-1)!
      .cluster.registry.bucket('data')
      .watch({ from: revision, on: (change) => later.push(change), signal: signal() });
    await eventually('the changes since', () => later.length === (many ? 2 : 1));
    expect(later[0]).toMatchObject({ key: 'k3', value: 'changed' });
    if (many) expect(later[1]).toMatchObject({ key: 'k4', removed: true });
    for (const list of told) expect(list.slice(20)).toEqual(told[0]!.slice(20));
  });

  it('gives a claim to one of all callers', async () => {
    const names = Array.from({ length: 100 }, (_, n) => `s.claim.${n}`);
    const won = await Promise.all(
      all(({ cluster }) => Promise.all(names.map((name) => cluster.registry.claim(name, 60_000)))),
    );
    for (const [n] of names.entries()) expect(won.filter((list) => list[n])).toHaveLength(1);
    expect(await first().cluster.registry.claim('s.claim.0', 60_000)).toBe(false);
  });

  onNats('gives a lease to one member after the other, with growing terms', async () => {
    const held: { id: string; term: number }[] = [];
    let now = 0;
    const take = async ({ id, cluster }: TestMember): Promise<void> => {
      const stop = new AbortController();
      const lease = await cluster.registry.lease('test', {
        ttlMs: 20_000,
        lost: () => held.push({ id: 'lost', term: -1 }),
        signal: stop.signal,
      });
      held.push({ id, term: lease.term });
      now += 1;
      expect({ now, held, isHeld: lease.isHeld() }).toEqual({ now: 1, held, isHeld: true });
      await new Promise((resolve) => setTimeout(resolve, 100));
      now -= 1;
      stop.abort();
    };
    await Promise.all([...all(take), take(first())]);
    expect(held.map(({ term }) => term)).toEqual([1, 2, 3, 4]);
    expect(new Set(held.map(({ id }) => id))).toEqual(new Set(['m1', 'm2', 'm3']));
  });

  onNats('has every item of the ledger on every member, in the order of its sender', async () => {
    const got: { from: number; id: string; place: number }[][] = all(() => []);
    const positions: Position[] = [];
    for (const [at, { cluster }] of members.entries()) {
      void cluster.ledger.follow(
        undefined,
        async ({ from, items, place, position }) => {
          for (const item of items) got[at]?.push({ from, id: (item as LedgerItem & { id: string }).id, place });
          if (at === 0) positions.push(position);
        },
        signal(),
      );
    }
    const count = 3000;
    await Promise.all(
      Array.from({ length: count }, (_, n) => members[n % 3]!.cluster.ledger.append(result(jid, `id${n}`))),
    );
    await eventually('all items', () => got.every((list) => list.length >= count));
    for (const list of got) {
      expect(list).toEqual(got[0]);
      for (const slot of [0, 1, 2]) {
        const numbers = list.filter(({ from }) => from === slot).map(({ id }) => Number(id.slice(2)));
        expect(numbers).toHaveLength(count / 3);
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      }
    }
    expect(first().cluster.ledger.held()).toMatchObject({ items: 0, bytes: 0 });
    // From any stored position on, exactly what follows comes.
    const half = Math.floor(positions.length / 2);
    const rest: string[] = [];
    void first().cluster.ledger.follow(
      positions[half],
      async ({ items }) => {
        for (const item of items) rest.push((item as LedgerItem & { id: string }).id);
      },
      signal(),
    );
    const before = new Set(got[0]!.map(({ place }) => place).sort((a, b) => a - b));
    const last = [...before][half]!;
    const expected = got[0]!.filter(({ place }) => place > last).map(({ id }) => id);
    await eventually('the rest', () => rest.length >= expected.length);
    expect(rest).toEqual(expected);
  });

  onNats('carries an item of 20 MB between small ones', async () => {
    const sizes: number[] = [];
    void members[1]!.cluster.ledger.follow(
      undefined,
      async ({ items }) => {
        for (const item of items)
          if (item.kind === 'ret' && item.jid === 'large') sizes.push(JSON.stringify(item.load).length);
      },
      signal(),
    );
    const large = 'abcdefghij'.repeat(2 * 1024 * 1024);
    const { ledger } = first().cluster;
    await Promise.all([
      ledger.append(result('large', 'a')),
      ledger.append(result('large', 'b', large)),
      ledger.append(result('large', 'c')),
    ]);
    await eventually('three items', () => sizes.length >= 3);
    const small = JSON.stringify(newDict([['return', 'x']])).length;
    expect(sizes).toEqual([small, small - 1 + large.length, small]);
  });

  onNats('carries signals to one and to all, never back, and names gaps', async () => {
    const heard: string[] = [];
    for (const { id, cluster } of members) {
      cluster.signals.on('event', (body, from) => heard.push(`${from.id} to ${id}: ${String(body)}`));
    }
    first().cluster.signals.send('event', 'hello');
    first().cluster.signals.send('event', 'you', 'm2');
    await eventually('signals', () => heard.length >= 3);
    expect([...heard].sort()).toEqual(['m1 to m2: hello', 'm1 to m2: you', 'm1 to m3: hello']);
  });

  onNats('streams answers, stops for an asker that leaves, and ends after the time limit', async () => {
    let given = 0;
    let stopped = false;
    members[1]!.cluster.signals.answer('digest', async function* (body, from, asker) {
      asker.addEventListener('abort', () => {
        stopped = true;
      });
      for (let n = 0; n < Number(body); n++) {
        given += 1;
        yield `${from.id} ${n}`;
      }
    });
    members[1]!.cluster.signals.answer('items', async function* () {
      yield 'one';
      await new Promise(() => undefined);
    });
    members[1]!.cluster.signals.answer('result', async function* () {
      if (stopped) throw new Error('it is not here');
      yield null;
    });
    const ask = first().cluster.signals;
    const answers: Value[] = [];
    for await (const answer of ask.ask('m2', 'digest', 200, { timeoutMs: 120_000 })) answers.push(answer);
    expect(answers).toEqual(Array.from({ length: 200 }, (_, n) => `m1 ${n}`));
    [given, stopped] = [0, false];
    for await (const answer of ask.ask('m2', 'digest', 1_000_000, { timeoutMs: 120_000 }))
      if (answer === 'm1 40') break;
    await eventually('the answer to stop', () => stopped);
    expect(given).toBeLessThan(200);
    const waits = async (what: 'items' | 'result' | 'join', to = 'm2', timeoutMs = 20_000): Promise<void> => {
      for await (const _ of ask.ask(to, what, null, { timeoutMs })) expect(_).toBe('one');
    };
    await expect(waits('items', 'm2', 300)).rejects.toThrow(
      /m2 did not answer the question items: nothing came within 300 ms/,
    );
    await expect(waits('result')).rejects.toThrow(/m2 cannot answer: it is not here/);
    await expect(waits('join')).rejects.toThrow(/does not know the question join/);
    await expect(waits('join', 'm9')).rejects.toThrow(/no live member m9/);
  });

  onNats('tells at once that a member left, and keeps its slot for it', async () => {
    const more = await openMember({ id: 'm4', servers: nats!.servers });
    const { slot, boot } = more.cluster.self;
    const told = (kind: 'joined' | 'left', of: string): boolean =>
      first().changes.some((change) => change.kind === kind && change.member.boot === of);
    await eventually('it to join', () => told('joined', boot));
    await more.close();
    await eventually('it to leave', () => told('left', boot));
    const again = await openMember({ id: 'm4', servers: nats!.servers, folder: more.folder });
    expect(again.cluster.self.slot).toBe(slot);
    expect(again.cluster.self.boot).not.toBe(boot);
    await eventually('it to come back', () => told('joined', again.cluster.self.boot));
    await expect(openMember({ id: 'm4', servers: nats!.servers })).rejects.toThrow(
      /master with the id m4 is already in the cluster/,
    );
    await again.close();
    removeMember(again);
  });
});
