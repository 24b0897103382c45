// The store of a member of a cluster: when a result counts as stored, what the ledger gets, and what is not taken from it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { dictOf, type Value } from '../../src/base/codec/value.ts';
import { memoryLogger } from '../../src/base/log/testing.ts';
import type { ClusterState, Ledger } from '../../src/engine/cluster/api.ts';
import type { LedgerItem, SharedJob } from '../../src/engine/cluster/messages.ts';
import { SharedJobStore } from '../../src/master/shared/store.ts';
import { loneMember } from '../../src/master/shared/testing.ts';
import type { Conflict, ReturnRecord } from '../../src/store/jobs.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { eventually } from '../support/eventually.ts';
import { job } from '../support/job-records.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-shared-'));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const jid = '20261118120000000003';
function resultOf(id: string, value: Value = true): ReturnRecord {
  const load = dictOf(Object.entries({ cmd: '_return', id, jid, fun: 'test.ping', return: value, retcode: 0 }));
  return { jid, id, fun: 'test.ping', retcode: 0, success: true, load, received: Date.now() };
}
const item = (id: string, more: object = {}): LedgerItem => ({ kind: 'ret', attempt: 1, ...resultOf(id), ...more });
const jobItem = (more: Partial<SharedJob>, kind: 'job' | 'own' = 'job'): LedgerItem => ({
  kind,
  job: { ...job(jid), owner: 1, ...more },
});

/** An engine that confirms when it is told to, and whose frames the test makes. */
class Line implements Ledger {
  readonly items: LedgerItem[] = [];
  #confirm: (() => void)[] = [];
  away = false;
  #apply: Parameters<Ledger['follow']>[1] | undefined;

  append(given: LedgerItem): Promise<void> {
    this.items.push(given);
    if (!this.away) return Promise.resolve();
    return new Promise((resolve) => this.#confirm.push(resolve));
  }
  async follow(_from: unknown, apply: Parameters<Ledger['follow']>[1], signal: AbortSignal): Promise<void> {
    this.#apply = apply;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  }
  bring(items: LedgerItem[], place: number, from = 1): Promise<void> {
    return this.#apply!({ from, position: `p${place}`, place, items });
  }
  back(): void {
    this.away = false;
    for (const confirm of this.#confirm.splice(0)) confirm();
  }
  held = (): ReturnType<Ledger['held']> => ({ items: 0, bytes: 0, since: 0 });
}

async function member(ack: 'both' | 'quorum' | 'own' = 'both', ackWaitMs = 60_000) {
  const [line, { log, lines }] = [new Line(), memoryLogger()];
  const status: { state: ClusterState } = { state: { kind: 'joined', since: 0 } };
  const cluster = {
    self: { ...loneMember().self, slot: 0 },
    ledger: line,
    get state() {
      return status.state;
    },
  };
  const store = await SqliteJobStore.open(join(folder, `${++files}.db`));
  const shared = new SharedJobStore({ cluster, store, log, options: { ack, ackWaitMs } });
  const heard: [string, number][] = [];
  const stored: string[] = [];
  const conflicts: Conflict[] = [];
  await shared.follow({
    heard: (given, from) => heard.push([given.kind, from]),
    stored: ({ id }) => stored.push(id),
    conflict: (conflict) => conflicts.push(conflict),
  });
  return { line, lines, status, shared, sqlite: store, heard, stored, conflicts };
}

const settled = async (promise: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([promise.then(() => true), new Promise((resolve) => setImmediate(() => resolve(false)))])) ===
  true;

describe('a result', () => {
  it('counts as stored when this disk and the engine have it, and goes to the ledger once', async () => {
    const { line, shared, sqlite } = await member();
    line.away = true;
    const saved = shared.saveReturn(resultOf('a'));
    const again = shared.saveReturn(resultOf('a'));
    await eventually('it to be on the disk', () => sqlite.hasReturn(jid, 'a'));
    expect(await settled(saved)).toBe(false);
    line.back();
    expect(await saved).toBe('stored');
    expect(await again).toBe('duplicate');
    expect(line.items).toHaveLength(1);
    await shared.close();
  });

  it('counts as stored without the engine after the time for it, and at once when it is known to be away', async () => {
    const { line, shared, status } = await member('both', 50);
    line.away = true;
    expect(await shared.saveReturn(resultOf('a'))).toBe('stored');
    await shared.close();
    const long = await member('both', 3_600_000);
    long.line.away = true;
    long.status.state = { kind: 'cut-off', since: 0, why: 'test' };
    expect(await long.shared.saveReturn(resultOf('a'))).toBe('stored');
    expect(status.state.kind).toBe('joined');
    await long.shared.close();
  });

  it('is not acknowledged without the engine where the configuration says so', async () => {
    const { line, shared, status } = await member('quorum', 50);
    line.away = true;
    await expect(shared.saveReturn(resultOf('a'))).rejects.toMatchObject({ code: 'cluster.cut-off' });
    status.state = { kind: 'cut-off', since: 0, why: 'test' };
    // Its minion sends it again; when the engine is back, it is there, and was given to it once.
    const again = shared.saveReturn(resultOf('a'));
    line.back();
    expect(await again).toBe('duplicate');
    expect(line.items).toHaveLength(1);
    await shared.close();
  });

  it('waits for nobody where the configuration says so', async () => {
    const { line, shared } = await member('own');
    line.away = true;
    expect(await shared.saveReturn(resultOf('a'))).toBe('stored');
    await shared.close();
  });

  it('is given to the ledger again after a restart when that may not have it', async () => {
    const { line, shared, sqlite } = await member('own');
    line.away = true;
    await shared.saveReturn(resultOf('a', { deep: [1.5, null] }));
    const [known] = line.items;
    const next = new SharedJobStore({
      ...{ cluster: { self: loneMember().self, ledger: line, state: { kind: 'joined', since: 0 } } },
      ...{ store: sqlite, log: memoryLogger().log, options: { ack: 'own', ackWaitMs: 0 } },
    });
    const nobody = (): void => undefined;
    await next.follow({ heard: nobody, stored: nobody, conflict: nobody });
    expect(line.items).toEqual([known, known]);
    await next.close();
  });
});

describe('a record of another member', () => {
  it('is heard of at once, stored, and told as new only once', async () => {
    const { line, shared, heard, stored } = await member();
    await line.bring([jobItem({}), item('a')], 5);
    await line.bring([item('a')], 6, 2);
    expect(heard).toEqual([
      ['job', 1],
      ['ret', 1],
      ['ret', 2],
    ]);
    expect(stored).toEqual(['a']);
    expect([...(await shared.returns(jid)).keys()]).toEqual(['a']);
    await shared.close();
  });

  it('is told as a conflict when the results of one run differ', async () => {
    const { line, shared, conflicts } = await member();
    await line.bring([item('a', { load: resultOf('a', 'one').load })], 5);
    await line.bring([item('a', { load: resultOf('a', 'other').load })], 6, 2);
    expect(conflicts).toEqual([{ jid, id: 'a', via: [1, 2] }]);
    await shared.close();
  });

  it.each<[string, LedgerItem, number]>([
    ['a job with the owner forged', jobItem({ owner: 2 }), 1],
    ['a job whose jid is a path', jobItem({ jid: '../../etc/passwd' }), 1],
    ['a run of one minion in the name of another', jobItem({ tgt: 'b', expected: ['a'] }, 'own'), 1],
    ['a result in the name of another minion', item('a', { id: 'b' }), 1],
    ['a result of another job', item('a', { jid: '20261118120000000004' }), 1],
    ['a result whose minion is a path', item('a', { id: '../x' }), 1],
    ['a run number that wins for ever', item('a', { attempt: 2 ** 40 }), 1],
    ['a record of a member that cannot be', item('a'), 12],
    ['a verdict with a text without end', verdict('x'.repeat(100_000)), 1],
  ])('is not taken, but the rest of its frame is: %s', async (_name, bad, from) => {
    const { line, lines, shared, heard } = await member();
    await line.bring([bad, ...(from < 10 ? [item('good')] : [])], 7, from);
    expect(heard).toEqual(from < 10 ? [['ret', from]] : []);
    expect([...(await shared.returns(jid)).keys()]).toEqual(from < 10 ? ['good'] : []);
    expect(lines.join('\n')).toContain('a record of another member was not taken');
    // It does not come again: the position is behind it.
    expect(await shared.query("SELECT value FROM meta WHERE key = 'ledger_position'")).toEqual([{ value: 'p7' }]);
    await shared.close();
  });
});

function verdict(text: string): LedgerItem {
  return { kind: 'verdict', jid, id: 'a', verdict: 'missing', reason: 'silent', text, evidence: dictOf([]), at: 1 };
}
