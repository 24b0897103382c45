import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CommandNotFoundError } from './errors.ts';
import { execProgram } from './exec.ts';
import { isAlive, killTree, listProcesses, treeOf } from './process-tree.ts';

const sh = (script: string, options = {}, signal?: AbortSignal) =>
  execProgram('/bin/sh', ['-c', script], options, signal);

async function until(check: () => boolean, ms = 45_000): Promise<void> {
  const end = Date.now() + ms;
  while (!check()) {
    if (Date.now() > end) throw new Error('condition not met in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('execProgram', () => {
  it('gives output, error output and status', async () => {
    const result = await sh('echo out; echo err >&2; exit 3');
    expect(result).toMatchObject({ retcode: 3, stdout: 'out\n', stderr: 'err\n', timedOut: false });
    expect((await sh('kill -9 $$')).retcode).toBe(137);
  });

  it('calls a program by the name it is given', async () => {
    expect((await execProgram('/bin/sh', ['-c', 'echo $0'], { argv0: 'grep' })).stdout).toBe('grep\n');
    expect((await execProgram('/bin/sh', ['-c', 'echo $0'], {})).stdout).toBe('/bin/sh\n');
  });
  it('passes arguments untouched, feeds input and sets the environment', async () => {
    const odd = ['$(id)', '; rm', "it's", ''];
    const printed = await execProgram('/usr/bin/printf', ['%s|', ...odd], {});
    expect(printed.stdout).toBe(odd.map((item) => `${item}|`).join(''));
    expect((await sh('cat', { input: 'äöü' })).stdout).toBe('äöü');
    expect((await sh('true', { input: 'x'.repeat(1 << 20) })).retcode).toBe(0);
    expect((await execProgram('/usr/bin/env', [], { cleanEnv: true, env: { A: '1' } })).stdout).toBe('A=1\n');
    expect((await sh('umask', { umask: 0o027 })).stdout).toBe('0027\n');
    expect((await sh('pwd', { cwd: '/' })).stdout).toBe('/\n');
  });

  it('keeps the order of merged output and streams it', async () => {
    const pieces: string[] = [];
    const onOutput = (text: string) => void pieces.push(text);
    const result = await sh('echo 1; echo 2 >&2; echo 3', { mergeStderr: true, onOutput });
    expect(result).toMatchObject({ stdout: '1\n2\n3\n', stderr: '' });
    expect(pieces.join('')).toBe('1\n2\n3\n');
  });

  it('gives real pipes, which can be opened by name', async () => {
    const result = await sh('cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr', { input: 'in\n' });
    expect(result).toMatchObject({ retcode: 0, stdout: 'in\nout\n', stderr: 'err\n' });
    const merged = await sh('echo 1; echo 2 | tee /dev/stderr; test -p /dev/fd/2 && echo pipe', { mergeStderr: true });
    expect(merged.stdout).toBe('1\n2\n2\npipe\n');
  });

  it('runs many at once, and leaves no descriptor open', async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    await sh('true');
    const before = open();
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
    const results = await Promise.all(texts.map((text) => sh('cat; cat >&2 < /dev/null', { input: text })));
    expect(results.map(({ stdout }) => stdout)).toEqual(texts);
    await Promise.allSettled(texts.map(() => execProgram('halite-no-such-program', [], { input: 'x' })));
    // Pipes created in advance are kept.
    await until(() => open() <= before + 9);
  });

  it('bounds the output without blocking the program', async () => {
    const result = await sh('head -c 1000000 /dev/zero | tr "\\0" x', { maxOutputBytes: 1000 });
    expect(result.stdout).toBe(`${'x'.repeat(1000)}\n[999000 more bytes of output were left out]`);
  });

  it('reports what is missing', async () => {
    await expect(execProgram('halite-no-such-program', [], {})).rejects.toBeInstanceOf(CommandNotFoundError);
    await expect(execProgram('halite-no-such', [], { mergeStderr: true })).rejects.toBeInstanceOf(CommandNotFoundError);
    await expect(sh('true', { cwd: '/no/such/dir' })).rejects.toThrow('The directory /no/such/dir does not exist');
  });

  it('ends the whole tree at the deadline, orphans and background jobs included', async () => {
    const script = `sleep 300 & (sleep 301 & sleep 302 & echo $! ; wait) & sh -c 'sleep 303 & echo $!; exit 0'; wait`;
    const result = await sh(script, { timeoutMs: 400 });
    expect(result.timedOut).toBe(true);
    for (const pid of result.stdout.trim().split('\n').map(Number)) expect(isAlive(pid)).toBe(false);
    expect(treeOf([result.pid])).toEqual([]);
  });

  it('does not wait for a process that left the session but kept the pipe', async () => {
    const result = await sh('setsid sleep 20 & sleep 300', { timeoutMs: 300 });
    expect(result.timedOut).toBe(true);
    const left = listProcesses().filter((info) => info.session === result.pid && !info.zombie);
    expect(left).toEqual([]);
  });

  it('ends the tree when the job is aborted', async () => {
    const control = new AbortController();
    let pid = 0;
    const running = execProgram('/bin/sh', ['-c', 'sleep 300 & wait'], {}, control.signal, {
      started: (started) => {
        pid = started;
      },
      ended: () => undefined,
    });
    await until(() => treeOf([pid]).length === 2);
    control.abort();
    await expect(running).rejects.toThrow();
    expect(treeOf([pid])).toEqual([]);
  });
});

describe('killTree', () => {
  it('never touches this process or init', async () => {
    expect(treeOf([process.pid, 1, 0, -1])).toEqual([]);
    expect((await killTree([process.pid])).gone).toBe(true);
  });
});
