// The effects of the options of salt-call.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadMinionConfig } from '../../base/config/minion.ts';
import { readCommandLine } from '../command-line.ts';
import { statusOf } from '../main.ts';
import { saltCallSpec } from '../options/salt-call.ts';
import { loadSettings } from '../settings.ts';
import { captureTerminal } from '../testing.ts';
import { becomeUser } from '../user.ts';
import { saltCall } from './command.ts';
import { applyCallOptions, isLocal, moduleDirs } from './options.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-call-'));
  writeFileSync(join(root, 'minion'), 'id: m1\nmaster: configured\n');
});
afterEach(() => rmSync(root, { recursive: true }));

async function settle(...argv: string[]) {
  const io = captureTerminal();
  const spec = saltCallSpec();
  const parsed = await readCommandLine(spec, ['-c', root, ...argv], io);
  const settings = loadSettings({ spec, parsed, load: loadMinionConfig, io });
  applyCallOptions(settings);
  return { settings, raw: settings.opts.raw, io };
}

it('uses roots with --local, and warns without', async () => {
  const { settings, raw, io } = await settle('--local', '--file-root', '/a', '--pillar-root=/p', '--file-root', '/b');
  expect(raw['file_roots']).toEqual({ base: ['/a', '/b'] });
  expect(raw['pillar_roots']).toEqual({ base: ['/p'] });
  expect([raw['file_client'], isLocal(settings), io.stderr]).toEqual(['local', true, '']);
  const remote = await settle('--file-root', '/a', '--pillar-root', '/p');
  expect(isLocal(remote.settings)).toBe(false);
  expect(remote.io.stderr).toMatch(
    /^Warning: --file-root, --pillar-root are ignored because --local was not specified;/,
  );
});

it('keeps the configured master unless one is named', async () => {
  expect((await settle()).raw['master']).toBe('configured');
  expect((await settle('--master', 'other')).raw['master']).toBe('other');
});

it('splits module folders at commas', () => {
  expect(moduleDirs(['/a,/b', '/c'])).toEqual(['/a', '/b', '/c']);
});

it('needs something to do', async () => {
  const io = captureTerminal();
  expect(await statusOf(() => saltCall(['-c', root], io), io)).toBe(64);
  expect(io.stdout).toMatch(/^Usage: salt-call \[options\] <function> \[arguments\]\n/);
  expect(io.stderr).toContain('salt-call: error: Requires function, --grains or --doc\n');
  expect(await statusOf(() => saltCall(['-c', root, '-g', 'test.ping'], io), io)).toBe(64);
});

it('prints documentation without a master', async () => {
  const io = captureTerminal();
  expect(await statusOf(() => saltCall(['-c', root, '-d', 'test.ping'], io), io)).toBe(0);
  expect(io.stdout).toMatch(/^test\.ping:\n\n {4}/);
});

it('names a user that does not exist', () => {
  expect(() => becomeUser('no-such-user-here')).toThrowError(
    expect.objectContaining({ message: 'User not found: "no-such-user-here"', details: { exitCode: 67 } }),
  );
});
