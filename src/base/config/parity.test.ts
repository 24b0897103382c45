import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { PlainDict } from '../codec/value.ts';
import { loadApiConfig } from './api.ts';
import { typesOf } from './convert.ts';
import { loadClientConfig, loadMasterConfig, loadMinionConfig } from './index.ts';
import { apiOptions } from './options/api.ts';
import { haliteCluster, haliteLog, haliteMaster, halitePython } from './options/halite.ts';
import { masterOptions, minionOptions } from './options/index.ts';
import type { OptionRow, OptionType } from './options/row.ts';

const fixtures = fileURLToPath(new URL('../../../test/fixtures/config/', import.meta.url));
const versions = ['3006.27', '3008.2'] as const;

interface SaltTables {
  types: Record<string, string[]>;
  master: Record<string, unknown>;
  minion: Record<string, unknown>;
  api: Record<string, unknown>;
}

function saltTables(version: string): SaltTables {
  const text = readFileSync(join(fixtures, `salt-${version}.json`), 'utf8');
  return JSON.parse(text.replaceAll('@HOME@', homedir()).replaceAll('@USER@', userInfo().username)) as SaltTables;
}

/** Maps, prototype-less objects and PyFloat as JSON, with texts of numbers made equal to numbers. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) => (item instanceof Map ? Object.fromEntries(item) : item)) ?? 'null',
  );
}

/** Defaults that changed between Salt versions; Halite has the second. */
const changedDefaults: Record<string, Record<string, readonly [unknown, unknown]>> = {
  '3006.27': { gpg_decrypt_must_succeed: [false, true] },
  '3008.2': { master_pubkey_signature: [null, 'master_pubkey_signature'] },
};

describe.each(versions)('option tables against Salt %s', (version) => {
  const tables = saltTables(version);
  const own: Record<OptionType, readonly string[]> = {
    bool: ['bool'],
    int: ['int'],
    float: ['float'],
    duration: ['int', 'float'],
    str: ['str'],
    path: ['str'],
    list: ['list'],
    strs: ['list'],
    dict: ['dict'],
    roots: ['dict'],
    null: ['null'],
  };

  it.each(['master', 'minion'] as const)('has every %s default', (daemon) => {
    const rows: ReadonlyMap<string, OptionRow> = daemon === 'master' ? masterOptions : minionOptions;
    const wrong: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(tables[daemon])) {
      const known = changedDefaults[version]?.[name];
      const wanted = known && JSON.stringify(known[0]) === JSON.stringify(value) ? known[1] : value;
      const row = rows.get(name);
      const found = row?.computed ? wanted : row?.default;
      if (JSON.stringify(found) !== JSON.stringify(wanted)) wrong[name] = { wanted, found: found ?? 'absent' };
    }
    expect(wrong).toEqual({});
  });

  it('has every option of VALID_OPTS, with a type that fits', () => {
    const wrong: Record<string, unknown> = {};
    for (const [name, types] of Object.entries(tables.types)) {
      const rows = [masterOptions.get(name), minionOptions.get(name)].filter((row) => row !== undefined);
      if (rows.length === 0) wrong[name] = 'absent';
      for (const row of rows) {
        const ours = typesOf(row).flatMap((type) => own[type]);
        const fit = ours.some((type) => types.includes(type)) || (ours.includes('str') && types.includes('tuple'));
        if (!fit) wrong[name] = { types, ours };
      }
    }
    expect(wrong).toEqual({});
  });

  it('has the API defaults', () => {
    expect(Object.fromEntries(apiOptions.map((row) => [row.name, row.default]))).toEqual(tables.api);
  });
});

interface Case {
  kind: 'master' | 'minion' | 'client' | 'api';
  path: string;
  hostname?: string;
  /** Options in which Halite differs on purpose. */
  differs?: string[];
}

/** Set by Salt itself or bound to the machine. */
const ignored = new Set(['__cli', 'ipc_write_buffer', 'user', 'ssh_config_file', 'worker_pools']);
const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

function unpack(name: string): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'halite-config-')));
  roots.push(root);
  cpSync(join(fixtures, name, 'tree'), root, { recursive: true });
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const file = join(root, entry);
    if (statSync(file).isFile()) writeFileSync(file, readFileSync(file, 'utf8').replaceAll('@ROOT@', root));
  }
  return root;
}

function load(spec: Case, root: string): PlainDict {
  const hostname = spec.hostname ?? 'testhost';
  const facts = { hostname: () => hostname, resolve: () => [], readFile: () => undefined, addresses: () => [] };
  const request = { configFile: join(root, spec.path), env: { HOME: join(root, 'home') }, facts };
  const loaders = {
    master: loadMasterConfig,
    minion: loadMinionConfig,
    client: loadClientConfig,
    api: loadApiConfig,
  };
  return loaders[spec.kind](request).opts.raw;
}

/** Halite converts text to the number that the table requires, and back. */
function sameValue(found: unknown, wanted: unknown): boolean {
  if (typeof found === 'number' && typeof wanted === 'string') return found === Number(wanted);
  if (typeof found === 'string' && typeof wanted === 'number') return Number(found) === wanted;
  return JSON.stringify(sorted(found)) === JSON.stringify(sorted(wanted));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

const cases = readdirSync(fixtures).filter((name) => statSync(join(fixtures, name)).isDirectory());

describe.each(versions)('configuration trees against Salt %s', (version) => {
  const tables = saltTables(version);
  it.each(cases)('%s', (name) => {
    const spec = JSON.parse(readFileSync(join(fixtures, name, 'case.json'), 'utf8')) as Case;
    const root = unpack(name);
    const expected = readFileSync(join(fixtures, name, `expected-${version}.json`), 'utf8');
    const wanted: Record<string, unknown> = {
      ...(spec.kind === 'minion' ? tables.minion : tables.master),
      ...(JSON.parse(expected.replaceAll('@ROOT@', root).replaceAll('@HOME@', homedir())) as object),
    };
    const found = plain(load(spec, root)) as Record<string, unknown>;
    const wrong: Record<string, unknown> = {};
    for (const [option, value] of Object.entries(wanted)) {
      if (ignored.has(option) || spec.differs?.includes(option)) continue;
      // A machine on which Salt has run has a cached id, which correctly takes precedence over the host name.
      if (option === 'id' && existsSync('/etc/salt/minion_id')) continue;
      if (changedDefaults[version]?.[option]) continue;
      if (!sameValue(found[option], value)) wrong[option] = { wanted: value, found: found[option] ?? 'absent' };
    }
    expect(wrong).toEqual({});
  });

  it('adds only options of other versions', () => {
    const root = unpack('master-missing');
    const found = Object.keys(load({ kind: 'master', path: 'conf/master' }, root));
    const all = new Set(versions.flatMap((each) => Object.keys(saltTables(each).master)));
    const extra = found.filter((option) => !all.has(option) && !option.startsWith('__'));
    const own = [...apiOptions, ...haliteCluster, ...haliteLog, ...haliteMaster, ...halitePython];
    const ownNames: string[] = own.map((row) => row.name);
    expect(extra.filter((option) => !ownNames.includes(option)).sort()).toEqual([
      'autosign_timeout',
      'id',
      'syndic_dir',
      'token_dir',
    ]);
  });
});
