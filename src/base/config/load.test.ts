import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HaliteError } from '../errors/index.ts';
import type { LoadRequest } from './index.ts';
import { loadClientConfig, loadMasterConfig, loadMinionConfig, masterAddresses } from './index.ts';
import { loadMainFile } from './load-files.ts';
import { ConfigReport } from './problems.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'halite-load-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const facts = { hostname: () => 'HOST7', resolve: () => [], readFile: () => undefined, addresses: () => [] };
const request = (extra: LoadRequest = {}): LoadRequest => ({ configDir: root, env: {}, facts, ...extra });

describe('problems', () => {
  it('reports unknown options once, with the most similar known one, and keeps them', () => {
    put('master', 'worker_thread: 9\nmysql.host: db\nmy_vault: {driver: vault}\n');
    const { opts, problems } = loadMasterConfig(request());
    expect(problems).toEqual([
      {
        kind: 'unknown',
        level: 'warn',
        option: 'worker_thread',
        file: join(root, 'master'),
        suggestion: 'worker_threads',
        message: `Config option 'worker_thread' in ${root}/master is not known; did you mean 'worker_threads'?`,
      },
    ]);
    expect(opts.get('worker_thread')).toBe(9);
    expect(opts.get('mysql.host')).toBe('db');
    expect(opts.worker_threads).toBe(5);
  });

  it('reports options that ask for features that are not implemented yet', () => {
    put('master', 'external_auth: {pam: {fred: [test.*]}}\nmetrics: {enabled: true, exporter: other}\n');
    const said = loadMasterConfig(request()).problems;
    expect(said.map(({ kind, level, option, advice }) => [kind, level, option, typeof advice])).toEqual([
      ['unsupported', 'warn', 'metrics', 'string'],
    ]);
    expect(said[0]?.message).toContain('exporters other than prometheus');
    put('master', 'external_auth: {}\nengines: [reactor, {slack: {x: 1}}]\nrest_cherrypy: {port: 8000}\n');
    expect(loadMasterConfig(request()).problems).toEqual([]);
    put('master', 'external_auth: {sharedsecret: {fred: [test.*]}}\nsharedsecret: x\nhalite_api: {port: 8000}\n');
    expect(loadMasterConfig(request()).problems).toEqual([]);
    put('minion', 'id: a\nmaster_type: failover\nengines: {slack: null}\nmetrics: {enabled: true}\n');
    expect(loadMinionConfig(request()).problems.map(({ message }) => message)).toEqual([
      'The option metrics asks for a feature that is not implemented yet: metrics of a minion',
    ]);
  });

  it('does not report options of the other daemon, and reports names without a similar option at a low level', () => {
    put('minion', 'id: a\nworker_threads: 9\nzzz_company_setting: 1\n');
    const { problems } = loadMinionConfig(request());
    expect(problems.map(({ level, option }) => [level, option])).toEqual([['info', 'zzz_company_setting']]);
  });

  it('keeps the default for a wrong type and names the file', () => {
    put('master', 'publish_port: many\nfile_roots: /srv\nauto_accept: "yes"\nuser:\n');
    const drop = put('master.d/x.conf', 'timeout: [1]\n');
    const { opts, problems } = loadMasterConfig(request());
    expect(opts.publish_port).toBe(4505);
    expect(opts.file_roots).toEqual({ base: ['/srv/salt', '/srv/spm/salt'] });
    expect(opts.auto_accept).toBe(false);
    expect(opts.timeout).toBe(5);
    expect(problems.map(({ option }) => option).sort()).toEqual([
      'auto_accept',
      'file_roots',
      'publish_port',
      'timeout',
    ]);
    const late = problems.find(({ option }) => option === 'timeout');
    expect(late?.file).toBe(drop);
    expect(late?.message).toContain(
      "Config option 'timeout' with value [1] has an invalid type of list, a number is required for this option",
    );
  });

  it('does not resolve references to secret stores and lists them', () => {
    put('master', 'id: m\nworker_threads: sdb://vault/x\next_pillar:\n- git: sdb://a/b\n');
    const { opts, deferred, problems } = loadMasterConfig(request());
    expect(opts.raw['worker_threads']).toBe('sdb://vault/x');
    expect(deferred).toEqual(['worker_threads', 'ext_pillar']);
    expect(problems).toEqual([]);
  });
});

describe('files', () => {
  it('uses defaults and reports it when there is no file', () => {
    const { opts, sources, notes, problems } = loadMasterConfig(request());
    expect(opts.publish_port).toBe(4505);
    expect(sources).toEqual([]);
    expect(problems).toEqual([]);
    expect(notes).toContain(`Missing configuration file: ${root}/master`);
  });

  it('reports a folder that does not exist', () => {
    const { opts, problems } = loadMasterConfig(request({ configDir: join(root, 'none') }));
    expect(problems).toMatchObject([{ kind: 'missing', message: `CONFIG '${root}/none' directory does not exist.` }]);
    expect(opts.publish_port).toBe(4505);
  });

  it('names file, line and excerpt of broken YAML', () => {
    const file = put('master', 'interface: 0.0.0.0\nfile_roots:\n  base: [a\nx: 1\n');
    let thrown: unknown;
    try {
      loadMasterConfig(request());
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(HaliteError);
    const error = thrown as HaliteError;
    expect(error.code).toBe('config.syntax');
    expect(error.message).toContain(`Error parsing configuration file: ${file} - `);
    expect(error.details).toMatchObject({ file, line: 4, exitCode: 1 });
    expect(String(error.details['excerpt'])).toContain('x: 1');
  });

  it('refuses a document that is no mapping', () => {
    put('master', 'just words\n');
    expect(() => loadMasterConfig(request())).toThrow(/conf should be a document, not str/);
  });

  it('names a file that cannot be read', () => {
    mkdirSync(join(root, 'minion'));
    let thrown: unknown;
    try {
      loadMinionConfig(request());
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'config.missing', details: { exitCode: 64 } });
    expect(String(thrown)).toContain('Failed to load configuration: EISDIR');
  });

  it('reports a broken include on the master and stops the minion daemon', () => {
    put('master', 'timeout: 7\n');
    put('master.d/bad.conf', 'a: [\n');
    put('minion', 'id: x\n');
    put('minion.d/bad.conf', 'a: [\n');
    const { opts, problems } = loadMasterConfig(request());
    expect(opts.timeout).toBe(7);
    expect(problems).toMatchObject([{ kind: 'syntax', level: 'error', file: join(root, 'master.d/bad.conf') }]);
    expect(() => loadMinionConfig({ ...request(), strictIncludes: true })).toThrow(/bad\.conf/);
    expect(loadMinionConfig(request()).problems).toHaveLength(1);
  });

  it('renames a broken schedule file', () => {
    put('minion', 'id: x\n');
    const file = put('minion.d/_schedule.conf', 'schedule: [\n');
    const { problems } = loadMinionConfig({ ...request(), strictIncludes: true });
    expect(problems).toMatchObject([{ kind: 'syntax', level: 'error', file }]);
    expect(readFileSync(`${file}YAMLError`, 'utf8')).toBe('schedule: [\n');
  });

  it('survives files that include each other and includes that match nothing', () => {
    put('master', 'include: [none*.conf]\n');
    put('master.d/a.conf', "include: '*.conf'\ntimeout: 3\n");
    put('master.d/b.conf', "include: '*.conf'\nret_port: 9\n");
    const { opts, problems } = loadMasterConfig(request());
    expect(opts.timeout).toBe(3);
    expect(opts.ret_port).toBe(9);
    expect(problems.every(({ kind }) => kind === 'include')).toBe(true);
    expect(problems.map(({ message }) => message).join('\n')).toContain(
      `"include" path/glob '${root}/none*.conf' matches no files`,
    );
  });

  it('cannot be poisoned with __proto__', () => {
    put('master', '__proto__: {polluted: 1}\nexternal_auth: {__proto__: {x: 1}}\nconstructor: 3\n');
    const { opts } = loadMasterConfig(request());
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(opts)).toBeNull();
    expect(opts.get('toString')).toBeUndefined();
    expect(opts.get('constructor')).toBe(3);
  });

  it('writes the main file from its template', () => {
    put('master.template', '# header\ntimeout: 21\n');
    expect(loadMasterConfig(request()).opts.timeout).toBe(21);
    expect(readFileSync(join(root, 'master'), 'utf8')).toBe('timeout: 21\n');
  });

  it('adds the id of the minion cache and stores a detected one', () => {
    put('minion', `root_dir: ${root}\nminion_id_lowercase: true\n`);
    const first = loadMinionConfig({ ...request(), cacheId: true });
    expect(first.opts.id).toBe('host7');
    expect(readFileSync(join(root, 'etc/salt/minion_id'), 'utf8')).toBe('host7');
    put('etc/salt/minion_id', '\ufeffkept.example\n');
    const second = loadMinionConfig({ ...request(), cacheId: true });
    expect(second.opts.id).toBe('kept.example');
    expect(second.notes).toContain(`Using cached minion ID from ${root}/etc/salt/minion_id: kept.example`);
    put('minion', `root_dir: ${root}\nminion_id_caching: false\n`);
    expect(loadMinionConfig(request()).opts.id).toBe('HOST7');
  });

  it('refuses id_function only when it would be needed', () => {
    put('minion', `root_dir: ${root}\nid_function:\n  test.echo: {text: me}\n`);
    expect(() => loadMinionConfig(request())).toThrow(/'id_function' is not supported/);
    expect(loadMinionConfig({ ...request(), minionId: 'given' }).opts.id).toBe('given');
  });
});

describe('where files come from', () => {
  it('takes SALT_CONFIG_DIR when no folder is given', () => {
    put('conf/master', 'timeout: 31\n');
    expect(loadMasterConfig({ env: { SALT_CONFIG_DIR: join(root, 'conf') } }).opts.timeout).toBe(31);
    expect(loadMasterConfig({ configDir: root, env: { SALT_CONFIG_DIR: join(root, 'conf') } }).opts.timeout).toBe(5);
  });

  it('uses the variable only for the default path and only when it names a file', () => {
    const named = put('else/master', 'timeout: 33\n');
    const plain = put('conf/master', 'timeout: 34\n');
    const read = (path: string, variable: string | undefined, normal: string) =>
      loadMainFile(path, variable, normal, new ConfigReport());
    expect(read(plain, named, plain)).toMatchObject({ timeout: 33, conf_file: named });
    expect(read(plain, named, '/other/default')).toMatchObject({ timeout: 34, conf_file: plain });
    expect(read(plain, join(root, 'missing'), plain)).toMatchObject({ timeout: 34 });
  });

  it('reads the file of SALT_CLIENT_CONFIG instead of ~/.saltrc', () => {
    put('master', 'timeout: 6\n');
    put('home/.saltrc', 'timeout: 40\n');
    const named = put('own-rc', 'timeout: 41\n');
    const home = { HOME: join(root, 'home') };
    expect(loadClientConfig(request({ env: home })).opts.timeout).toBe(40);
    expect(loadClientConfig(request({ env: { ...home, SALT_CLIENT_CONFIG: named } })).opts.timeout).toBe(41);
  });

  it('applies overrides before, and the command line after, derived values', () => {
    put('master', 'log_level: info\nroot_dir: /nowhere\n');
    const { opts } = loadMasterConfig(
      request({ overrides: { root_dir: root, id: 'm' }, cli: { log_level: 'debug', log_file: 'here.log' } }),
    );
    expect(opts.pki_dir).toBe(join(root, 'etc/salt/pki/master'));
    expect(opts.log_level).toBe('debug');
    expect(opts.log_file).toBe('here.log');
    expect(opts.id).toBe('m');
  });
});

describe('options', () => {
  it('computes the id of the master only when it is read', () => {
    let asked = 0;
    const counting = { ...facts, hostname: () => `h${++asked}` };
    const { opts } = loadMasterConfig(request({ overrides: { root_dir: root }, facts: counting }));
    expect(asked).toBe(0);
    expect(opts.id).toBe('h1_master');
    expect(opts.id).toBe('h1_master');
    expect(asked).toBe(1);
  });

  it('hands out fresh defaults every time', () => {
    const first = loadMasterConfig(request()).opts;
    (first.file_roots['base'] as string[]).push('/more');
    expect(loadMasterConfig(request()).opts.file_roots).toEqual({ base: ['/srv/salt', '/srv/spm/salt'] });
  });

  it('lists data only', () => {
    const { opts } = loadMasterConfig(request({ overrides: { id: 'm' } }));
    expect(Object.keys(opts)).not.toContain('get');
    expect(JSON.parse(JSON.stringify(opts))).toMatchObject({ id: 'm', publish_port: 4505, __role: 'master' });
  });

  it('falls back to the key folder in a cluster and ignores cluster options without one', () => {
    put('master', 'cluster_id: c1\n');
    const inside = loadMasterConfig(request());
    expect(inside.opts.cluster_pki_dir).toBe('/etc/salt/pki/master');
    expect(inside.problems).toHaveLength(2);
    put('master', 'cluster_peers: [a]\ncluster_pki_dir: /x\n');
    const outside = loadMasterConfig(request());
    expect([outside.opts.cluster_peers, outside.opts.cluster_pki_dir]).toEqual([[], null]);
  });

  it.each([
    ['master', 'publish_signing_algorithm: md5\n', /md5/],
    ['master', 'ssl: {cert_reqs: maybe}\n', /cert_reqs/],
    ['master', 'discovery: {colour: red}\n', /Unknown discovery option: colour/],
    ['minion', 'id: x\nencryption_algorithm: none\n', /none/],
  ])('refuses a %s with %j', (kind, text, message) => {
    put(kind, text);
    const loadIt = kind === 'master' ? loadMasterConfig : loadMinionConfig;
    expect(() => loadIt(request())).toThrow(message);
  });

  it('drops ignore patterns that are not regular expressions and keeps those in Python syntax', () => {
    put('master', "file_ignore_regex: ['(?P<dot>\\.git)', '(', '(?i)x']\n");
    const { opts, problems } = loadMasterConfig(request());
    expect(opts.file_ignore_regex).toEqual(['(?P<dot>\\.git)', '(?i)x']);
    expect(problems).toMatchObject([{ option: 'file_ignore_regex' }]);
  });

  it('reads masters with and without ports', () => {
    put('minion', "id: x\nmaster: [a.example, 'b:5506', '[fe80::1]:1', '::1']\nmaster_port: '4600'\n");
    expect(masterAddresses(loadMinionConfig(request()).opts)).toEqual([
      { host: 'a.example', port: 4600 },
      { host: 'b', port: 5506 },
      { host: 'fe80::1', port: 1 },
      { host: '::1', port: 4600 },
    ]);
    const only = { master: '10.0.0.1', master_port: 4506, master_uri_format: 'ip_only' };
    expect(masterAddresses(only)).toEqual([{ host: '10.0.0.1', port: 4506 }]);
    expect(() => masterAddresses({ ...only, master: 'salt' })).toThrow(/ip_only/);
  });
});
