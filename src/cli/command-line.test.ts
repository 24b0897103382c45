// --help, --version, usage errors; and how Saltfile, configuration and command line are combined.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadClientConfig } from '../base/config/client.ts';
import { haliteVersion } from '../base/util/version.ts';
import { readCommandLine } from './command-line.ts';
import { statusOf } from './main.ts';
import { saltSpec } from './options/salt.ts';
import { commandSpecs } from './options/testing.ts';
import { loadSettings } from './settings.ts';
import { captureTerminal } from './testing.ts';

describe('early answers', () => {
  const early = async (prog: string, ...argv: string[]) => {
    const io = captureTerminal();
    const code = await statusOf(async () => {
      await readCommandLine(commandSpecs[prog]!(), argv, io);
      return -1;
    }, io);
    return { code, stdout: io.stdout, stderr: io.stderr };
  };

  it.each(Object.keys(commandSpecs))(
    '%s --version prints the compatible release where installers expect it',
    async (prog) => {
      const { code, stdout } = await early(prog, '--version');
      expect([code, stdout]).toEqual([0, `${prog} 3006.27 (Halite ${haliteVersion})\n`]);
    },
  );

  it('prints help with groups, independent of what follows', async () => {
    const { code, stdout } = await early('salt', '--help', '--nosuch');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: salt \[options\] '<target>' <function> \[arguments\]\n/);
    for (const title of ['Target Options:', 'Output Options:', 'Logging Options:'])
      expect(stdout).toContain(`\n  ${title}\n`);
  });

  it('answers usage errors with usage, message, suggestion and 64', async () => {
    const { code, stdout, stderr } = await early('salt', '--verbos', '--summry');
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toBe(
      "Usage: salt [options] '<target>' <function> [arguments]\n\nsalt: error: no such option: --summry\nDid you mean --summary?\n",
    );
  });

  it('prints a versions report', async () => {
    const { stdout } = await early('salt-minion', '-V');
    expect(stdout).toMatch(/^Salt Version:\n +Salt: 3006\.27\n +Halite: /);
    expect(stdout).toContain(`Node: ${process.version.slice(1)}\n`);
  });
});

describe('settings', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'halite-settings-'));
    vi.stubEnv('HOME', folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const settle = async (files: Record<string, string>, ...argv: string[]) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const io = captureTerminal();
    const spec = saltSpec();
    const parsed = await readCommandLine(spec, ['-c', folder, '--saltfile', join(folder, 'Saltfile'), ...argv], io);
    return { settings: loadSettings({ spec, parsed, load: loadClientConfig, io }), io };
  };

  it('uses the command line, then the Saltfile, then the files, then defaults', async () => {
    const files = {
      master: 'timeout: 7\nstate_output: terse\nshow_jid: true\n',
      Saltfile: 'salt:\n  state_output: mixed\n  static: true\nsalt-key:\n  quiet: true\n',
    };
    const { settings } = await settle(files, '--state-verbose=false', 'web*', 'test.ping');
    const { values, opts } = settings;
    expect(values).toMatchObject({
      timeout: 7,
      state_output: 'mixed',
      static: true,
      show_jid: true,
      state_verbose: false,
    });
    expect(values['batch']).toBe('');
    expect(opts.get('state_verbose')).toBe(false);
    const { settings: typed } = await settle(files, '--state-output=full', '-t', '3');
    expect(typed.values).toMatchObject({ state_output: 'full', timeout: 3 });
    expect(typed.opts.timeout).toBe(3);
  });

  it('names a broken file with line and excerpt, and exits with 1', async () => {
    const io = captureTerminal();
    const code = await statusOf(async () => {
      await settle({ Saltfile: '', master: 'a: b\nfoo: [1, 2\nbar: x\n' });
      return 0;
    }, io);
    expect(code).toBe(1);
    expect(io.stderr).toContain(`Error parsing configuration file: ${join(folder, 'master')}`);
    expect(io.stderr).toMatch(/line \d/);
  });

  it('warns about a missing folder', async () => {
    const io = captureTerminal();
    const spec = saltSpec();
    const missing = join(folder, 'nowhere');
    const parsed = await readCommandLine(spec, ['-c', missing], io);
    loadSettings({ spec, parsed, load: loadClientConfig, io });
    expect(io.stderr).toContain(`WARNING: CONFIG '${missing}' directory does not exist.\n`);
  });

  it('splits --no-parse and reads environment defaults', async () => {
    vi.stubEnv('SALT_NO_PARSE', 'a, b');
    const { settings } = await settle({ master: '', Saltfile: '' });
    expect(settings.values['no_parse']).toEqual(['a', 'b']);
    const { settings: typed } = await settle({ master: '', Saltfile: '' }, '--no-parse', 'c');
    expect(typed.values['no_parse']).toEqual(['c']);
  });
});
