// An accepted minion with hostile targets, grains and mine data: the master answers it, and serves the others as
// before.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { OldMinion } from '../support/old-minion.ts';

let site: Deployment;
let evil: OldMinion;
const id = `evil-${'ab'.repeat(100)}`;

const nested = (depth: number, inner: Value = 'end'): Value =>
  Array.from({ length: depth }).reduce<Value>((value) => ({ a: value }), inner);
const grains = {
  os: 'Debian',
  a: nested(50),
  text: 'ab'.repeat(4000),
  long: 'a'.repeat(5000),
  list: Array.from({ length: 200 }, () => 'a'.repeat(60)),
};
const askPillar = (given: Value): Promise<void> =>
  evil.send({ cmd: '_pillar', id, grains: given, saltenv: null, pillar_override: {}, ver: '2' });

beforeAll(async () => {
  site = await Deployment.create({
    masterConfig: "minimum_auth_version: 0\nnodegroups: {all: '*'}\npeer: {'.*': ['test.*']}",
  });
  await site.startMaster();
  site.startMinion('m1');
  site.startMinion('m2');
  await site.answering('m1', 'm2');
  evil = await OldMinion.start({ id, generation: 2, version: '3005', requests: site.ports.requests });
  await askPillar(grains);
  await evil.ask({ cmd: '_mine', id, data: { 'x.y': 1 } });
});
afterAll(async () => {
  evil?.stop();
  await site?.destroy();
});

/** Every request of `evil` has a timeout of ten seconds: a blocked master fails these. */
const mineGet = (tgt: Value, kind: Value): Promise<Value> =>
  evil.ask({ cmd: '_mine_get', id, tgt, tgt_type: kind, fun: 'x.y' });
const others = async (): Promise<void> =>
  expect(await site.json('-C', 'G@test:* or m1 or m2', 'test.ping')).toMatchObject({ m1: true, m2: true });

const times = (text: string, count: number): string => text.repeat(count);
const hostile: [string, Value, Value][] = [
  ['a repeat in a repeat on ids', '^(([a-z-])+)+$!', 'pcre'],
  ['a repeat in a repeat', '(.*)*(.*)*(.*)*!', 'pcre'],
  ['a reference', '(.*)*\\1(.*)*\\1!', 'pcre'],
  ['looks in a repeat', '((?=.*).*)*!', 'pcre'],
  ['repeats of repeats', '((((.{9}){9}){9}){9}){9}', 'pcre'],
  ['a repeat in a repeat on own grains', 'long:([^!]+)+!', 'grain_pcre'],
  ['choices that overlap', 'P@list:(a|aa)+!', 'compound'],
  ['references on own grains', 'P@long:(a*)*\\1(a*)*\\2!', 'compound'],
  ['a regular expression of pillar', 'J@long:([^!]+)+!', 'compound'],
  ['a path of 50 parts', `${times('a:', 50)}x`, 'grain'],
  ['a path of 200 parts', `${times('a:', 200)}*`, 'grain'],
  ['a path of 1,000 parts', `${times('a:', 1000)}x`, 'grain'],
  ['a path of 100,000 parts', `${times('a:', 100_000)}x`, 'grain'],
  ['stars in a path', `${times('*:', 100)}x`, 'grain'],
  ['a path in words', `G@${times('a:', 60)}x and I@${times('a:', 60)}x`, 'compound'],
  ['underscores', `${times('_', 16_000)}x:y`, 'grain'],
  ['500 stars', `${times('*a', 500)}*!`, 'glob'],
  ['500 stars on own grains', `text:${times('*a', 500)}*!`, 'grain'],
  ['2,000 stars on own grains', `long:${times('*a', 2000)}!`, 'grain'],
  ['a star before much', `long:*${times('a', 4000)}!`, 'grain'],
  ['a set of 40,000 characters', `[${times('a-', 20_000)}]`, 'glob'],
  ['20,000 open sets', times('[', 20_000), 'glob'],
  ['a set of 15,000 characters', `[${times('b-a', 5000)}]`, 'glob'],
  ['50,000 words', Array.from({ length: 25_000 }, () => 'm1').join(' or '), 'compound'],
  ['a list of 50,000 words', Array.from({ length: 25_000 }, () => ['m1', 'or']).flat(), 'compound'],
  ['19,000 words of grains', Array.from({ length: 9500 }, () => 'not G@os:Debian').join(' or '), 'compound'],
  ['20,000 brackets', `${times('( ', 20_000)}m1${times(' )', 20_000)}`, 'compound'],
  ['20,000 brackets that stay open', times('( ', 20_000), 'compound'],
  ['20,000 times not', `${times('not ', 20_000)}m1`, 'compound'],
  ['200,000 ids', Array.from({ length: 200_000 }, (_, n) => `n${n}`), 'list'],
  ['200,000 ids as text', Array.from({ length: 200_000 }, (_, n) => `n${n}`).join(), 'list'],
  ['nodegroups', `${times('N@all or ', 9000)}N@all`, 'compound'],
  ['an unknown nodegroup', `N@${times('al', 8000)}`, 'compound'],
  ['a number', 7, 'glob'],
  ['a map', {}, 'compound'],
  ['a list of maps', [{}, []], 'compound'],
  ['a kind of Object', 'x', '__proto__'],
  ['a kind that is a map', 'x', {}],
  ['a kind of a megabyte', 'x', times('grain', 200_000)],
];

describe('targets of a minion', () => {
  it.each(hostile)('%s', async (_what, tgt, kind) => {
    expect(['object', 'string']).toContain(typeof (await mineGet(tgt, kind)));
  });

  it('do not affect the master', async () => {
    expect(await mineGet('*', 'glob')).toEqual({ [id]: 1 });
    expect(await mineGet('long:(a+)+$', 'grain_pcre')).toEqual({ [id]: 1 });
    await others();
  });

  it('are bounded in publishes too', async () => {
    for (const [, tgt, tgt_type] of hostile.filter(([, tgt]) => JSON.stringify(tgt).length < 100_000))
      await evil.send({ cmd: 'minion_pub', id, tgt, tgt_type, fun: 'test.ping', arg: [], ret: '' });
    await others();
  });
});

describe('the mine', () => {
  const acl = (allow_tgt: Value, allow_tgt_type: Value): PlainDict => ({
    __data__: 'hidden',
    __saltmine_acl__: true,
    allow_tgt,
    allow_tgt_type,
  });
  const read = async (fun: string): Promise<unknown> => (await site.json('m1', 'mine.get', '*', fun))['m1'];

  it.each<[string, Value, Value]>([
    ['a broken expression', '(', 'pcre'],
    ['a broken compound', 'and or (', 'compound'],
    ['a number', 7, 'glob'],
    ['a map', {}, {}],
    ['a list', [[], {}], 'list'],
    ['an unknown kind', 'm1', 'nosuch'],
    ['a slow expression', '(.*)*\\1(.*)*\\1!', 'pcre'],
    ['a slow path', `${times('*:', 200)}x`, 'grain'],
  ])('hides one value whose allow_tgt is %s, and no other', async (_what, allowed, kind) => {
    await evil.ask({ cmd: '_mine', id, data: { 'test.ping': acl(allowed, kind) } });
    await site.json('m2', 'mine.send', 'test.ping');
    expect(await read('test.ping')).toEqual({ m2: true });
  });

  it('shows a value to those whom a good one names', async () => {
    await evil.ask({ cmd: '_mine', id, data: { shown: acl('E@m[12] and not m2', 'compound') } });
    expect(await read('shown')).toEqual({ [id]: 'hidden' });
    expect((await site.json('m2', 'mine.get', '*', 'shown'))['m2']).toEqual({});
  });

  it('accepts no more than its limits, and keeps the previous data', async () => {
    const put = (data: PlainDict): Promise<Value> => evil.ask({ cmd: '_mine', id, data });
    await put({ kept: 1 });
    expect(await put({ big: times('x', 2_000_000) })).toBe(false);
    // So deep is no request at all.
    expect(await put({ deep: nested(200) })).toBe('bad load');
    expect(await put(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`f${n}`, n])))).toBe(false);
    expect(await put(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`b${n}`, times('x', 900_000)])))).toBe(
      false,
    );
    expect(await read('kept')).toEqual({ [id]: 1 });
    expect(await read('big')).toEqual({});
  });

  it('belongs to the authenticated minion, independent of the load', async () => {
    await site.json('m2', 'mine.send', 'test.ping');
    await evil.send({ cmd: '_mine', id: 'm2', data: { 'test.ping': 'forged' } });
    await evil.send({ cmd: '_mine_delete', id: 'm2', fun: 'test.ping' });
    await evil.send({ cmd: '_mine_flush', id: 'm2' });
    expect(await read('test.ping')).toMatchObject({ m2: true });
    for (const fun of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) expect(await read(fun)).toEqual({});
  });
});

describe('grains of odd shapes', () => {
  const proto = newDict([
    ['__proto__', { os: 'Debian' }],
    ['constructor', { prototype: 1 }],
    ['os', 'Debian'],
  ]);
  it.each<[string, Value]>([
    ['nothing', null],
    ['a number', 7],
    ['a list', [1]],
    ['names of prototypes', proto],
    [
      'keys of every kind',
      new Map<Value, Value>([
        [1, 2],
        [null, 3],
        [[1], 4],
        ['os', 'Debian'],
      ]),
    ],
    ['no numbers', { os: Number.NaN, n: Number.POSITIVE_INFINITY, b: 2n ** 63n }],
    ['50 levels', { os: nested(50) }],
    ['150 levels', { os: nested(150), role: 'odd' }],
    ['200 lists', { os: Array.from({ length: 200 }).reduce<Value>((value) => [value], 1) }],
    ['bytes', { os: Buffer.from([0xff, 0xfe]) }],
    ['addresses that are none', { ipv4: 'x', ipv6: 7, os: ['Debian', ['Debian']] }],
    ['50,000 addresses', { os: 'Debian', ipv4: Array.from({ length: 50_000 }, () => '10.0.0.1') }],
    ['versions that are none', { saltversion: { x: 1 }, haliteversion: [], os: 'Debian' }],
    ['two megabytes', { os: times('x', 2_000_000), role: 'odd' }],
  ])('%s: targets reach the others', async (_what, given) => {
    await askPillar(given);
    const byData = '( G@os:* or P@os:.*e.* or S@127.0.0.1 or J@os:x or not G@nosuch:x )';
    expect(await site.json('-C', `${byData} and L@m1,m2`, 'test.ping', '-t', '30')).toEqual({ m1: true, m2: true });
  });

  it('are used where they are within limits', async () => {
    await askPillar({ os: times('x', 2_000_000), role: 'odd' });
    await eventually('the grains', async () => {
      const { stdout } = await site.run('salt-run', ['cache.grains', id, '--out=json']);
      return stdout.includes('"role": "odd"') && !stdout.includes('"os"');
    });
  });
});
