// Packages of Python and Node.js for real, from local files and without a network.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StateResult, Value } from 'halite/sdk';
import { applyState, testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import cmd from '../../src/ext/modules/cmd/index.ts';
import config from '../../src/ext/modules/config.ts';
import cp from '../../src/ext/modules/cp/index.ts';
import file from '../../src/ext/modules/file/index.ts';
import npm from '../../src/ext/modules/npm.ts';
import pip from '../../src/ext/modules/pip/index.ts';
import user from '../../src/ext/modules/useradd.ts';
import virtualenv from '../../src/ext/modules/virtualenv_mod.ts';
import pipState from '../../src/ext/states/pip/index.ts';
import virtualenvState from '../../src/ext/states/virtualenv/index.ts';

const modules = [cmd, config, cp, file, npm, pip, user, virtualenv];
const options = { modules, states: [pipState, virtualenvState], opts: { cachedir: tmpdir() } };
const folder = mkdtempSync(join(tmpdir(), 'halite-packages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const works = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const hasPython = works('python3', '-c', 'import venv, ensurepip');
const hasNpm = works('npm', '--version');
if (!hasPython) console.warn('SKIPPED: no Python with venv here');
if (!hasNpm) console.warn('SKIPPED: no npm here');

/** Under test, applied, applied again. */
async function thrice(fun: string, args: Record<string, Value>): Promise<StateResult[]> {
  const results: StateResult[] = [];
  for (const test of [true, false, false]) results.push(await applyState({ ...options, test }, fun, args));
  return results;
}

/** A wheel is an archive with a few texts in it. */
function makeWheel(version: string): void {
  const info = `demo-${version}.dist-info`;
  const texts = {
    'demo.py': `version = "${version}"\n`,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: demo\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `demo.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  };
  const script =
    'import sys,json,zipfile\nwith zipfile.ZipFile(sys.argv[1],"w") as z:\n [z.writestr(k,v) for k,v in json.load(sys.stdin).items()]';
  const path = join(folder, 'wheels', `demo-${version}-py3-none-any.whl`);
  const made = spawnSync('python3', ['-c', script, path], { input: JSON.stringify(texts) });
  if (made.status !== 0) throw new Error(made.stderr.toString());
}

describe.skipIf(!hasPython)('Python', () => {
  const venv = join(folder, 'venv');
  beforeAll(() => {
    mkdirSync(join(folder, 'wheels'));
    makeWheel('1.0');
  });

  it('has an environment and packages in it as wanted', async () => {
    const made = await thrice('virtualenv.managed', { name: venv, venv_bin: 'venv' });
    expect(made.map(({ result }) => result)).toEqual([null, true, true]);
    expect(existsSync(join(venv, 'bin/python'))).toBe(true);
    expect(Object.keys(made[2]?.changes ?? {})).toEqual([]);
    const local = { bin_env: venv, no_index: true, find_links: join(folder, 'wheels') };
    const first = await thrice('pip.installed', { name: 'demo==1.0', ...local });
    expect(first[0]).toMatchObject({ result: null });
    expect(first[1]).toMatchObject({ result: true, changes: { 'demo==1.0': 'Installed' } });
    expect(first[2]).toMatchObject({ result: true, changes: {} });
  });
});

describe.skipIf(!hasNpm)('Node.js', () => {
  it('has packages of a project as wanted', async () => {
    const [project, demo] = [join(folder, 'project'), join(folder, 'package')];
    mkdirSync(project);
    mkdirSync(demo);
    writeFileSync(join(project, 'package.json'), '{"name":"project","version":"1.0.0"}');
    writeFileSync(join(demo, 'package.json'), '{"name":"demo","version":"1.2.3"}');
    const archive = join(folder, 'demo-1.2.3.tgz');
    expect(works('tar', '-czf', archive, '-C', folder, 'package')).toBe(true);
    const call = (fun: string, args: Value[]): Promise<Value> =>
      testContext(options).callWith(fun, args, {
        dir: project,
        env: { npm_config_offline: 'true', npm_config_audit: 'false' },
      });
    await call('npm.install', [archive]);
    expect(await call('npm.list', [])).toMatchObject({ demo: { version: '1.2.3' } });
    expect(await call('npm.uninstall', ['demo'])).toBe(true);
    expect(await call('npm.list', [])).toEqual({});
  });
});
