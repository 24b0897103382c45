// The pool of pillar workers: started when needed, ended when idle, replaced when they die.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { pack } from '../../base/codec/msgpack/index.ts';
import { newDict, type Value } from '../../base/codec/value.ts';
import { PillarPool, type PillarPoolOptions } from './pool.ts';

const logged: string[] = [];
const note = (text: string): void => void logged.push(text);
const log = { debug: note, info: note, warn: note, error: note };

const pools: PillarPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
  logged.length = 0;
});

const answerOf = (value: Value): string => pack(value, { bin: true }).toString('base64');
const answered = answerOf(newDict([['ok', true]]));

/** A worker of the test; `body` handles a message `m` and may call `done(n)`. */
function entry(body: string): URL {
  const code = `import { existsSync, writeFileSync } from 'node:fs';
    import { parentPort, threadId } from 'node:worker_threads';
    const done = (n) => parentPort.postMessage({ t: 'done', n, body: Buffer.from('${answered}', 'base64') });
    const log = (text) => parentPort.postMessage({ t: 'log', level: 'info', text, fields: {} });
    parentPort.on('message', (m) => { ${body} });`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

function open(body: string, options: Partial<PillarPoolOptions> = {}): PillarPool {
  const pool = new PillarPool({ opts: { id: 'm' }, log, entry: entry(body), ...options });
  pools.push(pool);
  return pool;
}

const request = { minionId: 'web1', grains: newDict() };

describe('pillar pool', () => {
  it('starts nothing before the first request, then one thread for little work', async () => {
    const pool = open('done(m.n)');
    expect(pool.threads).toBe(0);
    expect({ ...(await pool.compile(request)) }).toEqual({ ok: true });
    await pool.compile(request);
    expect(pool.threads).toBe(1);
  });

  it('distributes work over the allowed number of threads', async () => {
    const pool = open('log(String(threadId)); setTimeout(() => done(m.n), 50)', { workers: 3 });
    await Promise.all(Array.from({ length: 40 }, () => pool.compile(request)));
    expect(pool.threads).toBe(3);
    expect(new Set(logged).size).toBe(3);
    expect(logged).toHaveLength(40);
  });

  it('ends idle threads', async () => {
    const pool = open('done(m.n)', { idleMs: 20 });
    await pool.compile(request);
    await eventually('the thread to end', () => pool.threads === 0);
    expect({ ...(await pool.compile(request)) }).toEqual({ ok: true });
  });

  it('replaces threads that are old, and lets them finish', async () => {
    const pool = open('log(String(threadId)); setTimeout(() => done(m.n), 60)', { workers: 1, ageMs: 1 });
    const first = pool.compile(request);
    await eventually('the first thread to work', () => logged.length === 1);
    const second = pool.compile(request);
    await Promise.all([first, second]);
    expect(new Set(logged).size).toBe(2);
  });

  it('fails work that kills two threads', async () => {
    const dies = open('process.exit(1)', { workers: 1 });
    await expect(dies.compile(request)).rejects.toThrow('The pillar worker ended while compiling this pillar');
  });

  it('does the work of a thread that died in a new one', async () => {
    const marker = join(mkdtempSync(join(tmpdir(), 'halite-pool-')), 'died');
    const dieOnce = `if (!existsSync(${JSON.stringify(marker)})) { writeFileSync(${JSON.stringify(marker)}, ''); process.exit(1); } else done(m.n);`;
    const pool = open(dieOnce, { workers: 1 });
    const results = await Promise.all([pool.compile(request), pool.compile(request)]);
    rmSync(dirname(marker), { recursive: true });
    expect(results.map((pillar) => ({ ...pillar }))).toEqual([{ ok: true }, { ok: true }]);
  });

  it('reports the error of a worker and continues', async () => {
    const pool = open(
      "if (m.n === 1) parentPort.postMessage({ t: 'failed', n: 1, message: 'no luck' }); else done(m.n)",
    );
    await expect(pool.compile(request)).rejects.toThrow('no luck');
    expect({ ...(await pool.compile(request)) }).toEqual({ ok: true });
  });

  it('cancels work that takes too long and informs the worker', async () => {
    const pool = open(
      "log(m.t); if (m.t === 'abort') parentPort.postMessage({ t: 'failed', n: m.n, message: 'aborted' })",
      {
        deadlineMs: 30,
        workers: 1,
      },
    );
    await expect(pool.compile(request)).rejects.toThrow('took too long');
    await eventually('the worker to be informed', () => logged.includes('abort'));
    expect(pool.threads).toBe(1);
  });

  it('refuses work after it was closed, and rejects waiting callers', async () => {
    const pool = open('', { workers: 1 });
    const waiting = pool.compile(request);
    const caught = expect(waiting).rejects.toThrow('The master is ending');
    await pool.close();
    await caught;
    await expect(pool.compile(request)).rejects.toThrow('The master is ending');
    expect(pool.threads).toBe(0);
  });
});
