// Pillar folders as a file source.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { rootsOf } from './opts.ts';
import { PillarRoots } from './roots.ts';
import { PillarTree } from './testing.ts';

let tree: PillarTree;
beforeEach(() => {
  tree = new PillarTree().write({
    'one/a.sls': '',
    'one/d/init.sls': '',
    'one/d/e.sls': '',
    'one/.git/x.sls': '',
    'two/a.sls': '',
    'two/b.sls': '',
    'secret.sls': 'no',
  });
});
afterEach(() => tree.remove());
const open = (): PillarRoots =>
  new PillarRoots({ base: [join(tree.root, 'one'), join(tree.root, 'two')] }, (name) => name === '.git');

describe('pillar roots', () => {
  it('finds a file in the first folder that has it', async () => {
    expect(await open().cacheFile('salt://a.sls', 'base')).toEqual({ path: join(tree.root, 'one/a.sls') });
    expect(await open().cacheFile('salt://b.sls', 'base')).toEqual({ path: join(tree.root, 'two/b.sls') });
    expect(await open().state('d', 'base')).toEqual({
      source: 'salt://d/init.sls',
      path: join(tree.root, 'one/d/init.sls'),
    });
    expect(await open().cacheFile('salt://d', 'base')).toBeUndefined();
    expect(await open().cacheFile('salt://a.sls', 'dev')).toBeUndefined();
  });
  it.each(['../secret.sls', 'd/../../secret.sls', './../secret.sls', 'a.sls\0', '/../secret.sls'])(
    'has no %j',
    async (name) => {
      expect(await open().cacheFile(`salt://${name}`, 'base')).toBeUndefined();
    },
  );
  it('lists names that match a pattern, without ignored folders', async () => {
    expect(await open().matching('*', 'base')).toEqual(['a', 'b', 'd', 'd.e']);
    expect(await open().matching('d.*', 'base')).toEqual(['d.e']);
    expect(await open().matching('d', 'base')).toEqual(['d']);
    expect(await open().matching('gone', 'base')).toEqual([]);
    for (const odd of ['', '.', '.a', '..a', 'd..e', 'd.']) expect(await open().matching(odd, 'base')).toEqual([]);
    expect(await open().matching('*', 'nowhere')).toBeUndefined();
  });
  it('does not follow a link to a parent folder endlessly', async () => {
    symlinkSync('..', join(tree.root, 'one/d/up'));
    expect(await open().matching('*', 'base')).toContain('d.e');
  });
});

describe('__env__', () => {
  const any = newDict(Object.entries({ base: ['/b'], __env__: ['/e/__env__/x'] }));
  it('is used for an environment that is not listed', () => {
    expect({ ...rootsOf(any, 'dev') }).toEqual({ base: ['/b'], dev: ['/e/dev/x'] });
    expect({ ...rootsOf(any, 'base') }).toEqual({ base: ['/b'] });
  });
  it('never leaves the root, for any name of an environment', () => {
    for (const name of ['..', '../..', '/etc', 'a/../../b', 'a\0'])
      expect({ ...rootsOf(any, name) }).toEqual({ base: ['/b'] });
    mkdirSync(join(tree.root, 'x'), { recursive: true });
    writeFileSync(join(tree.root, 'x/y'), '');
    expect({ ...rootsOf(any, '__proto__') }).toMatchObject({ base: ['/b'] });
  });
});
