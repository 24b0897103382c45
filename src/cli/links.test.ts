// References to secret stores in the options that commands on the master read.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadClientConfig } from '../base/config/client.ts';
import { loadCommandSettings, loadLinkedSettings } from './links.ts';
import { saltSpec } from './options/salt.ts';
import { parseCommandLine } from './optparse.ts';
import { captureTerminal } from './testing.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'links-'));
  mkdirSync(join(root, 'home'));
  writeFileSync(join(root, 'secrets.yaml'), 'east: web*\npause: 7\nstyle: terse\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const settingsWith = (master: string, load = loadCommandSettings) => {
  writeFileSync(join(root, 'master'), `store: {driver: yaml, files: [${root}/secrets.yaml]}\n${master}`);
  const spec = saltSpec();
  const home = join(root, 'home');
  return load({
    spec,
    parsed: parseCommandLine(spec, ['-c', root, '*', 'test.ping']),
    load: (request) => loadClientConfig({ ...request, home, env: { HOME: home } }),
    io: captureTerminal(),
  });
};

describe('a command on the master', () => {
  it('resolves references in its own options and in those it reads of the configuration', async () => {
    const settings = await settingsWith('timeout: sdb://store/pause\nnodegroups: {east: sdb://store/east}\n');
    expect(settings.values['timeout']).toBe(7);
    expect(settings.opts.get('nodegroups')).toEqual({ east: 'web*' });
  });

  it("resolves references in the user's own file", async () => {
    writeFileSync(join(root, 'home/.saltrc'), 'state_output: sdb://store/style\n');
    expect((await settingsWith('')).values['state_output']).toBe('terse');
  });

  it('does not query stores for options that only the master needs', async () => {
    const away = 'gone: {driver: nosuch}\nmysql.pass: sdb://gone/x\n';
    expect((await settingsWith(away)).opts.get('mysql.pass')).toBe('sdb://gone/x');
    await expect(settingsWith(away, loadLinkedSettings)).rejects.toThrow(
      'The option mysql.pass contains a reference to a secret store that cannot be resolved',
    );
  });
});
