import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { memoryLogger } from '../../base/log/testing.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { runningFields } from '../../protocol/wire/messages/job.ts';
import { testFolder, testOpts } from '../link/testing.ts';
import { followJob } from './lifecycle.ts';
import { ProcFiles } from './proc-files.ts';
import { Returns } from './return.ts';
import { Spool } from './spool.ts';

let folder: ReturnType<typeof testFolder>;
beforeEach(() => {
  folder = testFolder();
});
afterEach(() => {
  vi.useRealTimers();
  folder.remove();
});

class Target {
  readonly name: string;
  ready = true;
  failing = 0;
  taken: PlainDict[] = [];
  constructor(name: string) {
    this.name = name;
  }
  async request(load: PlainDict): Promise<null> {
    if (this.failing-- > 0) throw new Error('no answer');
    this.taken.push(load);
    return null;
  }
}
const load = (jid: string): JobReturn => ({ id: 'm1', jid, fun: 'test.ping', return: Buffer.from([255, 0]) });

async function setUp() {
  const opts = testOpts(
    folder.path,
    newDict([
      ['return_retry_timer', 0.01],
      ['return_retry_timer_max', 0.02],
    ]),
  );
  const { log, lines } = memoryLogger();
  const control = new AbortController();
  const spool = new Spool(opts.cachedir, log);
  await spool.prepare();
  const files = () => readdirSync(join(opts.cachedir, 'halite', 'spool'));
  return { returns: new Returns(opts, spool, log, control.signal), spool, files, lines, control, opts };
}

describe('returns', () => {
  it('are retried and reach the master of the job', async () => {
    const { returns, files } = await setUp();
    const target = new Target('a:4506');
    target.failing = 2;
    await returns.deliver(target, load('20200101000000000001'));
    expect(target.taken).toHaveLength(1);
    expect(files()).toEqual([]);
  });

  it('wait on disk while no master answers and are replayed in order, each to its own master', async () => {
    const { returns, files } = await setUp();
    const [a, b] = [new Target('a:4506'), new Target('b:4506')];
    a.ready = false;
    b.failing = 3;
    for (const n of [3, 1, 2]) await returns.deliver(a, load(`2020010100000000000${n}`));
    await returns.deliver(b, load('20200101000000000009'));
    expect(files()).toHaveLength(4);
    a.ready = true;
    await Promise.all([returns.replay(a), returns.replay(a)]);
    expect(a.taken.map((item) => String(item['jid']).at(-1))).toEqual(['3', '1', '2']);
    expect(a.taken[0]?.['return']).toEqual(Buffer.from([255, 0]));
    expect(files()).toHaveLength(1);
    await returns.replay(b);
    expect(b.taken).toHaveLength(1);
    expect(files()).toEqual([]);
  });

  it('stay in the spool when the replay fails midway, and damaged files do not block it', async () => {
    const { returns, files, opts, lines } = await setUp();
    const a = new Target('a:4506');
    a.ready = false;
    for (const n of [1, 2, 3]) await returns.deliver(a, load(`2020010100000000000${n}`));
    const dir = join(opts.cachedir, 'halite', 'spool');
    writeFileSync(join(dir, files().sort()[0]!), 'broken');
    a.ready = true;
    a.failing = 1;
    await returns.replay(a);
    expect(files()).toHaveLength(2);
    expect(lines.join('\n')).toContain('damaged');
    await returns.replay(a);
    expect(a.taken.map((item) => String(item['jid']).at(-1))).toEqual(['2', '3']);
  });

  it('that are interrupted by the shutdown of the minion are kept', async () => {
    const { returns, files, control } = await setUp();
    const a = new Target('a:4506');
    a.failing = 5;
    const delivering = returns.deliver(a, load('20200101000000000001'));
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
