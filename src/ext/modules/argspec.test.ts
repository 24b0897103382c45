// Every function has the parameters of Salt's function: names, order, defaults.
import { readFileSync } from 'node:fs';
import type { ModuleFunction, Value } from 'halite/sdk';
import { builtinModules } from 'halite/testing';
import { describe, expect, it } from 'vitest';

interface Signature {
  readonly args: string[];
  readonly defaults: Value[];
  readonly varargs: boolean;
  readonly kwargs: boolean;
}

const fixture = new URL('../../../test/fixtures/modules/argspec-3006.27.json', import.meta.url);
const salt = JSON.parse(readFileSync(fixture, 'utf8')) as Record<string, Signature>;

/** Not compared: provided by the file states, for other platforms or out of scope; the report of differences lists each. */
const leftOut = new Set([
  'config.gather_bootstrap_script',
  'pkg.add_repo_key',
  'pkg.del_repo_key',
  'pkg.get_repo_keys',
]);
/** Always refused on Linux. */
const refused = new Set(['cmd.powershell', 'cmd.powershell_all']);

const functions = new Map<string, ModuleFunction>();
/** On the recorded system, other modules provide these functions. */
const elsewhere = new Set(['linux_service', 'proxy_pkg', 'proxy_service', 'runit', 'yumpkg', 'zypperpkg']);
for (const module of await builtinModules()) {
  const name = elsewhere.has(module.name) ? module.name : (module.virtualName ?? module.name);
  for (const [key, fn] of Object.entries(module.functions)) functions.set(`${name}.${key}`, fn);
  for (const [alias, key] of Object.entries(module.aliases ?? {}))
    functions.set(`${name}.${alias}`, module.functions[key] as ModuleFunction);
}

function signatureOf(fn: ModuleFunction): Signature {
  const found: Signature & { varargs: boolean; kwargs: boolean } = {
    args: [],
    defaults: [],
    varargs: false,
    kwargs: false,
  };
  let { varargs, kwargs } = found;
  for (const [name, param] of Object.entries(fn.params)) {
    if (param.kind === 'rest') varargs = true;
    else if (param.kind === 'kwargs') kwargs = true;
    else if (!varargs) {
      found.args.push(name);
      if (!param.required) found.defaults.push(param.default);
    }
  }
  return { ...found, varargs, kwargs };
}

/** The default shell is that of the environment Salt (or Halite) was started in. */
const withoutShell = (values: Value[]): Value[] =>
  values.map((value) => (/^\/(usr\/)?bin\/\w*sh$/.test(String(value)) ? 'shell' : value));

describe('signatures', () => {
  it('has every function of Salt but those left out', () => {
    const missing = Object.keys(salt).filter((name) => !functions.has(name) && !leftOut.has(name));
    expect(missing).toEqual([]);
  });

  it('lists nothing as left out that exists', () => {
    expect([...leftOut].filter((name) => functions.has(name))).toEqual([]);
  });

  for (const [name, wanted] of Object.entries(salt)) {
    const fn = functions.get(name);
    if (!fn || refused.has(name)) continue;
    it(name, () => {
      const found = signatureOf(fn);
      expect({ ...found, defaults: withoutShell(found.defaults) }).toEqual({
        ...wanted,
        defaults: withoutShell(wanted.defaults),
      });
    });
  }
});

describe('documentation', () => {
  it('describes every function', () => {
    expect([...functions].filter(([, fn]) => fn.doc.trim() === '').map(([name]) => name)).toEqual([]);
  });

  it('shows how to call every function', () => {
    const silent = [...functions]
      .filter(([name, fn]) => fn.examples.length === 0 && !refused.has(name))
      .map(([name]) => name);
    expect(silent.filter((name) => !name.startsWith('cp.'))).toEqual([]);
  });
});
