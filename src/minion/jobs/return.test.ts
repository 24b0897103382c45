import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { memoryLogger } from '../../base/log/testing.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { runningFields } from '../../protocol/wire/messages/job.ts';
import { eventually, testFolder, testKeys, testOpts } from '../link/testing.ts';
import type { Places, ReturnTarget } from './asked-master.ts';
import { followJob } from './lifecycle.ts';
import { ProcFiles } from './proc-files.ts';
import { Returns } from './return.ts';
import { Spool } from './spool.ts';

let folder: ReturnType<typeof testFolder>;
const controls: AbortController[] = [];
beforeEach(() => {
  folder = testFolder();
});
afterEach(() => {
  for (const control of controls.splice(0)) control.abort();
  vi.useRealTimers();
  folder.remove();
});

class Target implements ReturnTarget {
  readonly name: string;
  ready = true;
  failing = 0;
  /** Never answers, as a frozen master. */
  frozen = false;
  taken: PlainDict[] = [];
  credentials: NonNullable<ReturnTarget['credentials']>;
  constructor(name: string, cluster = '', key: 'master' | 'minion' = 'master') {
    this.name = name;
    this.credentials = { halite: true, masterKeyText: testKeys[key].pub };
    if (cluster)
      this.credentials = { ...this.credentials, cluster: { name: cluster, member: name.split(':')[0]!, members: [] } };
  }
  async request(load: PlainDict, options: { timeoutMs: number; halite?: PlainDict }): Promise<null> {
    if (this.frozen) {
      await new Promise((done) => setTimeout(done, Math.min(options.timeoutMs, 50)));
      throw new Error('no answer in time');
    }
    if (this.failing-- > 0) throw new Error('no answer');
    this.taken.push(newDict([...Object.entries(load), ...Object.entries(options.halite ?? {})]));
    return null;
  }
}
const jid = (n: number): string => `2020010100000000000${n}`;
const load = (id: string, more: Partial<JobReturn> = {}): JobReturn => ({
  ...{ id: 'm1', jid: id, fun: 'test.ping', return: Buffer.from([255, 0]) },
  ...more,
});
const jidsOf = (target: Target): unknown[] => target.taken.map((item) => item['jid']);

async function setUp(targets: readonly Target[] = [], { most = 10, unlisted = [] as string[] } = {}) {
  const opts = testOpts(
    folder.path,
    newDict([
      ['return_retry_timer', 0.01],
      ['return_retry_timer_max', 0.02],
    ]),
  );
  const { log, lines } = memoryLogger();
  const control = new AbortController();
  controls.push(control);
  const spool = new Spool(opts.cachedir, log, most);
  await spool.prepare();
  const dir = join(opts.cachedir, 'halite', 'spool');
  const files = () => readdirSync(dir).filter((name) => name.endsWith('.p'));
  const places: Places = {
    oneAtATime: false,
    visit: async () => undefined,
    ready: () => targets.filter(({ ready }) => ready),
    serves: (target, name) => target.name === name,
    listed: (name) => name !== '' && !unlisted.includes(name),
  };
  const returns = new Returns(opts, spool, log, control.signal, places);
  return { returns, spool, files, dir, lines, control, opts };
}

describe('returns', () => {
  it('are retried and reach the master of the job', async () => {
    const target = new Target('a:4506');
    const { returns, files } = await setUp([target]);
    target.failing = 2;
    await returns.deliver(target, load(jid(1)));
    await eventually(() => target.taken.length === 1);
    await eventually(() => files().length === 0);
  });

  it('wait on disk while no master answers and are replayed in order', async () => {
    const a = new Target('a:4506');
    const { returns, files } = await setUp([a]);
    a.ready = false;
    for (const n of [3, 1, 2]) await returns.deliver(a, load(jid(n)));
    expect(files()).toHaveLength(3);
    a.ready = true;
    await Promise.all([returns.replay(a), returns.replay(a)]);
    expect(jidsOf(a)).toEqual([jid(3), jid(1), jid(2)]);
    expect(a.taken[0]?.['return']).toEqual(Buffer.from([255, 0]));
    expect(files()).toEqual([]);
  });

  it('go to a member of the same cluster, and no master gets them twice', async () => {
    const [a, b] = [new Target('a:4506', 'prod'), new Target('b:4506', 'prod')];
    const { returns, files } = await setUp([a, b]);
    a.frozen = true;
    await returns.deliver(a, load(jid(1)));
    await eventually(() => b.taken.length === 1);
    await eventually(() => files().length === 0);
    expect(b.taken[0]).not.toHaveProperty('halite_for');
    a.frozen = false;
    await returns.replay(a);
    expect(a.taken).toEqual([]);
  });

  it('are not given up to a master that only claims the name of the cluster, with another key', async () => {
    const [a, thief] = [new Target('a:4506', 'prod'), new Target('t:4506', 'prod', 'minion')];
    const { returns, files } = await setUp([a, thief]);
    a.ready = false;
    await returns.deliver(a, load(jid(1)));
    await eventually(() => thief.taken.length === 1);
    // It is listed, so it keeps a copy; the one that asked still gets its own.
    expect(thief.taken[0]).toMatchObject({ halite_for: 'a:4506' });
    expect(files()).toHaveLength(1);
    a.ready = true;
    // While its file is being marked, it is looked at again a little later.
    await returns.replay(a);
    await eventually(() => a.taken.length === 1);
    expect(jidsOf(a)).toEqual([jid(1)]);
  });

  it('are kept by another listed Halite master until the one that asked took them', async () => {
    const [a, b, c] = [new Target('a:4506'), new Target('b:4506'), new Target('c:4506')];
    const salt = new Target('s:4506');
    salt.credentials = { halite: false };
    const { returns, files, dir } = await setUp([a, salt, b]);
    a.ready = false;
    await returns.deliver(a, load(jid(1)));
    await eventually(() => b.taken.length === 1);
    await returns.pump();
    expect(b.taken).toMatchObject([{ jid: jid(1), halite_for: 'a:4506' }]);
    expect(salt.taken).toEqual([]);
    expect(c.taken).toEqual([]);
    expect(files()).toEqual([expect.stringMatching(/\+\.p$/)]);
    // Also after a restart.
    const again = await setUp([a, b]);
    await again.returns.replay(b);
    expect(b.taken).toHaveLength(1);
    a.ready = true;
    await again.returns.replay(a);
    expect(a.taken).toHaveLength(1);
    expect(a.taken[0]).not.toHaveProperty('halite_for');
    expect(readdirSync(dir).filter((name) => name.endsWith('.p'))).toEqual([]);
  });

  it('of the schedule are not told once more in the name of another master', async () => {
    const [a, b] = [new Target('a:4506'), new Target('b:4506')];
    const { returns, files } = await setUp([a, b]);
    a.ready = false;
    await returns.deliver(a, load(jid(1), { schedule: 'hourly' }));
    await returns.pump();
    expect(b.taken).toEqual([]);
    expect(files()).toHaveLength(1);
  });

  it('reach a listed master when the one that asked is not listed any more, a Salt master in its own form', async () => {
    const a = new Target('a:4506');
    const before = await setUp([]);
    await before.returns.deliver(Object.assign(a, { ready: false }), load(jid(1)));
    const c = new Target('c:4506');
    const after = await setUp([c], { unlisted: ['a:4506'] });
    await after.returns.pump();
    expect(c.taken).toMatchObject([{ jid: jid(1), halite_for: 'a:4506' }]);
    expect(after.files()).toEqual([]);
  });

  it('stay when they cannot be read for a moment; damaged ones are set aside and named', async () => {
    const a = new Target('a:4506');
    const { returns, files, opts, lines, dir } = await setUp([a]);
    a.ready = false;
    for (const n of [1, 2, 3]) await returns.deliver(a, load(jid(n)));
    const [first, second] = files().sort();
    writeFileSync(join(dir, first!), 'broken');
    // A folder in the place of a file: reading fails with another error than those of a damaged file.
    const content = readFileSync(join(dir, second!));
    rmSync(join(dir, second!));
    mkdirSync(join(dir, second!));
    a.ready = true;
    await returns.replay(a);
    expect(jidsOf(a)).toEqual([jid(3)]);
    expect(files()).toEqual([second]);
    expect(readdirSync(join(opts.cachedir, 'halite', 'spool-damaged'))).toEqual([first]);
    expect(lines.join('\n')).toContain(first);
    rmdirSync(join(dir, second!));
    writeFileSync(join(dir, second!), content);
    await returns.replay(a);
    expect(jidsOf(a)).toEqual([jid(3), jid(2)]);
  });

  it('are never dropped because the spool is full: new jobs are refused instead', async () => {
    const [a, b] = [new Target('a:4506'), new Target('b:4506')];
    const { returns, files } = await setUp([a, b], { most: 2 });
    a.ready = false;
    b.ready = false;
    for (const n of [1, 2, 3]) {
      if (n < 3) expect(returns.refusal).toBeUndefined();
      await returns.deliver(a, load(jid(n)));
    }
    expect(returns.refusal).toContain('full');
    expect(files()).toHaveLength(3);
    b.ready = true;
    await returns.replay(b);
    expect(returns.refusal).toBeUndefined();
    expect(jidsOf(b)).toEqual([jid(1), jid(2), jid(3)]);
  });

  it('wait in memory while the disk does not take them', async () => {
    const a = new Target('a:4506');
    const { returns, files, dir, lines } = await setUp([a]);
    a.ready = false;
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'in the way');
    await returns.deliver(a, load(jid(1)));
    expect(lines.join('\n')).toContain('waits in memory');
    expect(returns.refusal).toContain('cannot be written');
    rmSync(dir);
    mkdirSync(dir);
    await returns.pump();
    expect(files()).toHaveLength(1);
    expect(returns.refusal).toBeUndefined();
  });

  it('that are interrupted by the shutdown of the minion are kept', async () => {
    const a = new Target('a:4506');
    const { returns, files, control } = await setUp([a]);
    a.failing = 5;
    const delivering = returns.deliver(a, load(jid(1)));
    control.abort();
    await delivering;
    expect(files()).toHaveLength(1);
  });
});

describe('proc files', () => {
  it("contain the job in Salt's format while it runs and are removed with dead processes", async () => {
    const proc = new ProcFiles(folder.path);
    await proc.prepare();
    const job = newDict([
      ['fun', 'test.sleep'],
      ['arg', [5]],
      ['tgt', '*'],
      ['jid', '20200101000000000001'],
      ['tgt_type', 'glob'],
    ]);
    const published = { jid: '20200101000000000001', fun: 'test.sleep', arg: [5], tgt: '*', tgt_type: 'glob' };
    proc.write(published.jid, runningFields(published, process.pid));
    // Written atomically: a daemon may be killed directly after it.
    const file = join(folder.path, 'proc', '20200101000000000001');
    expect(Object.entries(unpack(readFileSync(file)) as PlainDict)).toEqual([
      ['pid', process.pid],
      ...Object.entries(job),
    ]);
    expect((await proc.running()).map(({ shown }) => shown)).toEqual([unpack(readFileSync(file))]);
    writeFileSync(
      join(folder.path, 'proc', '20200101000000000002'),
      pack(
        newDict([
          ['pid', 2 ** 22 + 1],
          ['jid', 'x'],
        ]),
      ),
    );
    writeFileSync(join(folder.path, 'proc', '20200101000000000003'), '');
    mkdirSync(join(folder.path, 'proc', 'not-a-jid'));
    expect(await proc.running()).toHaveLength(1);
    expect(readdirSync(join(folder.path, 'proc')).sort()).toEqual(['20200101000000000001', 'not-a-jid']);
    await proc.remove('20200101000000000001');
    expect(await proc.running()).toEqual([]);
  });

  it('never leave their folder', async () => {
    const proc = new ProcFiles(folder.path);
    await proc.prepare();
    proc.write('../../escape', newDict());
    await proc.remove('../cache');
    expect(readdirSync(folder.path)).toEqual(['proc']);
  });
});

describe('life-cycle messages', () => {
  const follow = () => {
    vi.useFakeTimers();
    const said: [string, unknown][] = [];
    const life = followJob(
      'm1',
      '20200101000000000001',
      (tag, data) => void said.push([tag.split('/')[3]!, data['text']]),
    );
    return { said, life };
  };

  it('are not sent for short jobs', () => {
    const { said, life } = follow();
    life.started();
    life.progress('x');
    vi.advanceTimersByTime(100);
    life.done();
    vi.advanceTimersByTime(5000);
    expect(said).toEqual([]);
  });

  it('report start, the last line of output at most once a second, and the end', () => {
    const { said, life } = follow();
    life.started();
    vi.advanceTimersByTime(200);
    life.progress('one\ntwo\n');
    life.progress('three');
    life.progress('four\n');
    vi.advanceTimersByTime(1000);
    vi.advanceTimersByTime(1000);
    life.done();
    expect(said).toEqual([
      ['started', ''],
      ['progress', 'two'],
      ['progress', 'four'],
      ['done', ''],
    ]);
  });

  it('report that a job is queued', () => {
    const { said, life } = follow();
    life.queued();
    vi.advanceTimersByTime(200);
    life.started();
    life.done();
    expect(said).toEqual([
      ['accepted', 'queued'],
      ['started', ''],
      ['done', ''],
    ]);
  });

  it('are only for masters that support them and for real job ids', () => {
    vi.useFakeTimers();
    const life = followJob('m1', 'req', () => expect.unreachable());
    life.started();
    vi.advanceTimersByTime(1000);
    followJob('m1', '20200101000000000001', undefined).started();
    vi.advanceTimersByTime(1000);
    life.done();
  });
});
