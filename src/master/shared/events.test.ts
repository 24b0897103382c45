// Events of three members: handled once, by the home, whatever is lost; shown once by every member.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Dict, fieldOf, type Value } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import { type BusEvent, EventBus } from '../../protocol/event/bus.ts';
import { readTold, SharedEvents } from './events.ts';
import { rendezvous } from './rendezvous.ts';
import { Fabric, loneMember } from './testing.ts';

const ids = ['m1', 'm2', 'm3'];
let fabric: Fabric;
let events: Map<string, SharedEvents>;
let seen: Map<string, BusEvent[]>;
/** Where the minions are connected. */
let holders: string[];

function open(id: string): void {
  const cluster = fabric.join(id);
  const bus = new EventBus();
  const list: BusEvent[] = [];
  bus.subscribe('', (event) => list.push(event));
  seen.set(id, list);
  const others = (): string[] => holders.filter((other) => other !== id && fabric.get(other) !== undefined);
  events.set(id, new SharedEvents({ cluster, bus, log: nullLogger(), holders: others }));
  buses.set(id, bus);
}
const buses = new Map<string, EventBus>();
const handled = (tag: string): string[] =>
  [...seen].flatMap(([id, list]) => list.filter((e) => e.tag === tag && e.origin !== 'foreign').map(() => id));
const shown = (tag: string): number[] => ids.map((id) => (seen.get(id) ?? []).filter((e) => e.tag === tag).length);
const send = (member: string, tag: string, data: Dict, minion = 'web1'): void =>
  events.get(member)?.fromMinion(minion, tag, data);
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'setImmediate', 'Date'] });
  fabric = new Fabric();
  [events, seen, holders] = [new Map(), new Map(), ids];
  for (const id of ids) open(id);
});
afterEach(() => {
  for (const each of events.values()) each.stop();
  vi.useRealTimers();
});

describe('an event of a minion', () => {
  const [home = '', second = '', third = ''] = rendezvous('web1', ids);

  it('that reaches all members is handled by its home and shown once by each', async () => {
    for (const order of [
      [home, second, third],
      [third, second, home],
      [second, home, third],
    ]) {
      const tag = `order/${order.join('/')}`;
      for (const id of order) {
        send(id, tag, { n: 1 });
        await pass(20);
      }
      await pass(5000);
      expect([handled(tag), shown(tag)]).toEqual([[home], [1, 1, 1]]);
    }
  });

  it('is as many events as the minion sent, also when they are equal', async () => {
    for (let n = 0; n < 3; n++) for (const id of [third, home, second]) send(id, 'equal', { n: 1 });
    await pass(5000);
    expect([handled('equal'), shown('equal')]).toEqual([
      [home, home, home],
      [3, 3, 3],
    ]);
  });

  it('is handled by another member when it does not reach its home', async () => {
    send(third, 'lost', { n: 1 });
    send(second, 'lost', { n: 1 });
    await pass(1900);
    expect(handled('lost')).toEqual([]);
    await pass(3000);
    expect([handled('lost'), shown('lost')]).toEqual([[second], [1, 1, 1]]);
  });

  it('is handled by the next member when the home ends before it told', async () => {
    fabric.cut.add(`${home} ${second}`).add(`${home} ${third}`);
    for (const id of [home, second, third]) send(id, 'killed', { n: 1 });
    events.get(home)?.stop();
    fabric.leave(home);
    await pass(5000);
    expect(handled('killed').filter((id) => id !== home)).toEqual([second]);
  });

  it('is handled at once by a member that is cut off, and by the only member that knows the minion', async () => {
    const member = fabric.get(third);
    send(third, 'waits', { n: 1 });
    member?.change({ kind: 'state', state: { kind: 'cut-off', since: 0, why: 'test' } });
    expect(handled('waits')).toEqual([third]);
    send(third, 'at once', { n: 1 });
    expect(handled('at once')).toEqual([third]);
    holders = [second];
    send(second, 'alone', { n: 1 });
    expect(handled('alone')).toEqual([second]);
    // Told by nobody, and told to others when they can be heard: nothing is left that would be handled later.
    await pass(5000);
    expect(handled('waits').length + handled('at once').length).toBe(2);
  });

  it('of a start is one, although its text has another second at each master', async () => {
    for (const [n, id] of [third, home, second].entries())
      send(id, 'salt/minion/web1/start', { data: `Minion web1 started at 12:00:0${n}` });
    await pass(5000);
    expect(handled('salt/minion/web1/start')).toEqual([home]);
  });
});

describe('salt-call', () => {
  const call = (pid: number): Dict => ({
    id: 'web1',
    data: { x: 1, __pub_jid: '20261118120000000001', __pub_pid: pid },
  });

  it('sends one copy for each master to one of them: one event', async () => {
    const bus = new EventBus();
    const fired: string[] = [];
    bus.subscribe('', ({ tag, origin }) => fired.push(`${tag} ${origin}`));
    const alone = new SharedEvents({ cluster: loneMember(), bus, log: nullLogger(), holders: () => [] });
    for (let copy = 0; copy < 3; copy++) alone.fromMinion('web1', 'deploy', call(7));
    expect(fired).toEqual(['deploy home']);
    alone.fromMinion('web1', 'deploy', call(8));
    alone.fromMinion('web2', 'deploy', call(7));
    alone.fromMinion('web1', 'other', call(7));
    alone.fromMinion('web1', 'deploy', { ...call(7), data: { x: 2, __pub_jid: '20261118120000000001', __pub_pid: 7 } });
    expect(fired).toHaveLength(5);
    await pass(61_000);
    alone.fromMinion('web1', 'deploy', call(7));
    expect(fired).toHaveLength(6);
    // Others have no such fields: nothing of them is taken for a copy.
    alone.fromMinion('web1', 'plain', { data: { x: 1 } });
    alone.fromMinion('web1', 'plain', { data: { x: 1 } });
    expect(fired).toHaveLength(8);
  });
});

describe('an event of a member', () => {
  it('is shown by all with its time, and never told on', async () => {
    buses.get('m1')?.fire('salt/run/1/new', { fun: 'x' });
    await pass(50);
    expect(shown('salt/run/1/new')).toEqual([1, 1, 1]);
    const stamps = ids.map((id) => String(fieldOf(seen.get(id)?.[0]?.data, '_stamp')));
    expect(new Set(stamps).size).toBe(1);
  });

  it('that each member makes itself is not told', async () => {
    for (const tag of [
      '20261118120000000001',
      'salt/job/20261118120000000001/new',
      'salt/job/20261118120000000001/ret/a',
      'salt/key',
    ])
      buses.get('m1')?.fire(tag, {});
    buses.get('m1')?.fire('salt/job/20261118120000000001/prog/a/1', {});
    await pass(50);
    expect(seen.get('m2')?.map(({ tag }) => tag)).toEqual(['salt/job/20261118120000000001/prog/a/1']);
  });

  it('is cut to what one message carries', async () => {
    buses.get('m1')?.fire('large', { small: 1, text: 'x'.repeat(900_000) });
    await pass(50);
    expect(seen.get('m2')?.[0]?.data).toMatchObject({ small: 1, text: 'VALUE_TRIMMED' });
  });
});

describe('a storm', () => {
  it('of a minion is bounded, and every event that is handled is handled once', async () => {
    const of = (rank: number): string =>
      Array.from({ length: 50 }, (_, n) => `s${n}`).find((id) => rendezvous(id, ids).indexOf('m3') === rank) ?? '';
    for (let n = 0; n < 25_000; n++) {
      send('m3', 'held', { n }, of(1));
      send('m3', 'at home', { n }, of(0));
    }
    await pass(2500);
    const numbers = (member: string, tag: string): Set<Value> => {
      const events = (seen.get(member) ?? []).filter((event) => event.tag === tag);
      const found = new Set(events.map(({ data }) => (data as { n: number }).n));
      expect(found.size).toBe(events.length);
      return found;
    };
    expect(numbers('m3', 'at home').size).toBe(25_000);
    // What the others are told in one second is bounded, and so is what waits for its home.
    expect(numbers('m1', 'at home').size).toBe(20_000);
    expect(numbers('m3', 'held').size).toBe(20_000);
  });
});

describe('what another member tells', () => {
  it('is read by type, and what is wrong is left out', () => {
    const wrong: Value[] = [
      null,
      'text',
      7,
      [],
      {},
      { events: 7 },
      { events: [null, 7, [], ['tag'], ['', {}], [1, {}]] },
    ];
    for (const body of wrong) expect(readTold(body)).toEqual([]);
    const key = 'k'.repeat(22);
    const read = readTold({
      events: [
        ['a', {}, 'web1', key],
        ['b', {}, '../x', key],
        ['c', {}, 'web1', 'short'],
        ['salt/job/20261118120000000001/ret/a', {}, 'web1', key],
        ['x'.repeat(5000), {}, 'web1', key],
      ],
    });
    expect(read.map(({ tag, key: known }) => [tag, known !== undefined])).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ]);
    expect(readTold({ events: Array.from({ length: 5000 }, () => ['a', {}, null, null]) })).toHaveLength(1000);
  });
});
