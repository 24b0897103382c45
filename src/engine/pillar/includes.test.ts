// Pillar trees with typical mistakes: a file that includes itself, a matcher for minions.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { PillarTree } from './testing.ts';

let tree: PillarTree;
beforeEach(() => {
  tree = new PillarTree();
});
afterEach(() => tree.remove());

describe('includes', () => {
  it.each(['recurse', 'aggregate'])('of a file in itself, by any name, end (%s)', async (strategy) => {
    tree.opts = newDict([['pillar_source_merging_strategy', strategy]]);
    tree.write({
      'pillar/top.sls': "base: {'*': [a]}\n",
      'pillar/a.sls': "include: ['..a', '.a', 'a', 'sub.*']\nmine: 1\n",
      'pillar/sub/one.sls': "include: ['...a', '.one']\none: 1\n",
    });
    expect({ ...(await tree.compile()) }).toEqual({ mine: 1, one: 1 });
  });
});

describe('the matcher data', () => {
  it('finds nothing on a master, which is not an error', async () => {
    tree.write({
      'pillar/top.sls': "base:\n  'k:v':\n    - match: data\n    - a\n  '*': [b]\n",
      'pillar/a.sls': 'a: 1\n',
      'pillar/b.sls': 'b: 1\n',
    });
    expect({ ...(await tree.compile()) }).toEqual({ b: 1 });
  });
});
