// The modules for dpkg, /sys and logrotate, with temporary files or fake tools.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import pkg from './aptpkg/index.ts';
import lowpkg from './dpkg_lowpkg.ts';
import file from './file/index.ts';
import logrotate from './logrotate.ts';
import pkgResource from './pkg_resource.ts';
import saltVersion from './salt_version.ts';
import sysfs from './sysfs.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-low-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('logrotate', () => {
  const ctx = testContext({ modules: [logrotate, file] });
  const call = async (fun: string, args: Value[], kwargs = {}) =>
    plain(await ctx.callWith(`logrotate.${fun}`, args, newDict(Object.entries(kwargs))));
  let conf: string;
  beforeEach(() => {
    conf = join(folder, 'logrotate.conf');
    mkdirSync(join(folder, 'd'));
    const script = '  postrotate\n    # say so\n    reload x\n  endscript\n';
    writeFileSync(conf, `# c\nweekly\nrotate 4\ninclude ${folder}/d\ncreate 0640 root adm\n`);
    writeFileSync(join(folder, 'd/app'), `/var/log/a /var/log/b {\n  rotate 3\n  daily\n${script}}\n`);
  });
  const block = { rotate: 3, daily: true, postrotate: ['# say so', 'reload x'] };

  it('reads lines, blocks, scripts and included files', async () => {
    expect(await call('show_conf', [conf])).toEqual({
      weekly: true,
      rotate: 4,
      'include files': { app: ['/var/log/a', '/var/log/b'] },
      include: `${folder}/d`,
      '/var/log/a': block,
      '/var/log/b': block,
      create: '0640 root adm',
    });
    expect(await call('get', ['/var/log/a', 'rotate', conf])).toBe(3);
    expect(await call('get', ['nosuch'], { conf_file: conf })).toBe(false);
  });

  it('changes a line, and a setting in the file that has it', async () => {
    expect(await call('set', ['rotate', 4], { conf_file: conf })).toBe(true);
    await call('set', ['rotate', 2], { conf_file: conf });
    expect(readFileSync(conf, 'utf8')).toContain('weekly\nrotate 2\n');
    writeFileSync(join(folder, 'd/app'), '/var/log/a {\n  rotate 3\n}\n');
    await call('set', ['/var/log/a', 'rotate', 7], { conf_file: conf });
    expect(readFileSync(join(folder, 'd/app'), 'utf8')).toBe('/var/log/a {\n    rotate 7\n}\n');
    await expect(call('set', ['/var/log/a', 7], { conf_file: conf })).rejects.toThrow('includes a dict');
  });
});

describe('sysfs', () => {
  const ctx = testContext({ modules: [sysfs] });
  const call = (fun: string, ...args: Value[]) => ctx.call(`sysfs.${fun}`, ...args);

  it('stays below /sys', async () => {
    expect(await call('target', '../etc/passwd')).toBe(false);
    expect(await call('read', '/sys/../etc/passwd')).toBe(false);
    expect(await call('write', '../tmp/x', '1')).toBe(false);
  });
  it('reads numbers and texts, and names what can be read', async () => {
    expect(await call('target', 'class/net/lo', false)).toBe('lo');
    expect(await call('read', 'class/net/lo/mtu')).toBeTypeOf('number');
    expect(await call('read', ['mtu', 'nosuch', 'address'], 'class/net/lo')).toMatchObject({
      address: '00:00:00:00:00:00',
    });
    expect(await call('attr', 'class/net/lo')).toMatch(/^\/sys\//);
    expect(await call('read', 'class/net/lo')).toMatchObject({ statistics: { rx_packets: expect.any(Number) } });
    const found = (await call('interfaces', 'class/net/lo')) as Record<string, string[]>;
    expect(found['r']).toContain('statistics/rx_bytes');
    expect(found['rw']).toContain('mtu');
  });
});

describe('lowpkg', () => {
  const answers: Record<string, string> = {
    '-f=${db:Status-Status}\t${binary:Package}\t${Version}\n': 'installed\tbash\t5.2\nconfig-files\told\t1\n',
  };
  const record = 'package:bash\narchitecture:amd64\nstatus:ii \ninstall_date:0\ndescription:GNU\n shell\n\n*/~^\\*\n';
  const ctx = testContext({ modules: [lowpkg, pkg] });
  Object.assign(ctx, {
    exec: async (_tool: string, args: string[]) => ({
      ...{ pid: 1, retcode: args.includes('nosuch') ? 1 : 0, stderr: 'dpkg-query: no such', timedOut: false },
      stdout: answers[args[0] ?? ''] ?? record,
    }),
  });

  it('lists what is installed', async () => {
    expect(plain(await ctx.call('lowpkg.list_pkgs'))).toEqual({ bash: '5.2' });
    expect(await ctx.call('lowpkg.list_pkgs', 'nosuch')).toBe('Error:  dpkg-query: no such');
  });
  it('describes under dpkg’s names what pkg describes under its own', async () => {
    const rest = { architecture: 'amd64', install_date: '1970-01-01T00:00:00Z', description: 'GNU\n shell\n' };
    expect(plain(await ctx.call('lowpkg.info', 'bash'))).toMatchObject({
      bash: { package: 'bash', status: 'ii', ...rest },
    });
    expect(plain(await ctx.call('pkg.info_installed', 'bash'))).toMatchObject({ bash: { name: 'bash', ...rest } });
  });
});

describe('salt_version', () => {
  const ctx = testContext({ modules: [saltVersion] });
  it.each([
    ['get_release_number', 'Oxygen', '2018.3'],
    ['get_release_number', 'sulfur', '3006'],
    ['get_release_number', 'oganesson', '3108'],
    ['get_release_number', 'nosuch', null],
    ['equal', 'Sulfur', true],
    ['greater_than', 'neon', true],
    ['greater_than', 'nosuch', false],
    ['less_than', 'chlorine', true],
    ['less_than', 'fluorine', false],
  ])('%s %s', async (fun, name, answer) => {
    expect(await ctx.call(`salt_version.${fun}`, name)).toBe(answer);
  });
});

describe('pkg_resource', () => {
  const ctx = testContext({ modules: [pkgResource] });
  const targets = async (kwargs: Record<string, Value>) =>
    plain(await ctx.callWith('pkg_resource.parse_targets', [], newDict(Object.entries(kwargs))));

  it('reads what shall be installed', async () => {
    expect(await targets({ pkgs: ['a', { b: 1 }] })).toEqual([{ a: null, b: '1' }, 'repository']);
    expect(await targets({ name: 'a,b', version: '2' })).toEqual([{ a: '2', b: '2' }, 'repository']);
    expect(await targets({ pkgs: ['a'], sources: [{ b: '/x' }] })).toEqual([null, null]);
    expect(await targets({})).toEqual([null, null]);
    await expect(targets({ pkgs: ['a', 'a'] })).rejects.toThrow("contains duplicated packages names: ['a', 'a'].");
  });
  it('puts sources and versions together', async () => {
    expect(plain(await ctx.call('pkg_resource.pack_sources', '[{a: /x}, {b: /y}]'))).toEqual({ a: '/x', b: '/y' });
    expect(await ctx.call('pkg_resource.format_version', 1, '2.0', '3')).toBe('1:2.0-3');
    expect(await ctx.call('pkg_resource.format_version', '', '2.0', null)).toBe('2.0');
  });
});
