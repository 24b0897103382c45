import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { preparedProgram } from '../../../test/support/servers/server.ts';
import type { Terminal } from '../io.ts';
import { commandSpecs } from '../options/all.ts';
import { candidates } from './candidates.ts';
import { complete } from './command.ts';
import { manPage } from './man-page.ts';
import { readTypedLine } from './typed-line.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-complete-'));
  const pki = join(folder, 'pki');
  for (const state of ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'])
    mkdirSync(join(pki, state), { recursive: true });
  for (const id of ['web1', 'web2', 'db1', 'web\u001b[2J']) writeFileSync(join(pki, 'minions', id), 'key');
  writeFileSync(join(pki, 'minions_pre', 'new1'), 'key');
  const lines = [`pki_dir: ${pki}`, `root_dir: ${folder}`, 'user: root', 'nodegroups: {webs: "web*", dbs: "L@db1"}'];
  writeFileSync(join(folder, 'master'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'minion'), `root_dir: ${folder}\nid: m1\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const values = async (line: string): Promise<string[]> =>
  (await candidates(readTypedLine(line.replace(/^(\S+)/, `$1 -c ${folder}`)))).map(({ value }) => value);

describe('a manual page', () => {
  it.runIf(preparedProgram('man', 'man-db'))('of each command is one that man reads without a warning', () => {
    for (const [name, spec] of commandSpecs) {
      const file = join(folder, `${name}.1`);
      writeFileSync(file, manPage(spec(), '1.2.3'));
      const { stdout, stderr } = spawnSync('man', ['--warnings', '-l', file], {
        env: { ...process.env, MANWIDTH: '100', LC_ALL: 'C.UTF-8' },
        encoding: 'utf8',
      });
      expect([name, stderr]).toEqual([name, '']);
      const shown = stdout.replace(/.\u0008/g, '').replaceAll('\u2010', '-');
      for (const { flags } of spec().options) expect(shown).toContain(flags.at(-1));
    }
  });
});

describe('completion', () => {
  it.each([
    ['salt we', ['web1', 'web2']],
    ['salt -L db1,we', ['db1,web1', 'db1,web2']],
    ['salt -N ', ['webs', 'dbs']],
    ['salt -G os:', []],
    ['salt web1 test.pi', ['test.ping']],
    ['salt --async web1 -t 5 test.pi', ['test.ping']],
    ["salt 'web*' test.pi", ['test.ping']],
    ['salt web1 state.apply mods=a test=True --out=js', ['--out=json']],
    ['salt --state-outp', ['--state-output']],
    ['salt-key -a ', ['new1']],
    ['salt-key -d w', ['web1', 'web2']],
    ['salt-run jobs.list_j', ['jobs.list_job', 'jobs.list_jobs', 'jobs.list_jobs_filter']],
    ['salt-cp we', ['web1', 'web2']],
    ['halite comp', ['compare', 'completion']],
    ['halite completion ', ['bash', 'zsh', 'fish']],
    ['halite mi', ['migrate']],
    ['halite migrate ', ['check', 'run', 'back', 'done']],
    ['halite config log_level', ['log_level', 'log_level_logfile']],
    ['halite explain w', ['web1', 'web2']],
    ['rm we', []],
    ['', []],
  ])('%s', async (line, expected) => {
    expect(await values(line)).toEqual(expected);
  });

  it('offers parameters that were not given yet', async () => {
    expect(await values('salt-call --local file.copy /a ')).toEqual(expect.arrayContaining(['dst=', 'recurse=']));
    expect(await values('salt-call --local file.copy /a dst=/b ')).not.toContain('dst=');
    expect(await values('salt-call --local file.copy /a ')).not.toContain('src=');
  });

  it('knows the functions of modules that exist on some systems only', async () => {
    expect(await values('salt web1 pkg.inst')).toContain('pkg.install');
  });

  it('gives bash no id that the shell would run, and other shells quote it', async () => {
    const id = 'odd;$(touch x)';
    writeFileSync(join(folder, 'pki/minions_pre', id), 'key');
    const printed = async (shell: string): Promise<string> => {
      let said = '';
      const io = { out: (text: string) => (said += text) } as unknown as Terminal;
      await complete([shell, `salt-key -c ${folder} -r `], io);
      return said;
    };
    try {
      expect(await printed('fish')).toContain(`${id}\n`);
      expect(await printed('bash')).toBe('new1\ndb1\nweb1\nweb2\n');
    } finally {
      rmSync(join(folder, 'pki/minions_pre', id));
    }
  });

  it('reads lines of any length and with open quotes', async () => {
    expect(readTypedLine(`salt "a b" 'c`)).toEqual({ words: ['salt', 'a b'], current: 'c', typed: "'c" });
    expect(readTypedLine('salt a\\ b ')).toEqual({ words: ['salt', 'a b'], current: '', typed: '' });
    expect(await values(`salt ${'x'.repeat(1_000_000)}`)).toEqual([]);
  });
});
