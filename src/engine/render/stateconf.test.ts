// The stateconf renderer on runs of files; what each file gives was recorded from Salt 3006.27.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { dumpJson } from '../../base/codec/json/index.ts';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { Loader } from '../../extend/loader/index.ts';
import { type RenderHost, renderFile } from './index.ts';

interface RecordedFile {
  readonly sls: string;
  readonly text: string;
  readonly data?: string;
  readonly error?: string;
}

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/renderers/stateconf.json', import.meta.url), 'utf8'),
) as RecordedFile[][];

const folder = mkdtempSync(join(tmpdir(), 'halite-stateconf-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function host(run: object, opts: PlainDict = newDict()): RenderHost {
  return {
    loader: new Loader({ opts: () => opts, grains: () => newDict(), log, userCode: 'names' }),
    log,
    opts,
    run,
    grains: newDict(),
    pillar: newDict(),
    files: { cacheFile: async () => undefined },
    functions: { modules: async () => new Set(), has: async () => false, call: async () => null },
    exec: () => Promise.reject(new Error('nothing runs here')),
  };
}

async function render(file: { readonly sls: string; readonly text: string }, on: RenderHost): Promise<string> {
  const path = join(folder, `${file.sls.replaceAll('.', '/')}.sls`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, file.text);
  return dumpJson(await renderFile(on, path, { sls: file.sls, saltenv: 'base' }));
}

describe('stateconf', () => {
  it.each(recorded.map((run) => [run.map((file) => file.sls).join(', '), run] as const))('%s', async (_, run) => {
    const on = host({});
    for (const file of run) {
      const result = await render(file, on).catch((error: Error) => (error.message.split('\n') as [string])[0]);
      expect(result, file.sls).toBe(file.data ?? file.error);
    }
  });

  it('takes its names from the configuration', async () => {
    const opts = newDict([
      ['stateconf_end_marker', '## code'],
      ['stateconf_goal_state', '.done'],
      ['stateconf_start_state', '.begin'],
    ]);
    const text = '#!stateconf -s\n.p:\n  stateconf.set:\n    - a: 5\n## code\nx:\n  test.nop:\n    - name: {{ p.a }}\n';
    const data = await render({ sls: 'own', text }, host({}, opts));
    expect(Object.keys(JSON.parse(data) as object)).toEqual(['x', 'own::p', 'own::begin', 'own::done']);
    expect(data).toContain('"name": 5');
  });

  it('does not see files of other runs', async () => {
    const one = { sls: 'one', text: '#!stateconf\n.p:\n  stateconf.set:\n    - a: 5\n' };
    const text = '#!stateconf -G\nx:\n  test.nop:\n    - name: {{ p is defined }}\n';
    const run = host({});
    await render(one, run);
    expect(await render({ sls: 'one', text }, run)).toContain('true');
    expect(await render({ sls: 'one', text }, host({}))).toContain('false');
  });

  it('refuses renderers that run Python, and data without -p', async () => {
    await expect(render({ sls: 'm', text: '#!stateconf yaml . mako\na: test.nop\n' }, host({}))).rejects.toThrow(
      'needs Python',
    );
    await expect(render({ sls: 'm', text: '#!yaml|stateconf\na: test.nop\n' }, host({}))).rejects.toThrow(
      'only with -p',
    );
  });
});
