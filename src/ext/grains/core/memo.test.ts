// A program runs once, also for later processes, and runs again when the program file has changed.
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GrainContext } from 'halite/sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-memo-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Simulates a new process: the memory is empty. */
async function freshAsk() {
  vi.resetModules();
  return (await import('./memo.ts')).askOnce;
}

function setUp(timedOut = false) {
  const program = join(folder, 'tool');
  writeFileSync(program, 'x');
  let runs = 0;
  const exec = async () => ({ pid: 1, retcode: 0, stdout: `answer ${++runs}`, stderr: '', timedOut });
  const ctx = { opts: { cachedir: join(folder, 'cache') }, exec } as unknown as GrainContext;
  return { program, ctx };
}

describe('askOnce', () => {
  it('runs the program once, for this process and the next', async () => {
    const { program, ctx } = setUp();
    const first = await freshAsk();
    expect((await first(ctx, program, ['-v'])).stdout).toBe('answer 1');
    expect((await first(ctx, program, ['-v'])).stdout).toBe('answer 1');
    expect((await first(ctx, program, ['-w'])).stdout).toBe('answer 2');
    const next = await freshAsk();
    expect((await next(ctx, program, ['-v'])).stdout).toBe('answer 1');
    expect((await next(ctx, program, ['-w'])).stdout).toBe('answer 2');
  });

  it('runs it again when the program changed or the cache is damaged', async () => {
    const { program, ctx } = setUp();
    await (await freshAsk())(ctx, program, []);
    utimesSync(program, 1, 1);
    expect((await (await freshAsk())(ctx, program, [])).stdout).toBe('answer 2');
    const kept = join(folder, 'cache', 'program-answers.json');
    expect(readFileSync(kept, 'utf8')).toContain('answer 2');
    writeFileSync(kept, '{"x": 1, ');
    expect((await (await freshAsk())(ctx, program, [])).stdout).toBe('answer 3');
  });

  it('does not cache the output of a program that took too long', async () => {
    const { program, ctx } = setUp(true);
    await (await freshAsk())(ctx, program, []);
    expect((await (await freshAsk())(ctx, program, [])).stdout).toBe('answer 2');
  });
});
