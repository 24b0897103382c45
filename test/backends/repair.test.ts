// Members that compare their histories: whatever one lacks it gets from the others, each row once, also when it was killed
// in the middle, and nothing that is malformed or of somebody else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packValue } from '../../src/base/codec/msgpack/index.ts';
import { type Dict, dictGet, newDict, type Value } from '../../src/base/codec/value.ts';
import { memoryLogger } from '../../src/base/log/testing.ts';
import { jidOf } from '../../src/base/util/jid.ts';
import { itemValue } from '../../src/engine/cluster/codec.ts';
import type { LedgerItem } from '../../src/engine/cluster/messages.ts';
import { Repair, type RepairParts } from '../../src/master/shared/repair.ts';
import { Fabric, type FabricMember } from '../../src/master/shared/testing.ts';
import { tallyKinds } from '../../src/store/jobs.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { eventually } from '../support/eventually.ts';

const now = Date.now();
/** A jid of so many minutes ago. */
const jidAt = (minutes: number, n = 0): string => jidOf((now - minutes * 60_000) * 1000 + n);
const dict = (fields: Record<string, Value>): Dict => newDict(Object.entries(fields));
const load = (jid: string, id: string, value: Value): Dict =>
  dict({ cmd: '_return', id, jid, fun: 'test.echo', fun_args: [], return: value, retcode: 0, success: true });

const result = (jid: string, id: string, value: Value = 'x', more: object = {}) => ({
  ...{ jid, id, fun: 'test.echo', retcode: 0, success: true, received: now, load: load(jid, id, value) },
  ...more,
});
const job = (jid: string, expected: readonly string[]) => ({
  ...{ jid, fun: 'test.echo', tgt: '*', tgt_type: 'glob', user: 'root', expected, started: now, internal: false },
  ...{ owner: 0, load: dict({ jid, fun: 'test.echo', arg: [], tgt: '*', tgt_type: 'glob', user: 'root' }) },
});

interface Node {
  readonly member: FabricMember;
  readonly file: string;
  store: SqliteJobStore;
  repair: Repair;
  readonly heard: string[];
  readonly log: readonly string[];
}

let folder = '';
let fabric: Fabric;
const nodes: Node[] = [];

function repairOf(member: FabricMember, store: SqliteJobStore, heard: string[], log: RepairParts['log']): Repair {
  const listener: RepairParts['listener'] = {
    heard: (item) => heard.push(item.kind === 'ret' ? item.id : item.kind),
    stored: () => undefined,
    conflict: ({ id }) => heard.push(`conflict ${id}`),
  };
  return new Repair({ cluster: member, store, log, keepSeconds: 86_400, listener, soonMs: 3_600_000 });
}

async function start(id: string): Promise<Node> {
  const file = join(folder, `${id}.db`);
  const store = await SqliteJobStore.open(file, { shared: true });
  const member = fabric.join(id);
  const [{ log, lines }, heard] = [memoryLogger(), []];
  const node = { member, file, store, heard, log: lines, repair: repairOf(member, store, heard, log) };
  nodes.push(node);
  return node;
}

const rowsOf = async ({ store }: Node): Promise<unknown> => [
  await store.query('SELECT jid, id, attempt, full_ret FROM ret ORDER BY jid, id'),
  await store.query('SELECT jid, expected FROM job ORDER BY jid'),
  await store.query('SELECT jid, id, verdict FROM verdict ORDER BY jid, id'),
];
const countOf = async ({ store }: Node): Promise<number> => {
  const [row] = await store.query('SELECT count(*) AS n FROM ret');
  return Number(row && dictGet(row, 'n'));
};
/** What the triggers counted is what a new count finds. */
async function countedRight(node: Node): Promise<void> {
  const counted = await node.store.query('SELECT * FROM tally ORDER BY kind, span');
  await node.repair.stop();
  await node.store.close();
  // Opened without a cluster, the counts are thrown away; with one again, everything is counted anew.
  await (await SqliteJobStore.open(node.file)).close();
  node.store = await SqliteJobStore.open(node.file, { shared: true });
  await eventually('the count', async () => (await node.store.tallies('', '', false)) !== undefined);
  expect(await node.store.query('SELECT * FROM tally ORDER BY kind, span')).toEqual(counted);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-repair-'));
  fabric = new Fabric();
});
afterEach(async () => {
  for (const { repair, store } of nodes.splice(0)) {
    await repair.stop();
    await store.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

describe('a member that lacks history', () => {
  it('gets jobs, results and verdicts of others, once; what both have stays as it is', async () => {
    const [a, b] = [await start('m1'), await start('m2')];
    for (let n = 0; n < 40; n++) {
      const jid = jidAt(5 + n * 20, n);
      await a.store.saveJob(job(jid, ['web1', 'web2', 'web3']));
      await a.store.saveReturn(result(jid, 'web1', { n, text: 'ä €', list: [1.5, null, -3] }, { via: 0 }));
      await a.store.saveReturn(result(jid, 'web2', 'x'.repeat(3000)));
      await a.store.saveVerdicts([
        { jid, id: 'web3', verdict: 'down', reason: 'r', text: 't', evidence: newDict(), at: now },
      ]);
      if (n % 4 === 0)
        await b.store.saveReturn(result(jid, 'web1', { n, text: 'ä €', list: [1.5, null, -3] }, { via: 0 }));
    }
    // Longer than a message.
    const long = jidAt(3);
    await a.store.saveReturn(result(long, 'long', 'y'.repeat(3_000_000), { via: 0 }));
    const compared = await b.repair.now();
    expect(compared).toMatchObject({ differed: 151, fetched: 151, refused: 0, compared: ['m1'] });
    expect(await rowsOf(b)).toEqual(await rowsOf(a));
    expect(b.heard.filter((id) => id === 'web2')).toHaveLength(40);
    expect(await b.repair.now()).toMatchObject({ differed: 0, fetched: 0 });
    expect(await a.repair.now()).toMatchObject({ differed: 0, fetched: 0 });
    await countedRight(b);
    await countedRight(a);
  });

  it('takes a later run, and of two results of one run the first one in the ledger', async () => {
    const [a, b] = [await start('m1'), await start('m2')];
    const [one, two, three] = [jidAt(10), jidAt(20), jidAt(30)];
    await a.store.saveReturn(result(one, 'web1', 'second run', { via: 0, attempt: 2 }));
    await b.store.saveReturn(result(one, 'web1', 'first run', { via: 1 }));
    const frame = (jid: string, place: number, value: Value) => ({
      ...{ position: `p${place}`, place, from: 2, own: false },
      items: [{ kind: 'ret' as const, attempt: 1, ...result(jid, 'web1', value) }],
    });
    await a.store.applyFrame(frame(two, 7, 'earlier'));
    await b.store.applyFrame(frame(two, 9, 'later'));
    await b.store.applyFrame(frame(three, 3, 'first'));
    await a.store.applyFrame(frame(three, 4, 'not first'));
    for (const node of [a, b, a, b]) await node.repair.now();
    const values = async ({ store }: Node): Promise<unknown> =>
      (await store.query("SELECT jid, full_ret ->> '$.return' AS value FROM ret ORDER BY jid DESC")).map((row) =>
        dictGet(row, 'value'),
      );
    expect(await values(a)).toEqual(['second run', 'earlier', 'first']);
    expect(await values(b)).toEqual(await values(a));
    expect(b.heard).toContain('conflict web1');
  });

  it('counts rows of before in portions, is asked again meanwhile, and goes on where it was interrupted', async () => {
    const file = join(folder, 'm1.db');
    const old = await SqliteJobStore.open(file);
    const saved: Promise<unknown>[] = [];
    for (let n = 0; n < 3000; n++) saved.push(old.saveReturn(result(jidAt(5 + (n % 300), n), `web${n}`)));
    await Promise.all(saved);
    await old.close();
    const [a, b] = [await start('m1'), await start('m2')];
    await eventually('all to be fetched', async () => {
      const { fetched, unreached } = await b.repair.now();
      // While m1 still counts, it says so.
      if (unreached.size > 0) expect([...unreached.values()].join()).toMatch(/still counts/);
      else if (fetched === 0) return true;
      return false;
    });
    expect(((await rowsOf(b)) as unknown[][])[0]).toHaveLength(3000);
    await countedRight(a);
    await countedRight(b);
  });

  it('does not fetch again what it removed because of its size, nor what is too old', async () => {
    const [a, b] = [await start('m1'), await start('m2')];
    for (let n = 0; n < 200; n++) {
      const jid = jidAt(n * 5, n);
      await a.store.saveJob({ ...job(jid, ['web1']), started: now - n * 300_000 });
      await a.store.saveReturn(result(jid, 'web1', 'z'.repeat(4000), { via: 0 }));
    }
    await a.store.saveReturn(result(jidAt(3 * 24 * 60), 'old', 'z', { via: 0 }));
    expect(await b.repair.now()).toMatchObject({ fetched: 400 });
    await b.store.clean({ keepSeconds: 0, maxBytes: 200_000 });
    const left = await countOf(b);
    expect(left).toBeLessThan(200);
    await b.repair.now();
    expect(await countOf(b)).toBeLessThan(left + 13);
  });

  it('says whom it did not reach, and looks up one job at the others', async () => {
    const [a, b, c] = [await start('m1'), await start('m2'), await start('m3')];
    const jid = jidAt(1);
    await a.store.saveJob(job(jid, ['web1', 'web2']));
    await a.store.saveReturn(result(jid, 'web1', 'x', { via: 0 }));
    fabric.cut.add('m2 m3');
    expect(await b.repair.complete(jid, 60_000)).toEqual(['m3']);
    expect([...(await b.store.returns(jid)).keys()]).toEqual(['web1']);
    const { compared, unreached } = await b.repair.now();
    expect([compared, [...unreached.keys()]]).toEqual([['m1'], ['m3']]);
    await a.repair.stop();
    // Stopped in the middle: nothing hangs, and the next one goes on.
    await c.repair.stop();
    await expect(c.repair.now()).rejects.toThrow();
  });

  it('takes nothing that is malformed, forged or was not asked for', async () => {
    const b = await start('m1');
    const evil = fabric.join('m2');
    const jid = jidAt(10);
    const span = jid.slice(0, 12);
    const packed = (item: object, place: Value = 1, via: Value = 1): Uint8Array =>
      packValue([itemValue(item as LedgerItem), place, via]);
    const good = { kind: 'ret', attempt: 1, ...result(jid, 'web1') };
    let answer: Value[] = [];
    evil.signals.answer('digest', async function* (body) {
      const length = dictGet(body as Dict, 'minutes') === true ? 12 : 10;
      yield tallyKinds.map((kind): Value => [kind, span.slice(0, length), 5, 'ab'.repeat(8)]);
      yield [['ret', 'x', 1, 'ab'.repeat(8)], ['ret', span, -1, 'ab'.repeat(8)], ['other', span, 1, 'zz'], null, 7];
    });
    evil.signals.answer('items', async function* (body) {
      if (dictGet(body as Dict, 'kind') !== 'ret') return;
      yield [
        [jid, 'web1', 1, 'd', 1],
        [jid, '../evil', 1, 'd', 1],
        ['x', 'web1', 1, 'd', 1],
        [jid, 'web2', 'one', 'd', 1],
        null,
      ];
      yield 'text';
      yield [[jidAt(50), 'web9', 1, 'd', 1]];
    });
    evil.signals.answer('result', async function* () {
      yield answer;
    });
    answer = [
      packed({ ...good, load: load(jid, 'web2', 'of another') }),
      packed({ ...good, id: 'web2', load: load(jid, 'web2', 'not asked for') }),
      packed({ ...good, id: '../../evil' }),
      packed({ ...good, attempt: -1 }),
      packed({ ...good, received: 'now' }),
      packed(good, 1, 99),
      packed(good, 'first', 1),
      packed({ kind: 'job', job: { ...job(jid, ['web1']), owner: 0 } }),
      packed({ kind: 'verdict', jid, id: 'web1', verdict: 'v', reason: 'r', text: 't', evidence: newDict(), at: 1 }),
      Buffer.from('junk'),
      'junk',
      null,
    ];
    const compared = await b.repair.now();
    expect(compared.fetched).toBe(0);
    expect(compared.refused).toBeGreaterThanOrEqual(answer.length);
    expect(await rowsOf(b)).toEqual([[], [], []]);
    answer = [packed(good)];
    expect(await b.repair.now()).toMatchObject({ fetched: 1 });
    expect(b.log.join('\n')).toMatch(/a record of another member was not taken/);
  });
});
