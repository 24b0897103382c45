// `npm start` in a checkout that was never built: the daemons and the console start, no build process stays, and everything ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { treeOf } from '../../src/engine/exec/process-tree.ts';
import { eventually } from '../support/eventually.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const clone = mkdtempSync(join(tmpdir(), 'halite-clone-'));
afterAll(() => rmSync(clone, { recursive: true, force: true }));

const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It ended in between.
    return '';
  }
};

it('starts a master and three minions and leaves no builder running', async () => {
  for (const name of [
    'bin',
    'console',
    'python',
    'scripts',
    'src',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ])
    cpSync(join(checkout, name), join(clone, name), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(clone, 'node_modules'));
  // Dependencies that are not current would be installed, which is the preparation's work.
  const env = { ...process.env, npm_config_offline: 'true' };
  const start = spawn(process.execPath, [join(clone, 'scripts/start.mjs')], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const output: string[] = [];
  for (const stream of [start.stdout, start.stderr]) stream.on('data', (text) => output.push(String(text)));
  const ended = once(start, 'exit');
  try {
    await eventually('the playground to be ready', () => output.join('').includes('ready. In another terminal'), {
      timeoutMs: 240_000,
      describe: () => output.join(''),
      abort: () => start.exitCode !== null,
    });
    expect(output.join('')).toContain('building');
    const running = treeOf([start.pid ?? 0]).map(commandLine);
    expect(running.filter((line) => line.includes('esbuild'))).toEqual([]);
    expect(running.filter((line) => line.includes('salt-minion')).length).toBeGreaterThanOrEqual(3);
    const [, address = ''] = /The console: (http:\S+)/.exec(output.join('')) ?? [];
    expect(await (await fetch(address)).text()).toContain('<title>Halite</title>');
    const [, token = '', fleet = ''] = /Bearer ([0-9a-f]+)' (http:\S+)/.exec(output.join('')) ?? [];
    const answer = await fetch(fleet, { headers: { Authorization: `Bearer ${token}` } });
    expect(await answer.json()).toMatchObject({ total: 3 });
  } finally {
    start.kill('SIGTERM');
    await ended;
  }
  expect(output.join('')).toContain('stopped');
});
