// Durable jobs of three members: delivered by one of them, ended once for all, and kept while the engine is away.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { PendingDelivery } from '../../store/jobs.ts';
import { DurableJobs } from '../tracking/durable.ts';
import { SharedPending } from './durable.ts';
import { Fabric } from './testing.ts';

const jid = '20260131235959000001';
interface Tested {
  readonly durable: DurableJobs;
  /** What is on its disk. */
  readonly disk: PendingDelivery[];
  readonly verdicts: string[];
}
let fabric: Fabric;
let sent: string[];
let halite: boolean;
const shares: SharedPending[] = [];

async function open(id: string, disk: PendingDelivery[] = [], here: () => boolean = () => false): Promise<Tested> {
  const share = SharedPending.open({ cluster: fabric.join(id), log: nullLogger() });
  if (!share) throw new Error('a member of a cluster shares its waiting jobs');
  shares.push(share);
  const verdicts: string[] = [];
  const durable = await DurableJobs.open({
    ...{ log: nullLogger(), bus: { fire: () => undefined }, share },
    store: {
      pending: async () => [...disk],
      savePending: async (rows) => void disk.push(...rows),
      dropPending: async (job, minion) => {
        const at = disk.findIndex((row) => row.jid === job && row.id === minion);
        if (at >= 0) disk.splice(at, 1);
      },
      saveVerdicts: async () => undefined,
      verdicts: async () => [],
      hasReturn: async () => false,
      load: async () => newDict(Object.entries({ jid, fun: 'test.ping', arg: [], tgt: '*' })),
    },
    fleet: {
      isHalite: () => halite,
      known: () => (here() ? ({ connections: new Map([['b', {}]]) } as never) : undefined),
    },
    reasons: { evidenceOf: () => newDict() },
    activeJob: () => ({ expired: (minion, why) => void verdicts.push(`${minion} ${why.code}`) }),
    publications: {
      send: async (_job, ids = []) => {
        sent.push(`${id} ${ids.join(',')}`);
        return {};
      },
    },
  });
  return { durable, disk, verdicts };
}
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'setImmediate', 'Date'] });
  [fabric, sent, halite] = [new Fabric(), [], true];
});
afterEach(() => {
  for (const share of shares.splice(0)) share.close();
  vi.useRealTimers();
});
const three = (): Promise<Tested[]> => Promise.all(['m1', 'm2', 'm3'].map((id) => open(id)));
const until = (): number => Date.now() + 3_600_000;

describe('a durable job of a cluster', () => {
  it('is delivered by one member to a minion that joins all of them at once', async () => {
    const members = await three();
    await members[0]?.durable.keep(jid, ['web1'], until());
    for (const { durable } of members) durable.arrived('web1', 'joined');
    await pass(1000);
    expect(sent).toHaveLength(1);
    // It is delivered again when the minion joins later, wherever that is: a Halite minion runs it once.
    await pass(11_000);
    members[2]?.durable.arrived('web1', 'joined');
    await pass(1000);
    expect(sent[1]).toBe('m3 web1');
  });

  it('is delivered by any member, and to a Salt minion once in all', async () => {
    halite = false;
    const [m1, m2, m3] = await three();
    await m1?.durable.keep(jid, ['web1'], until());
    m2?.durable.arrived('web1', 'joined');
    await pass(1000);
    for (const each of [m1, m2, m3]) each?.durable.arrived('web1', 'joined');
    await pass(30_000);
    expect(sent).toEqual(['m2 web1']);
    m3?.durable.returned(jid, 'web1');
    await pass(100);
    expect([m1, m2, m3].map((each) => each?.durable.list())).toEqual([[], [], []]);
  });

  it('is delivered at once when its minion came before the others knew of it', async () => {
    const m1 = await open('m1');
    await open('m2', [], () => true);
    await m1.durable.keep(jid, ['web1'], until());
    await pass(1000);
    expect(sent).toEqual(['m2 web1']);
  });

  it('expires once, by the leader, and all members know why', async () => {
    const members = await three();
    fabric.elect('m2');
    await members[0]?.durable.keep(jid, ['web1'], Date.now() + 5000);
    await pass(4000);
    expect(members.map(({ durable }) => durable.list().length)).toEqual([1, 1, 1]);
    await pass(2000);
    for (const { durable } of members) durable.expire();
    await pass(1000);
    expect(members.map(({ durable }) => durable.list().length)).toEqual([0, 0, 0]);
    expect(members.map(({ verdicts }) => verdicts)).toEqual([['web1 expired'], ['web1 expired'], ['web1 expired']]);
    members[0]?.durable.arrived('web1', 'joined');
    await pass(1000);
    expect(sent).toEqual([]);
  });

  it('is either cancelled or delivered when both happen at once on different members', async () => {
    const [m1, m2] = await three();
    let both = 0;
    for (let n = 0; n < 20; n++) {
      const id = `web${n}`;
      await m1?.durable.keep(jid, [id], until());
      m2?.durable.arrived(id, 'joined');
      const [cancelled] = await Promise.all([pass(300 + (n % 3)).then(() => m1?.durable.cancel(jid, [id])), pass(400)]);
      const delivered = sent.filter((line) => line.endsWith(` ${id}`)).length;
      if ((cancelled?.length ?? 0) + delivered !== 1) both++;
    }
    expect(both).toBe(0);
  });

  it('is kept on disk while the engine is away, and told to all when it is back', async () => {
    const [m1, m2] = await three();
    const bucket = fabric.registry.bucket('pending');
    const away = vi.spyOn(bucket, 'create').mockRejectedValue(new HaliteError('cluster.cut-off', 'no word'));
    await m1?.durable.keep(jid, ['web1', 'web2'], until());
    expect([m1?.disk.length, m2?.durable.list()]).toEqual([2, []]);
    // Only this member knows it: it may deliver it.
    m1?.durable.arrived('web2', 'joined');
    await pass(1000);
    expect(sent).toEqual(['m1 web2']);
    away.mockRestore();
    fabric.get('m1')?.change({ kind: 'state', state: { kind: 'joined', since: 0 } });
    await pass(1000);
    expect(m1?.disk).toEqual([]);
    expect(m2?.durable.list().map(({ id }) => id)).toEqual(['web1', 'web2']);
    expect(['web1', 'web2'].map((id) => (m2?.durable.deliveredAt(jid, id) ?? 0) > 0)).toEqual([false, true]);
  });

  it('of a single master goes to the others when that master joins a cluster', async () => {
    const disk = [{ jid, id: 'web1', until: until() }];
    const m2 = await open('m2');
    await open('m1', disk);
    await pass(1000);
    expect([disk, m2.durable.list().map(({ id }) => id)]).toEqual([[], ['web1']]);
  });

  it('of another shape, or under another key, is left out', async () => {
    const m1 = await open('m1');
    const bucket = fabric.registry.bucket('pending');
    const good = { jid, id: 'web1', until: until() };
    for (const [n, value] of [7, null, [], { jid }, { ...good, id: '../x' }, { ...good, until: 'x' }, good].entries())
      await bucket.create(`odd${n}`, value);
    await pass(1000);
    expect(m1.durable.list()).toEqual([]);
  });
});
