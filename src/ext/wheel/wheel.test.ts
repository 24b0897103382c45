// Wheel modules that read and write the master's files and configuration.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MasterContext, Value, Wheel } from 'halite/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import config from './config.ts';
import fileRoots from './file_roots.ts';
import minions from './minions.ts';
import pillarRoots from './pillar_roots.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wheel-'));
  for (const folder of ['a/sub', 'b', 'p']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'a/top.sls'), 'base: {}\n');
  writeFileSync(join(root, 'a/sub/logo'), Buffer.from([0, 1, 2]));
  writeFileSync(join(root, 'b/top.sls'), 'other\n');
  writeFileSync(join(root, 'outside'), 'secret\n');
  symlinkSync(root, join(root, 'a/loop'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function call(wheel: Wheel, name: string, args: Record<string, Value> = {}): Promise<Value> {
  const ctx = {
    opts: {
      file_roots: { base: [join(root, 'a'), join(root, 'b')], dev: [join(root, 'gone')] },
      pillar_roots: { base: [join(root, 'p')] },
      conf_file: join(root, 'master'),
      default_include: 'master.d/*.conf',
    },
    master: {
      fleet: {
        all: () => [
          { id: 'web2', connected: 'yes' },
          { id: 'web1', connected: 'yes' },
          { id: 'db1', connected: 'no' },
        ],
      },
    },
  } as unknown as MasterContext;
  const fun = wheel.functions[name];
  if (!fun) throw new Error(`no function ${name}`);
  return (await fun.run({ saltenv: 'base', index: 0, ...args } as never, ctx)) as Value;
}

describe('wheel file_roots and pillar_roots', () => {
  it('find and read a file in every root that has it', async () => {
    expect(await call(fileRoots, 'find', { path: 'top.sls' })).toEqual([
      { [join(root, 'a/top.sls')]: 'txt' },
      { [join(root, 'b/top.sls')]: 'txt' },
    ]);
    expect(await call(fileRoots, 'find', { path: 'sub/logo' })).toEqual([{ [join(root, 'a/sub/logo')]: 'bin' }]);
    expect(await call(fileRoots, 'read', { path: 'sub/logo' })).toEqual([]);
    expect(await call(fileRoots, 'read', { path: 'top.sls' })).toContainEqual({ [join(root, 'b/top.sls')]: 'other\n' });
    expect(await call(fileRoots, 'find', { path: 'top.sls', saltenv: 'nosuch' })).toEqual([]);
  });

  it('list environments without following links', async () => {
    const tree = {
      [join(root, 'a')]: { 'top.sls': 'f', sub: { logo: 'f' }, loop: {} },
      [join(root, 'b')]: { 'top.sls': 'f' },
    };
    expect(await call(fileRoots, 'list_env')).toEqual(tree);
    expect(await call(fileRoots, 'list_roots')).toEqual({ base: [tree], dev: [{ [join(root, 'gone')]: {} }] });
  });

  it('write inside the roots and nowhere else', async () => {
    const file = join(root, 'p/new/x.sls');
    expect(await call(pillarRoots, 'write', { data: 'a: 1\n', path: 'new/x.sls' })).toBe(`Wrote data to file ${file}`);
    expect(readFileSync(file, 'utf8')).toBe('a: 1\n');
    const refusals = [
      [{ path: '../outside' }, 'Invalid path: ../outside'],
      [{ path: '/etc/x' }, 'The path passed in /etc/x is not relative to the environment base'],
      [{ path: 'x', index: 4 }, 'Specified index 4 in environment base is not present'],
      [{ path: 'x', saltenv: 'no' }, 'Named environment no is not present'],
    ] as const;
    for (const [args, answer] of refusals) expect(await call(pillarRoots, 'write', { data: '', ...args })).toBe(answer);
    expect(await call(fileRoots, 'read', { path: '../outside' })).toEqual([]);
  });
});

describe('wheel config and minions', () => {
  it('show the options and write an included file', async () => {
    expect(await call(config, 'values')).toMatchObject({ default_include: 'master.d/*.conf' });
    expect(await call(config, 'update_config', { file_name: 'gui', yaml_contents: { timeout: 10 } })).toBe(
      'Wrote gui.conf',
    );
    expect(readFileSync(join(root, 'master.d/gui.conf'), 'utf8')).toBe('timeout: 10\n');
    expect(await call(config, 'update_config', { file_name: '../master', yaml_contents: {} })).toBe('Invalid path');
  });

  it('list connected minions', async () => {
    expect(await call(minions, 'connected')).toEqual(['web1', 'web2']);
  });
});
