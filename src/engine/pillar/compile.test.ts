// Compiled pillars equal to those of a real Salt master, over recorded trees.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { pyRepr } from '../../base/codec/python/index.ts';
import { type Dict, dictGet, dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadJson } from '../../base/codec/json/index.ts';
import { compilePillar } from './compile.ts';
import { createProcessHost } from './process-host.ts';

interface Case {
  readonly name: string;
  readonly files: Record<string, string>;
  readonly opts?: PlainDict;
  readonly grains?: PlainDict;
  readonly minion?: string;
  readonly saltenv?: string;
  readonly pillarenv?: string;
  readonly override?: Value;
  readonly extra?: Value;
  readonly expect: string;
}

const fixture = join(import.meta.dirname, '../../../test/fixtures/pillar/cases.json');
const { grains, cases } = loadJson(readFileSync(fixture, 'utf8')) as unknown as { grains: PlainDict; cases: Case[] };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function expand(value: Value, root: string): Value {
  if (typeof value === 'string') return value.replaceAll('<ROOT>', root);
  if (Array.isArray(value)) return value.map((item) => expand(item, root));
  if (value === null || typeof value !== 'object' || !(Object.getPrototypeOf(value) === null)) return value;
  return newDict(Object.entries(value as PlainDict).map(([key, item]) => [expand(key, root) as string, expand(item, root)]));
}

async function compiled(test: Case): Promise<{ pillar: Dict; root: string }> {
  const root = mkdtempSync(join(tmpdir(), 'halite-pillar-'));
  folders.push(root);
  for (const [name, text] of Object.entries(test.files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const opts = newDict([
    ['id', 'master'],
    ['renderer', 'jinja|yaml'],
    ['state_top', 'top.sls'],
    ['cachedir', join(root, 'cache')],
    ['conf_file', join(root, 'etc/master')],
    ['pillar_roots', newDict([['base', [join(root, 'pillar')]]])],
    ['file_roots', newDict([['base', [join(root, 'salt')]]])],
    ['decrypt_pillar_delimiter', ':'],
    ['decrypt_pillar_default', 'gpg'],
    ['decrypt_pillar_renderers', ['gpg']],
    ...Object.entries((expand(test.opts ?? newDict(), root) as PlainDict) ?? {}),
  ]);
  const minionId = test.minion ?? 'web1.example.com';
  const own = dictOf([...Object.entries({ ...grains, ...test.grains }), ['id', minionId]]);
  const pillar = await compilePillar(createProcessHost(opts, quiet).host(), opts, {
    minionId,
    grains: own,
    saltenv: test.saltenv,
    pillarenv: test.pillarenv,
    override: test.override === undefined ? undefined : expand(test.override, root),
    extraMinionData: test.extra,
  });
  return { pillar, root };
}

/** Python's tracebacks name Python's files; the first and last lines are what counts. */
function withoutTraceback(text: string): string {
  return text.replace(/\\nTraceback \(most recent call last\):.*$/s, '');
}

describe('pillar of a real master', () => {
  it.each(cases.map((test) => [test.name, test] as const))('%s', async (_name, test) => {
    const { pillar, root } = await compiled(test);
    // Where a real master's compilation dies, ours says what is wrong.
    if (test.expect.startsWith('!')) expect(dictGet(pillar, '_errors')).not.toHaveLength(0);
    else expect(withoutTraceback(pyRepr(pillar).replaceAll(root, '<ROOT>'))).toBe(withoutTraceback(test.expect));
  });
});
