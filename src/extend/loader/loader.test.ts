import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { defineModule, defineState, fn, p, state } from '../sdk/index.ts';
import { createRegistry, Loader } from './index.ts';
import type { BuiltinTable } from './kinds.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function userFolder(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'halite-loader-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const pkgFor = (name: string, family: string) =>
  defineModule({
    name,
    virtualName: 'pkg',
    doc: `Packages of ${family}.`,
    available: ({ grains }) =>
      (grains as Record<string, unknown>)['os_family'] === family || `${name}: only ${family} is supported`,
    functions: { version: fn({ doc: 'Version.', run: () => name }) },
  });

let imported: string[] = [];
const lazily = (name: string, value: unknown) => async () => {
  imported.push(name);
  return { default: value };
};
const table: BuiltinTable = {
  states: {
    note: {
      load: lazily(
        'note',
        defineState({
          name: 'note',
          doc: 'Notes.',
          functions: {
            absent: state({ doc: 'Goes.', examples: ['/etc/motd:\n  note.absent'], run: (_, ctx) => ctx.ok('') }),
          },
        }),
      ),
    },
  },
  modules: {
    aptpkg: { load: lazily('aptpkg', pkgFor('aptpkg', 'Debian')), virtualName: 'pkg' },
    yumpkg: { load: lazily('yumpkg', pkgFor('yumpkg', 'RedHat')), virtualName: 'pkg' },
    winpkg: { load: lazily('winpkg', pkgFor('winpkg', 'Windows')), virtualName: 'winonly' },
    broken: { load: () => Promise.reject(new Error('no such library')) },
    test: {
      load: lazily(
        'test',
        defineModule({
          name: 'test',
          doc: 'Tests.',
          aliases: { list: 'list_' },
          functions: {
            ping: fn({ doc: 'Answer.', examples: ["salt '*' test.ping"], run: () => true }),
            list_: fn({ doc: 'List.', params: { name: p.string({ doc: 'what' }) }, run: ({ name }) => [name] }),
          },
        }),
      ),
    },
  },
};

function loader(dirs: string[] = [], userCode: 'import' | 'names' = 'import'): { loader: Loader; problems: unknown[] } {
  imported = [];
  const problems: unknown[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (_: string, fields?: unknown) => void problems.push(fields) };
  const grains = newDict([['os_family', 'RedHat']]);
  return {
    loader: new Loader({
      opts: () => ({ module_dirs: dirs }),
      grains: () => grains,
      log,
      userCode,
      builtin: table,
    }),
    problems,
  };
}

describe('built-in extensions', () => {
  it('imports only what is asked for', async () => {
    const { loader: l } = loader();
    expect(imported).toEqual([]);
    expect((await l.find('modules', 'test.ping'))?.fn.doc).toBe('Answer.');
    expect(imported).toEqual(['test']);
  });

  it('chooses the provider of a virtual name once, by availability', async () => {
    const { loader: l } = loader();
    expect((await l.find('modules', 'pkg.version'))?.module.extension.name).toBe('yumpkg');
    expect(await l.find('modules', 'pkg.version')).toBeDefined();
    expect(imported).toEqual(['aptpkg', 'yumpkg']);
    expect(await l.find('modules', 'aptpkg.version')).toBeUndefined();
  });

  it('finds functions by their aliases and by their names', async () => {
    const { loader: l } = loader();
    expect((await l.find('modules', 'test.list'))?.name).toBe('list_');
    expect((await l.find('modules', 'test.list_'))?.name).toBe('list_');
    expect(await l.find('modules', 'test.constructor')).toBeUndefined();
    expect(await l.find('modules', 'test')).toBeUndefined();
  });

  it('gives the reason why a function is missing, with the most similar name', async () => {
    const { loader: l, problems } = loader();
    expect(await l.missingText('modules', 'no.such_function')).toBe("'no.such_function' is not available.");
    expect(await l.missingText('modules', 'test.pnig')).toBe("'test.pnig' is not available.");
    for (const typed of ['test.pnig', 'tset.ping', 'testt.ping'])
      expect(await l.nearestName('modules', typed), typed).toBe('test.ping');
    expect(await l.nearestName('modules', 'no.such_function')).toBeUndefined();
    expect(await l.missingText('modules', 'winonly.version')).toBe(
      "'winonly' __virtual__ returned False: winpkg: only Windows is supported",
    );
    expect(await l.missingText('modules', 'broken.x')).toBe("'broken' __virtual__ returned False: no such library");
    expect(problems).toEqual([{ kind: 'modules', origin: 'built-in', problem: 'no such library' }]);
    expect([...l.failures('modules').keys()].sort()).toEqual(['broken', 'winonly']);
  });

  it('retries what was missing when requested, and not before', async () => {
    let there = false;
    const tool = defineModule({
      name: 'tool',
      doc: 'A tool.',
      available: () => there || 'the tool is not installed',
      functions: { version: fn({ doc: 'Version.', run: () => 1 }) },
    });
    const user = defineModule({
      name: 'user',
      doc: 'Its user.',
      available: ({ callable }) => callable('tool.version'),
      functions: { x: fn({ doc: 'X.', run: () => 1 }) },
    });
    const l = new Loader({
      opts: () => ({}),
      grains: () => newDict(),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      userCode: 'import',
      builtin: { modules: { tool: { load: lazily('tool', tool) }, user: { load: lazily('user', user) } } },
    });
    const reason = "'user' __virtual__ returned False: the tool is not installed";
    expect(await l.missingText('modules', 'user.x')).toBe(reason);
    there = true;
    expect(await l.missingText('modules', 'user.x')).toBe(reason);
    l.retryMissing();
    expect(await l.find('modules', 'user.x')).toBeDefined();
    expect([...l.failures('modules')]).toEqual([]);
  });

  it('skips what the configuration disables', async () => {
    const make = (opts: Record<string, string[]>) =>
      new Loader({
        opts: () => opts,
        grains: () => newDict(),
        log: { debug() {}, info() {}, warn() {}, error() {} },
        userCode: 'import',
        builtin: table,
      });
    const disabled = make({ disable_modules: ['test'] });
    expect(await disabled.find('modules', 'test.ping')).toBeUndefined();
    expect(await disabled.missingText('modules', 'test.ping')).toBe("'test.ping' is not available.");
    expect(await make({ whitelist_modules: ['pkg'] }).find('modules', 'test.ping')).toBeUndefined();
    expect(await make({ whitelist_modules: ['test'] }).find('modules', 'test.ping')).toBeDefined();
  });

  it('provides the registry for sys.*', async () => {
    const { loader: l } = loader();
    const registry = createRegistry(l);
    expect(await registry.functionNames('modules')).toEqual(['pkg.version', 'test.list', 'test.list_', 'test.ping']);
    expect(await registry.moduleNames('modules')).toEqual(['pkg', 'test']);
    expect(await registry.functionNames('nonsense')).toEqual([]);
    const info = await registry.functionInfo('modules', 'test.ping');
    expect(info?.doc).toBe(
      "\n    Answer.\n\n    CLI Example:\n\n    .. code-block:: bash\n\n        salt '*' test.ping\n    ",
    );
    expect(await registry.moduleDoc('modules', 'test')).toBe('Tests.');
    const absent = await registry.functionInfo('states', 'note.absent');
    expect(absent?.doc).toBe(
      '\n    Goes.\n\n    Example:\n\n    .. code-block:: yaml\n\n        /etc/motd:\n          note.absent\n    ',
    );
  });
});

describe('user files', () => {
  it('reads plain functions: names, parameters, defaults and comments', async () => {
    const folder = userFolder({
      'hello.mjs': `// Greetings.
const secret = () => 1;
/** Greet somebody.  CLI: salt '*' hello.greet bob greeting=Hi
 * @param name - who
 */
export function greet(name, greeting = 'Hello', when = Date.now(), ...rest) {
  return [greeting, name, typeof when, rest, this.id];
}
// Remove it.
export const delete_ = async (what /* a, comment */, { force = false } = {}) => [what, force];
export function _hidden() {}
export const number = 5;
`,
    });
    const { loader: l } = loader([folder]);
    const found = await l.find('modules', 'hello.greet');
    expect(found?.fn.doc).toBe('Greet somebody.');
    expect(found?.fn.examples).toEqual(["salt '*' hello.greet bob greeting=Hi"]);
    expect(
      Object.entries(found!.fn.params).map(([name, param]) => [name, param.kind, param.required, param.default]),
    ).toEqual([
      ['name', 'any', true, null],
      ['greeting', 'any', false, 'Hello'],
      ['when', 'any', false, null],
      ['rest', 'rest', false, null],
    ]);
    expect(found?.fn.params['name']?.doc).toBe('who');
    const run = found!.fn.run as (args: unknown, ctx: unknown) => unknown;
    expect(run({ name: 'bob', greeting: 'Hi', rest: [1, 2] }, { id: 'm1' })).toEqual([
      'Hi',
      'bob',
      'number',
      [1, 2],
      'm1',
    ]);
    const removed = await l.find('modules', 'hello.delete');
    expect(removed?.fn.doc).toBe('Remove it.');
    expect(Object.values(removed!.fn.params).map((param) => param.kind)).toEqual(['any', 'kwargs']);
    expect(await l.find('modules', 'hello._hidden')).toBeUndefined();
    expect(await l.find('modules', 'hello.number')).toBeUndefined();
  });

  it('lets a user file replace a built-in and have a virtual name', async () => {
    const folder = userFolder({
      'test.js': 'export function ping() { return "mine"; }',
      'brewpkg.mjs': 'export const __virtualname__ = "pkg"; export function version() { return "brew"; }',
      'never.mjs': 'export function __virtual__() { return [false, "not today"]; } export function x() {}',
    });
    const { loader: l } = loader([folder]);
    expect((await l.find('modules', 'test.ping'))?.module.origin).toBe(join(folder, 'test.js'));
    expect((await l.find('modules', 'pkg.version'))?.module.origin).toBe(join(folder, 'brewpkg.mjs'));
    expect(await l.find('modules', 'brewpkg.version')).toBeUndefined();
    expect(await l.missingText('modules', 'never.x')).toBe("'never' __virtual__ returned False: not today");
    expect(await l.isUserCode('modules', 'pkg')).toBe(true);
  });

  it('refuses a file that declares another name than its own', async () => {
    const declared = (name: string) =>
      `export default { kind: 'modules', name: '${name}', doc: '', functions: { x: { run() {} } } };`;
    const folder = userFolder({ 'hello.mjs': declared('helo'), 'right.mjs': declared('right') });
    const { loader: l, problems } = loader([folder]);
    const file = join(folder, 'hello.mjs');
    const reason = `${file}: its name is helo, but the file is called hello.mjs: make them the same (virtualName gives it another name to be called by)`;
    expect(await l.missingText('modules', 'hello.x')).toBe(`'hello' __virtual__ returned False: ${reason}`);
    expect(problems).toEqual([{ kind: 'modules', origin: file, problem: reason }]);
    expect(await l.find('modules', 'right.x')).toBeDefined();
  });

  it('accepts grains and outputters as plain functions too', async () => {
    const folder = userFolder({
      'site.mjs':
        'export function where() { return { site: "b" + this.opts.n }; } export function more(g) { return { seen: g.os }; }',
      'shout.mjs': 'export function output(data) { return String(data).toUpperCase(); }',
    });
    const make = new Loader({
      opts: () => ({ grains_dirs: [folder], outputter_dirs: [folder], n: 1 }),
      grains: () => newDict(),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      userCode: 'import',
      builtin: {},
    });
    const grain = (await make.get('grains', 'site'))!.extension;
    const ctx = { opts: { n: 1 } } as unknown as Parameters<typeof grain.collect>[0];
    expect({ ...(await grain.collect(ctx, newDict([['os', 'X']]))) }).toEqual({ site: 'b1', seen: 'X' });
    expect((await make.get('outputters', 'shout'))?.extension.render('a', { color: false, opts: {} })).toBe('A');
    expect(await make.get('outputters', 'site')).toBeUndefined();
  });

  it('adds users’ grains to built-in ones of the same name', async () => {
    const folder = userFolder({
      'core.mjs': 'export function site() { return { site: "b" }; }',
      'area.mjs': 'export function area() { return { area: 1 }; }',
      'broken.mjs': 'export function x( {',
    });
    const core = { kind: 'grains', name: 'core', doc: '', collect: () => newDict([['id', 'm1']]) };
    const make = new Loader({
      opts: () => ({ grains_dirs: [folder] }),
      grains: () => newDict(),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      userCode: 'import',
      builtin: { grains: { core: { load: async () => ({ default: core }) } } },
    });
    expect((await make.collectors()).map(({ name }) => name)).toEqual(['core', 'area', 'core']);
    expect((await make.fresh({ userCode: 'names' }).collectors()).map(({ name }) => name)).toEqual(['core']);
  });

  it('disables a broken file with its reason and keeps the other files', async () => {
    const folder = userFolder({
      'bad.mjs': 'export function x( {',
      'wrong.mjs': 'export default { kind: "grains", name: "wrong", collect() {} };',
      'good.mjs': 'export function x() { return 1; }',
    });
    const { loader: l, problems } = loader([folder]);
    expect(await l.find('modules', 'bad.x')).toBeUndefined();
    expect(await l.find('modules', 'good.x')).toBeDefined();
    expect(await l.find('modules', 'wrong.x')).toBeUndefined();
    expect(l.reason('modules', 'bad')).toContain('bad.mjs');
    expect(l.reason('modules', 'wrong')).toContain('"grains"');
    expect(problems).toHaveLength(2);
  });

  it('lists user files without importing them when requested', async () => {
    const folder = userFolder({ 'test.mjs': 'throw new Error("imported in a daemon");' });
    const { loader: l, problems } = loader([folder], 'names');
    expect(await l.isUserCode('modules', 'test')).toBe(true);
    expect((await l.find('modules', 'test.ping'))?.module.origin).toBe('built-in');
    expect(problems).toEqual([]);
  });
});

describe('providers', () => {
  const withProviders = (providers: Record<string, string>): Loader =>
    new Loader({
      opts: () => ({ providers: newDict(Object.entries(providers)) }),
      grains: () => newDict([['os_family', 'Debian']]),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      userCode: 'import',
      builtin: table,
    });

  it('uses the configured module for a name on every system', async () => {
    const found = await withProviders({ pkg: 'yumpkg' }).find('modules', 'pkg.version');
    expect(found?.module.extension.name).toBe('yumpkg');
    expect((await withProviders({}).find('modules', 'pkg.version'))?.module.extension.name).toBe('aptpkg');
  });

  it.each(['nothing', 'constructor'])('ignores a configured module that does not exist: %s', async (name) => {
    expect((await withProviders({ pkg: name }).find('modules', 'pkg.version'))?.module.extension.name).toBe('aptpkg');
  });
});
