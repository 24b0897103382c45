import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildJobProcess, type TestJobProcess } from '../../../test/integration/minion-job-process.ts';
import { unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, PyFloat, type Value } from '../../base/codec/value.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import { packShared } from './job-messages.ts';
import { JobPool } from './job-pool.ts';
import { isAlive, treeOf } from './process-tree.ts';

let folder = '';
let built: TestJobProcess;
const pools: JobPool[] = [];

const userModule = `
export function echo(value) { return value; }
export function pid() { return process.pid; }
export function burn() { for (;;) {} }
export async function wait() { await new Promise(() => setInterval(() => {}, 1000)); }
export async function command(script) { const r = await this.exec('/bin/sh', ['-c', script]); return r.stdout; }
export function crash() { process.exit(3); }
export function raise() { throw new Error('boom'); }
export async function ask() { return this.minion.masterRequest({ cmd: '_mine_get' }, { raw: true }); }
export async function fail() { return this.minion.fire('tag', {}); }
export function steps() { this.progress('half way'); this.setRetcode(4); return [this.id, this.grains.os, this.pillar.secret]; }
export function slowly(file) { this.progress('begun'); return new Promise((resolve) => setTimeout(() => resolve('late'), 300)); }
`;

const typedModule = `
import { defineModule, fn, HaliteError, p } from 'halite/sdk';
export default defineModule({
  name: 'typed',
  doc: 'Made with the SDK.',
  functions: {
    double: fn({ doc: 'Twice.', params: { n: p.int() }, run: ({ n }) => n * 2 }),
    refuse: fn({ doc: '', run: () => { throw new HaliteError('call.failed', 'no'); } }),
  },
});
`;

/** Usable once there is a file `installed` next to it. */
const toolModule = `
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
export const __virtual__ = () =>
  existsSync(fileURLToPath(new URL('installed', import.meta.url))) || [false, 'the tool is missing'];
export function answer() { return process.pid; }
`;

beforeAll(async () => {
  built = await buildJobProcess({ 'mine.mjs': userModule, 'typed.mjs': typedModule, 'tool.mjs': toolModule });
  folder = built.folder;
});
afterAll(async () => {
  for (const pool of pools) await pool.stop('end');
  built.remove();
});

const services: MinionServices = {
  hasMaster: true,
  running: async () => [],
  signalJob: async () => '',
  masterRequest: async (load, options) => (options?.raw ? Buffer.from([0xff, 0x61]) : (load['cmd'] ?? null)),
  fire: async () => {
    throw new Error('no master');
  },
  refreshGrains: async () => undefined,
  refreshPillar: async () => true,
  compilePillar: async () => newDict(),
  reloadExtensions: async () => undefined,
};

function setUp(options: { maxProcesses?: number; idleMs?: number } = {}) {
  const log: unknown[] = [];
  const write = (message: string, fields?: unknown) => void log.push([message, fields]);
  const pool = new JobPool({
    entry: built.entry,
    log: { debug: write, info: write, warn: write, error: write },
    maxProcesses: options.maxProcesses ?? 4,
    idleMs: options.idleMs ?? 5000,
  });
  pools.push(pool);
  let next = 0;
  const data = (version = '1') => ({
    version,
    id: 'm1',
    sdkUrl: built.sdkUrl,
    body: packShared({
      opts: { module_dirs: [built.modules] },
      grains: newDict([['os', 'Test']]),
      pillar: newDict([['secret', version]]),
    }),
  });
  const run = (
    fun: string,
    arg: Value[] = [],
    extra: { spool?: string; version?: string; progress?: string[]; pids?: number[]; jid?: string } = {},
  ) => {
    const jid = extra.jid ?? String(20200101000000000000n + BigInt(next++));
    const job = { jid, fun, arg, tgt: 'm1', tgt_type: 'glob' };
    return pool.run({
      jid,
      assignment: {
        job,
        services,
        data: data(extra.version),
        ...(extra.spool ? { spool: extra.spool } : {}),
        onProgress: (text) => void extra.progress?.push(text),
      },
      onStarted: (pid) => void extra.pids?.push(pid),
    });
  };
  return { pool, run, log };
}

async function until(check: () => boolean, ms = 45_000): Promise<void> {
  const end = Date.now() + ms;
  while (!check()) {
    if (Date.now() > end) throw new Error('condition not met in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('job processes', () => {
  it('check again for the requirements of a module with every job', async () => {
    const { run } = setUp({ maxProcesses: 1 });
    const before = await run('tool.answer');
    expect(before.return).toBe("'tool' __virtual__ returned False: the tool is missing");
    writeFileSync(join(built.modules, 'installed'), '');
    const { return: pid } = await run('mine.pid');
    expect((await run('tool.answer')).return).toBe(pid);
  });

  it('run functions with values intact, one process for jobs that follow each other', async () => {
    const { run } = setUp();
    const value = newDict([
      ['f', new PyFloat(1)],
      ['n', 2n ** 60n],
      ['__proto__', 'x'],
      ['m', new Map<Value, Value>([[80, 'p']])],
    ]);
    const outcome = await run('mine.echo', [value]);
    expect(outcome).toEqual({ return: value, retcode: 0, success: true });
    const first = (await run('mine.pid')).return;
    expect((await run('mine.pid')).return).toBe(first);
    expect(first).not.toBe(process.pid);
  });

  it('have id, grains, pillar and the newest data, report progress and retcode', async () => {
    const { run } = setUp();
    const progress: string[] = [];
    expect(await run('mine.steps', [], { progress })).toEqual({
      return: ['m1', 'Test', '1'],
      retcode: 4,
      success: false,
    });
    expect(progress).toEqual(['half way']);
    expect((await run('mine.steps', [], { version: '2' })).return).toEqual(['m1', 'Test', '2']);
  });

  it('use the services of the daemon, bytes stay bytes', async () => {
    const { run } = setUp();
    expect((await run('mine.ask')).return).toEqual(Buffer.from([0xff, 0x61]));
    const failure = await run('mine.fail');
    expect(failure).toEqual({ return: 'ERROR: no master', retcode: 1, success: false, out: 'nested' });
  });

  it("let users' files import halite/sdk from anywhere", async () => {
    const { run } = setUp();
    expect((await run('typed.double', ['21'])).return).toBe(42);
    expect((await run('typed.refuse')).return).toBe('ERROR: no');
  });

  it('convert exceptions, crashes and unknown functions to results', async () => {
    const { run } = setUp();
    const raised = await run('mine.raise');
    expect(raised.return).toMatch(
      /^The minion function caused an exception: Traceback \(most recent call last\):\n[\s\S]*\nException: boom\n$/,
    );
    expect(raised).toMatchObject({ retcode: 1, success: false, out: 'nested' });
    expect((await run('mine.crash')).return).toBe('ERROR: The job process ended unexpectedly with status 3');
    expect(await run('no.such_function')).toMatchObject({ return: "'no.such_function' is not available.", retcode: 1 });
    expect((await run('mine.echo')).return).toBe(
      "Passed invalid arguments to mine.echo: echo() missing 1 required positional argument: 'value'\n",
    );
  });

  it('are killed reliably, even while they use the CPU, with all child processes', async () => {
    const { pool, run } = setUp();
    const pids: number[] = [];
    const jid = '20200101000000999999';
    const burning = run('mine.burn', [], { pids, jid });
    await until(() => pids.length === 1 && isAlive(pids[0]!));
    expect(await pool.signal(jid, 9)).toMatchObject({ pid: pids[0], gone: true });
    expect(isAlive(pids[0]!)).toBe(false);
    expect(await burning).toMatchObject({
      return: 'ERROR: The job was ended as asked by signal 9 (SIGKILL)',
      retcode: 137,
    });

    const jid2 = '20200101000000999998';
    const sleeping = run('mine.command', ['sleep 300 & sleep 301; true'], { pids, jid: jid2 });
    await until(() => pids.length === 2 && treeOf([pids[1]!]).length === 4);
    const tree = treeOf([pids[1]!]);
    expect(await pool.signal(jid2, 9)).toMatchObject({ gone: true });
    expect(tree.filter(isAlive)).toEqual([]);
    expect((await sleeping).success).toBe(false);
    expect(await pool.signal('20200101000000000000', 9)).toBeUndefined();
  });

  it('run in parallel up to the limit; the rest is queued and can be cancelled', async () => {
    const { pool, run } = setUp({ maxProcesses: 2 });
    const [a, b] = [
      run('mine.wait', [], { jid: '20200101000000111111' }),
      run('mine.wait', [], { jid: '20200101000000111112' }),
    ];
    const c = run('mine.echo', [1], { jid: '20200101000000111113' });
    const d = run('mine.echo', [2], { jid: '20200101000000111114' });
    expect(pool.running()).toHaveLength(2);
    expect(pool.queuedJobs()).toHaveLength(2);
    await pool.signal('20200101000000111113', 15);
    expect((await c).success).toBe(false);
    await pool.signal('20200101000000111111', 9);
    expect((await d).return).toBe(2);
    await pool.signal('20200101000000111112', 9);
    expect([(await a).success, (await b).success]).toEqual([false, false]);
  });

  it('end when idle, and are not used again after extensions changed', async () => {
    const { pool, run } = setUp({ idleMs: 50 });
    const pids: number[] = [];
    await run('mine.pid', [], { pids });
    await until(() => !isAlive(pids[0]!));
    const second = setUp();
    await second.run('mine.pid', [], { pids });
    second.pool.recycle();
    await until(() => !isAlive(pids[1]!));
    await second.run('mine.pid', [], { pids });
    expect(pids[2]).not.toBe(pids[1]);
    expect(pool.running()).toEqual([]);
  });

  it('finish without the daemon and leave the result in the spool', async () => {
    const { pool, run } = setUp();
    const spool = join(folder, 'spool', 'result.p');
    const pids: number[] = [];
    const progress: string[] = [];
    void run('mine.slowly', ['x'], { spool, pids, progress, jid: '20200101000000222222' });
    await until(() => progress.length === 1);
    await pool.stop('leave');
    await until(() => !isAlive(pids[0]!));
    expect(readdirSync(join(folder, 'spool'))).toEqual(['result.p']);
    const load = unpack(readFileSync(spool)) as PlainDict;
    expect({ ...load }).toMatchObject({
      cmd: '_return',
      id: 'm1',
      jid: '20200101000000222222',
      fun: 'mine.slowly',
      return: 'late',
      success: true,
    });
  });

  it('keeps on although the daemon ends right after the job was said to have begun', async () => {
    const { pool, run } = setUp();
    const spool = join(folder, 'spool-begun', 'result.p');
    const pids: number[] = [];
    void run('mine.slowly', ['x'], { spool, pids, jid: '20200101000000333333' });
    await until(() => pids.length === 1);
    await pool.stop('leave');
    await until(() => !isAlive(pids[0]!));
    expect((unpack(readFileSync(spool)) as PlainDict)['return']).toBe('late');
  });

  it('says so when the daemon ends before the process could begin', async () => {
    const { pool, run } = setUp();
    const pids: number[] = [];
    const outcome = run('mine.slowly', ['x'], { pids });
    await pool.stop('leave');
    expect(await outcome).toMatchObject({ success: false, return: 'ERROR: The minion stopped before the job started' });
    expect(pids).toEqual([]);
  });
});
