// Compiled pillars equal to those of a real Salt master, over recorded trees.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadJson } from '../../base/codec/json/index.ts';
import { pyRepr } from '../../base/codec/python/index.ts';
import { dictGet, dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { expand, PillarTree } from './testing.ts';

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

let tree: PillarTree | undefined;
afterEach(() => tree?.remove());

/** Python's tracebacks name Python's files: only the text before them is compared. */
function withoutTraceback(text: string): string {
  return text.replace(/\\nTraceback \(most recent call last\):.*$/s, '');
}

describe('pillar of a real master', () => {
  it.each(cases.map((test) => [test.name, test] as const))('%s', async (_name, test) => {
    tree = new PillarTree().write(test.files);
    tree.opts = test.opts ?? newDict();
    const { root } = tree;
    const minionId = test.minion ?? 'web1.example.com';
    const pillar = await tree.compile({
      minionId,
      grains: dictOf([...Object.entries({ ...grains, ...test.grains }), ['id', minionId]]),
      saltenv: test.saltenv,
      pillarenv: test.pillarenv,
      override: test.override === undefined ? undefined : expand(test.override, root),
      extraMinionData: test.extra,
    });
    // Where a real master's compilation crashes, ours reports the problem.
    if (test.expect.startsWith('!')) expect(dictGet(pillar, '_errors')).not.toHaveLength(0);
    else expect(withoutTraceback(pyRepr(pillar).replaceAll(root, '<ROOT>'))).toBe(withoutTraceback(test.expect));
  });
});
