// Which file and line gave a value.
import { afterEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { sourceLine } from './source-line.ts';
import { PillarTree } from './testing.ts';

let tree: PillarTree;
afterEach(() => tree?.remove());

const top = "base:\n  '*':\n    - a\n    - b\n";
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, item) => (item instanceof Map ? Object.fromEntries(item) : item)));

async function explain(key: string, request = {}): Promise<PlainDict> {
  const told = plain(await tree.explain(key, request)) as PlainDict;
  return JSON.parse(JSON.stringify(told).replaceAll(tree.root, '<ROOT>')) as PlainDict;
}

describe('pillar.explain', () => {
  it('names the file and line of the value, and those that were overridden', async () => {
    tree = new PillarTree().write({
      'pillar/top.sls': top,
      'pillar/a.sls': 'x: 1\nusers:\n  alice:\n    uid: 1\n',
      'pillar/b.sls': '# later wins\nusers:\n  alice:\n    uid: 2\n',
    });
    expect(await explain('users:alice:uid')).toEqual({
      key: 'users:alice:uid',
      found: true,
      value: 2,
      given_by: { source: 'b', saltenv: 'base', file: '<ROOT>/pillar/b.sls', line: 4, text: 'uid: 2', value: 2 },
      overrides: [{ source: 'a', saltenv: 'base', file: '<ROOT>/pillar/a.sls', line: 4, text: 'uid: 1', value: 1 }],
    });
  });

  it('lists every source of a part of a map', async () => {
    tree = new PillarTree().write({
      'pillar/top.sls': top,
      'pillar/a.sls': 'd:\n  p: 1\n',
      'pillar/b.sls': 'd:\n  q: 2\n',
    });
    const told = await explain('d');
    expect(told['value']).toEqual({ p: 1, q: 2 });
    expect(told).toMatchObject({ given_by: { source: 'b', line: 1 }, merged_with: [{ source: 'a', line: 1 }] });
  });

  it('counts lines of the template, not of its output', async () => {
    tree = new PillarTree().write({
      'pillar/top.sls': top,
      'pillar/a.sls':
        "{% set names = ['x', 'y'] %}\n{% for name in names %}\n{{ name }}:\n  port: {{ loop.index + 80 }}\n{% endfor %}\nlast: yes\n",
      'pillar/b.sls': '',
    });
    expect(await explain('y:port')).toMatchObject({
      value: 82,
      given_by: { line: 4, text: 'port: {{ loop.index + 80 }}' },
    });
    expect(await explain('last')).toMatchObject({ given_by: { line: 6 } });
  });

  it('follows includes: the including file takes precedence, a key moves what is included', async () => {
    tree = new PillarTree().write({
      'pillar/top.sls': top,
      'pillar/a.sls': 'include:\n  - c\n  - d:\n      key: in:side\nx: a\n',
      'pillar/b.sls': '',
      'pillar/c.sls': 'x: c\ny: c\n',
      'pillar/d.sls': 'z: d\n',
    });
    expect(await explain('x')).toMatchObject({
      given_by: { source: 'a', line: 5 },
      overrides: [{ source: 'c', line: 1 }],
    });
    expect(await explain('y')).toMatchObject({ given_by: { source: 'c', line: 2, included_by: 'a' } });
    expect(await explain('in:side:z')).toMatchObject({ value: 'd', given_by: { source: 'd', line: 1 } });
    tree.opts = newDict([['pillar_includes_override_sls', true]]);
    expect(await explain('x')).toMatchObject({ value: 'c', given_by: { source: 'c' } });
  });

  it('finds list items, numbers as keys, external sources and values of the command', async () => {
    tree = new PillarTree().write({
      'pillar/top.sls': top,
      'pillar/a.sls': 'l:\n  - one\n  - two\n80: http\n',
      'pillar/b.sls': '',
    });
    tree.opts = newDict([['ext_pillar', [newDict([['cmd_yaml', "echo 'e: 1'"]])]]]);
    expect(await explain('l:1')).toMatchObject({ value: 'two', given_by: { line: 3 } });
    expect(await explain('80')).toMatchObject({ value: 'http', given_by: { line: 4 } });
    expect(await explain('e')).toMatchObject({ given_by: { source: 'ext_pillar: cmd_yaml', value: 1 } });
    expect(await explain('e', { override: newDict([['e', 5]]) })).toMatchObject({
      value: 5,
      given_by: { source: 'pillar= of the command' },
    });
  });

  it('reports where it searched when there is no value, and what failed', async () => {
    tree = new PillarTree().write({ 'pillar/top.sls': top, 'pillar/a.sls': 'x: 1\n', 'pillar/b.sls': 'y: {{ no }}\n' });
    expect(await explain('y')).toEqual({
      key: 'y',
      found: false,
      looked_in: ['<ROOT>/pillar/a.sls'],
      errors: ["Rendering SLS 'b' failed. Please see master log for details."],
    });
    expect(tree.logged.join('\n')).toContain('b.sls, line 1');
  });
});

describe('source lines', () => {
  it('distinguishes repeated lines by their neighbours', () => {
    const source = 'a:\n  port: 1\nb:\n  port: 1\n# {{ x }}\nc:\n  port: 1\n';
    const rendered = 'a:\n  port: 1\nb:\n  port: 1\n# 5\nc:\n  port: 1\n';
    expect([2, 4, 7].map((line) => sourceLine(source, rendered, line))).toEqual([2, 4, 7]);
  });
  it('returns nothing for lines that match no template line', () => {
    expect(sourceLine('{{ all }}', 'x: 1\ny: 2', 2)).toBeUndefined();
    expect(sourceLine('a: {{ x }} b {{ y }} c', 'a: 1 b 2 c', 1)).toBe(1);
    expect(sourceLine('a: {{ x }} b {{ y }} c', 'a: 1 2 c', 1)).toBeUndefined();
  });
});
