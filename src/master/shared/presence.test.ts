// What members know of each other's minions: by news, by lists after gaps, and nothing of members that are gone.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import { readNews, type ToldConnection } from './far-list.ts';
import { SharedPresence } from './presence.ts';
import { Fabric, type FabricMember, loneMember } from './testing.ts';

interface Tested {
  readonly member: FabricMember;
  readonly presence: SharedPresence;
  readonly own: Map<string, ToldConnection>;
  readonly changes: string[];
}
let fabric: Fabric;
const opened: Tested[] = [];

function open(id: string): Tested {
  const member = fabric.join(id);
  const [own, changes]: [Map<string, ToldConnection>, string[]] = [new Map(), []];
  const presence = new SharedPresence({
    cluster: member,
    log: nullLogger(),
    own: () => own.values(),
    changed: (minion, kind, restarted) => changes.push(`${minion} ${kind}${restarted ? ' anew' : ''}`),
  });
  const tested = { member, presence, own, changes };
  opened.push(tested);
  return tested;
}
function connect({ own, presence }: Tested, id: string, boot = `${id}~1~127.0.0.1`): void {
  const connection: ToldConnection = [id, boot, 'zeromq', Date.now()];
  own.set(boot, connection);
  presence.joined(connection);
}
function disconnect({ own, presence }: Tested, id: string, boot = `${id}~1~127.0.0.1`): void {
  own.delete(boot);
  presence.left(id, boot);
}
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'setImmediate', 'Date'] });
  fabric = new Fabric();
});
afterEach(() => {
  for (const { presence } of opened.splice(0)) presence.close();
  vi.useRealTimers();
});

describe('presence', () => {
  it('reaches the others within a second, with joins, leaves and restarts', async () => {
    const [m1, m2] = [open('m1'), open('m2')];
    await pass(1000);
    connect(m1, 'web1');
    expect(m2.presence.connected('web1')).toBe('no');
    await pass(1000);
    expect(m2.presence.connected('web1')).toBe('yes');
    expect(m2.presence.connections('web1')).toMatchObject([{ member: 'm1', boot: 'web1~1~127.0.0.1' }]);
    disconnect(m1, 'web1');
    await pass(1000);
    expect(m2.presence.connected('web1')).toBe('no');
    expect(m2.presence.lostAt('web1')).toBeGreaterThan(0);
    connect(m1, 'web1', 'other~2~127.0.0.1');
    await pass(1000);
    expect(m2.changes).toEqual(['web1 joined', 'web1 left', 'web1 joined anew']);
    expect(m2.presence.ids()).toEqual(new Set(['web1']));
  });

  it('of minions that were there before a member came is in its list', async () => {
    const m1 = open('m1');
    for (let n = 0; n < 12_000; n++) connect(m1, `minion-${n}`);
    const m2 = open('m2');
    expect([m2.presence.connected('minion-1'), m2.presence.unknown()]).toEqual(['unknown', ['m1']]);
    await pass(1000);
    expect([m2.presence.connected('minion-1'), m2.presence.ids().size]).toEqual(['yes', 12_000]);
    expect(m2.presence.connected('nobody')).toBe('no');
  });

  it('is complete again after lost news', async () => {
    const [m1, m2] = [open('m1'), open('m2')];
    connect(m1, 'old');
    await pass(1000);
    fabric.cut.add('m1 m2');
    connect(m1, 'lost');
    disconnect(m1, 'old');
    await pass(1000);
    expect(m2.presence.connected('lost')).toBe('no');
    fabric.cut.clear();
    // The next news shows that some are missing.
    connect(m1, 'third');
    await pass(2000);
    const known = ['old', 'lost', 'third'].map((id) => m2.presence.connected(id));
    expect(known).toEqual(['no', 'yes', 'yes']);
    expect(m2.changes).toEqual(
      ['old joined', 'lost joined', 'third joined', 'old left'].sort(
        (a, b) => m2.changes.indexOf(a) - m2.changes.indexOf(b),
      ),
    );
  });

  it('is unknown for the minions of a member that is gone, until they had time to move', async () => {
    const [m1, m2, m3] = [open('m1'), open('m2'), open('m3')];
    for (const id of ['moves', 'stays', 'both']) connect(m1, id);
    connect(m3, 'both');
    await pass(1000);
    m1.presence.close();
    fabric.leave('m1');
    expect(['moves', 'both'].map((id) => m2.presence.connected(id))).toEqual(['unknown', 'yes']);
    connect(m3, 'moves');
    await pass(1000);
    expect(['moves', 'stays', 'both'].map((id) => m2.presence.connected(id))).toEqual(['yes', 'unknown', 'yes']);
    await pass(21_000);
    expect(['moves', 'stays', 'both'].map((id) => m2.presence.connected(id))).toEqual(['yes', 'no', 'yes']);
    expect(m2.presence.lostAt('stays')).toBeGreaterThan(0);
  });

  it('of a member that restarted is that of its new process', async () => {
    const [m1, m2] = [open('m1'), open('m2')];
    connect(m1, 'before');
    await pass(1000);
    m1.presence.close();
    fabric.leave('m1');
    const again = open('m1');
    connect(again, 'after');
    await pass(21_000);
    expect(['before', 'after'].map((id) => m2.presence.connected(id))).toEqual(['no', 'yes']);
  });

  it('is not certain while cut off', async () => {
    const [m1, m2] = [open('m1'), open('m2')];
    connect(m1, 'web1');
    await pass(1000);
    m2.member.change({ kind: 'state', state: { kind: 'cut-off', since: 0, why: 'test' } });
    expect(['web1', 'nobody'].map((id) => m2.presence.connected(id))).toEqual(['unknown', 'unknown']);
  });

  it('names the members that heard from a minion within a minute, told once in ten seconds', async () => {
    const [m1, m2] = [open('m1'), open('m2')];
    await pass(1000);
    let told = 0;
    m2.member.signals.on('presence', () => told++);
    for (let n = 0; n < 50; n++) {
      m1.presence.heard('real');
      await pass(100);
    }
    expect([told, m2.presence.holders('real')]).toEqual([1, ['m1']]);
    await pass(61_000);
    expect(m2.presence.holders('real')).toEqual([]);
  });
});

describe('a master without others', () => {
  it('tells nothing and asks nobody', () => {
    const presence = new SharedPresence({
      ...{ cluster: loneMember(), log: nullLogger(), own: () => [] },
      changed: () => expect.fail('nobody else has minions'),
    });
    presence.joined(['web1', 'b', 'zeromq', 1]);
    presence.heard('web1');
    expect([presence.connected('web1'), presence.holders('web1')]).toEqual(['no', []]);
  });
});

describe('a member that lies', () => {
  it('cannot fill the memory of the others, whether it tells or is asked', async () => {
    const [m2, liar] = [open('m2'), fabric.join('liar')];
    let parts = 0;
    liar.signals.answer('presence', async function* () {
      for (;;) {
        parts++;
        yield { joined: Array.from({ length: 5000 }, (_, n): Value => [`x-${parts}-${n}`, 'b~1~', '', 0]) };
      }
    });
    m2.member.change({ kind: 'joined', member: liar.self });
    await pass(2000);
    expect(parts).toBeLessThan(25);
    expect(m2.presence.ids().size).toBe(100_000);
    for (let n = 0; n < 200; n++) liar.signals.send('presence', { joined: [['x-1-1', `boot-${n}~1~`, '', 0]] });
    await pass(1000);
    expect(m2.presence.connections('x-1-1')).toHaveLength(64);
  });

  it('is read by type', () => {
    const none = { joined: [], left: [], heard: [] };
    for (const body of [
      null,
      7,
      'x',
      [],
      { joined: 7, left: 'x', heard: {} },
      { joined: [null, 7, [], ['../x', 'b', '', 1]] },
    ])
      expect(readNews(body as Value)).toEqual(none);
    const now = Date.now();
    const news = readNews(
      {
        joined: [
          ['a', 'b~1~', 'zeromq', now + 9e9],
          ['a', 'b'.repeat(500), '', 1],
          ['a', 7, '', 1],
        ],
        heard: [['a', -5]],
      },
      now,
    );
    expect(news).toEqual({ joined: [['a', 'b~1~', 'zeromq', now]], left: [], heard: [['a', 0]] });
  });
});
