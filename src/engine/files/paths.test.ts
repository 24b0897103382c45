import { join, normalize } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { below, cleanRelative, isEnvironmentName, splitRequestPath } from './paths.ts';
import { temporaryFolder, writeTree } from './testing.ts';

/** Parts of hostile paths. */
const chunk = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '',
    '...',
    '..\\',
    '%2e%2e',
    '\0',
    '..\0',
    '~',
    '-',
    'a',
    '盐',
    '．．',
    '\u202e',
    'é',
    'é',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const hostile = fc
  .tuple(fc.array(chunk, { maxLength: 8 }), fc.constantFrom('', '/', '//', './', '../', '/../'))
  .map(([chunks, start]) => start + chunks.join('/'));

describe('cleanRelative', () => {
  it('returns names joined by one slash, or nothing at all', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string(), fc.string({ unit: 'binary' })), (path) => {
        const clean = cleanRelative(path);
        if (clean === undefined) return;
        for (const name of clean.split('/')) expect(['', '.', '..'].includes(name) || name.includes('\0')).toBe(false);
        expect(normalize(clean)).toBe(clean);
        expect(join('/root', clean).startsWith('/root/')).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps what is already clean', () => {
    for (const path of ['a', 'a/b', '..a/b..', 'a b/ü', '...', '~root', '-rf', 'a\\b'])
      expect(cleanRelative(path)).toBe(path);
    expect(cleanRelative('./a//b/./c/')).toBe('a/b/c');
  });

  it.each([
    '',
    '.',
    './',
    '/',
    '/etc/passwd',
    '..',
    '../x',
    'a/..',
    'a/../b',
    'a/../../b',
    'a\0',
    '\0',
    '//x',
    './/..//x',
    null,
    undefined,
    3,
    ['a'],
    { toString: () => 'a' },
    new Uint8Array([97]),
  ])('refuses %j', (path) => {
    expect(cleanRelative(path)).toBeUndefined();
  });
});

describe('isEnvironmentName', () => {
  it.each(['base', 'feature/x', '1.0', '盐', '__env__'])('takes %s', (name) =>
    expect(isEnvironmentName(name)).toBe(true),
  );
  it.each(['', '.', '..', '../x', 'a/../b', '/x', 'a//b', 'a/', 'a\0', 7, null])('refuses %j', (name) => {
    expect(isEnvironmentName(name)).toBe(false);
  });
});

describe('below', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
    writeTree(folder.path, {
      'root/file': 'x',
      'root/inner': '-> file',
      'root/out': '-> ../secret',
      'root/outdir': '-> ..',
      'root/loop': '-> loop',
      'rootless/file': 'not below root, though the text begins alike',
      secret: 'x',
    });
  });
  afterEach(() => folder.remove());

  it('resolves links', () => {
    const root = join(folder.path, 'root');
    expect(below(root, 'file', true)).toBe(join(root, 'file'));
    expect(below(root, 'inner', true)).toBe(join(root, 'inner'));
    for (const path of ['out', 'outdir/secret', 'outdir/rootless/file', 'loop', 'missing']) {
      expect(below(root, path, true)).toBeUndefined();
    }
  });

  it('accepts a root that is itself reached by a link', () => {
    writeTree(folder.path, { alias: '-> root' });
    expect(below(join(folder.path, 'alias'), 'file', true)).toBe(join(folder.path, 'alias/file'));
  });
});

describe('splitRequestPath', () => {
  it('removes options, unless the path is escaped', () => {
    expect(splitRequestPath('a/b?saltenv=dev&x&index=1=2')).toEqual({
      path: 'a/b',
      options: new Map([
        ['saltenv', 'dev'],
        ['index', '1=2'],
      ]),
    });
    expect(splitRequestPath('|a?b')).toEqual({ path: 'a?b', options: new Map() });
    expect(splitRequestPath('||a')).toEqual({ path: 'a', options: new Map() });
  });
});
