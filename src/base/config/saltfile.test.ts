import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findSaltfile, loadMasterConfig, loadSaltfile } from './index.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'halite-saltfile-')));
  mkdirSync(join(root, 'home/.salt'), { recursive: true });
  mkdirSync(join(root, 'work'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const where = () => ({ command: 'salt', env: {}, cwd: join(root, 'work'), home: join(root, 'home') });

describe('Saltfile', () => {
  it('is looked for on the command line, in the environment, here and at home', () => {
    expect(findSaltfile(where())).toBeUndefined();
    writeFileSync(join(root, 'home/.salt/Saltfile'), '');
    expect(findSaltfile(where())).toBe(join(root, 'home/.salt/Saltfile'));
    writeFileSync(join(root, 'work/Saltfile'), '');
    expect(findSaltfile(where())).toBe(join(root, 'work/Saltfile'));
    writeFileSync(join(root, 'env'), '');
    expect(findSaltfile({ ...where(), env: { SALT_SALTFILE: join(root, 'env') } })).toBe(join(root, 'env'));
    writeFileSync(join(root, 'arg'), '');
    expect(findSaltfile({ ...where(), saltfile: join(root, 'arg'), env: { SALT_SALTFILE: 'x' } })).toBe(
      join(root, 'arg'),
    );
    expect(() => findSaltfile({ ...where(), saltfile: join(root, 'none') })).toThrow(/file does not exist/);
  });

  it('gives each command its own section, which sets folder and options', () => {
    mkdirSync(join(root, 'conf'));
    writeFileSync(join(root, 'conf/master'), 'timeout: 8\nworker_threads: 6\n');
    writeFileSync(
      join(root, 'work/Saltfile'),
      `salt:\n  config_dir: ${root}/conf\n  timeout: 50\n  out: json\nsalt-ssh:\n  timeout: 1\n`,
    );
    const saltfile = loadSaltfile(where());
    expect(saltfile?.options['out']).toBe('json');
    expect(loadSaltfile({ ...where(), command: 'salt-run' })).toBeUndefined();
    const request = saltfile ? { saltfile, env: {} } : {};
    const { opts } = loadMasterConfig(request);
    expect([opts.timeout, opts.worker_threads, opts.get('out')]).toEqual([50, 6, undefined]);
    expect(loadMasterConfig({ ...request, cli: { timeout: 2 } }).opts.timeout).toBe(2);
  });

  it('reports the problem of a broken file', () => {
    writeFileSync(join(root, 'work/Saltfile'), 'salt: [');
    expect(() => loadSaltfile(where())).toThrow(/Error parsing configuration file/);
  });
});
