// Measures how long a master with a new disk takes until it has everything that another member has: 100,000 results, or
// as many as BENCH_RESULTS says. Alone: npm run bench -- cluster-repair
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { newDict, type Value } from '../../src/base/codec/value.ts';
import { jidOf } from '../../src/base/util/jid.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { eventually } from '../support/eventually.ts';
import { historyOf, Masters } from '../support/masters.ts';

export interface RepairMeasured {
  readonly results: number;
  readonly seconds: number;
  /** The longest that a command at the answering master took meanwhile. */
  readonly longestAnswerMs: number;
}

const minions = 500;

async function fill(file: string, results: number): Promise<void> {
  const store = await SqliteJobStore.open(file, { shared: true });
  const about = { fun: 'test.ping', tgt: '*', tgt_type: 'glob', user: 'root' };
  const dict = (fields: Record<string, Value>) => newDict(Object.entries(fields));
  for (let job = 0; job * minions < results; job++) {
    const started = Date.now() - (job + 1) * 60_000;
    const jid = jidOf(started * 1000);
    const ids = Array.from({ length: Math.min(minions, results - job * minions) }, (_, n) => `minion-${n}`);
    const load = dict({ jid, fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', user: 'root', ret: '' });
    await store.saveJob({ jid, ...about, load, expected: ids, started, internal: false, owner: 0 });
    const saved = ids.map((id) => {
      const ret = { cmd: '_return', id, jid, fun: 'test.ping', fun_args: [], return: true, retcode: 0, success: true };
      const row = { jid, id, fun: 'test.ping', retcode: 0, success: true, load: dict(ret), received: started, via: 0 };
      // In the ledger already: they are not given to it again.
      return store.saveReturn({ ...row, place: 1 } as Parameters<SqliteJobStore['saveReturn']>[0]);
    });
    await Promise.all(saved);
  }
  await store.close();
}

export async function measureRepair(results: number): Promise<RepairMeasured> {
  const masters = await Masters.start({ count: 2 });
  try {
    const [full, empty] = [masters.master(0), masters.master(1)];
    for (const { master } of masters.all) await master.stop();
    for (const side of ['', '-wal', '-shm']) rmSync(empty.path(`cache/master/halite.db${side}`), { force: true });
    await fill(full.path('cache/master/halite.db'), results);
    await full.startMaster();
    await empty.startMaster();
    const began = performance.now();
    let longestAnswerMs = 0;
    const all = async (): Promise<boolean> => {
      const asked = performance.now();
      await full.run('salt-run', ['test.arg', 'x']);
      longestAnswerMs = Math.max(longestAnswerMs, performance.now() - asked);
      const [found] = await historyOf(empty, 'SELECT count(*) AS n FROM ret');
      return Number(found?.['n']) >= results;
    };
    await eventually('all results', all, { timeoutMs: 600_000 });
    return { results, seconds: (performance.now() - began) / 1000, longestAnswerMs };
  } finally {
    await masters.destroy();
  }
}

// In the bundle of another benchmark it is only a function.
if (basename(process.argv[1] ?? '') === 'cluster-repair.mjs') {
  const { results, seconds, longestAnswerMs } = await measureRepair(Number(process.env['BENCH_RESULTS'] ?? 100_000));
  console.log(
    `repair of ${results} results: ${seconds.toFixed(1)} s, longest salt-run at the other master ${Math.round(longestAnswerMs)} ms`,
  );
}
