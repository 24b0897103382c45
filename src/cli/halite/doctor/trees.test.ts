import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Findings } from './finding.ts';
import { configDirIn } from './processes.ts';
import { examineTrees, pythonFiles } from './trees.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-trees-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function file(name: string, text = ''): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

it('finds files written for Python, and no others', () => {
  const module = file('salt/_modules/own.py');
  const nested = file('salt/formula/_states/deep/own.py');
  file('salt/_modules/own.ts');
  file('salt/_modules/__init__.py');
  file('salt/files/tool.py');
  const cloud = file('salt/_clouds/own.py');
  const python = file('salt/a.sls', '#!py\ndef run():\n  return {}\n');
  const mako = file('pillar/b.sls', '#!mako|yaml\nx: 1\n');
  file('salt/c.sls', '#!jinja|yaml\nx: 1\n');
  file('salt/d.sls', 'x: {test.nop: []}\n# py\n');
  const found = pythonFiles([join(root, 'salt'), join(root, 'pillar'), join(root, 'none')]);
  expect(found.extensions.sort()).toEqual([module, nested].sort());
  expect(found.refused).toEqual([cloud]);
  expect(found.rendered.sort()).toEqual([mako, python].sort());
  const findings = new Findings('master');
  examineTrees(
    findings,
    [{ base: [join(root, 'salt')] }, { base: [join(root, 'pillar')], dev: 'text' }, null],
    ['/nonexistent/python3'],
  );
  expect(findings.list.map(({ level }) => level)).toEqual(['warning', 'warning', 'warning']);
  expect(findings.list[0]?.what).toContain(cloud);
  expect(findings.list[1]?.what).toContain(module);
  const there = new Findings('master');
  examineTrees(there, [{ base: [join(root, 'salt')] }], [process.execPath]);
  expect(there.list.map(({ what }) => what)).toEqual([expect.stringContaining(cloud)]);
});

it('reports nothing for a tree without them', () => {
  file('salt/top.sls', "base: {'*': [x]}\n");
  const findings = new Findings('master');
  examineTrees(findings, [{ base: [join(root, 'salt')] }], []);
  expect(findings.list).toEqual([]);
});

it.each([
  [['salt-minion', '-d'], '/etc/salt'],
  [['node', 'salt-minion', '-c', '/x'], '/x'],
  [['salt-minion', '-c/y', '-d'], '/y'],
  [['salt-minion', '--config-dir=/z'], '/z'],
  [['salt-minion', '--config-dir', '/w'], '/w'],
  [['salt-minion', '-c'], '/etc/salt'],
])('reads the folder of a daemon from %j', (argv, folder) => {
  expect(configDirIn(argv, '/etc/salt')).toBe(folder);
});
