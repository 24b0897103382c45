// Pipes, renderers and their messages, with files and functions of the test.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pyRepr } from '../../base/codec/python/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { Loader } from '../../extend/loader/index.ts';
import { RenderError, type RenderRequest } from '../../extend/sdk/index.ts';
import { type RenderHost, renderFile, renderText } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-render-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const logged: string[] = [];
const note = (text: string): void => void logged.push(text);
const log = { debug: () => undefined, info: note, warn: note, error: note };

interface Extras {
  readonly opts?: PlainDict;
  readonly files?: Record<string, string>;
  readonly calls?: [string, readonly Value[], PlainDict][];
}

function host({ opts = newDict(), files = {}, calls = [] }: Extras = {}): RenderHost {
  return {
    loader: new Loader({ opts: () => opts, grains: () => newDict(), log, userCode: 'names' }),
    log,
    opts,
    grains: newDict([['os', 'Debian']]),
    pillar: newDict([['role', 'web']]),
    files: {
      async cacheFile(url, saltenv) {
        const text = files[`${saltenv}:${url}`];
        return text === undefined ? undefined : { path: `/cache/${saltenv}/${url.slice(7)}`, text };
      },
    },
    functions: {
      modules: async () => new Set(['test', 'fail']),
      has: async (fun) => fun === 'test.echo' || fun === 'fail.now',
      async call(fun, args, kwargs) {
        calls.push([fun, args, kwargs]);
        if (fun === 'fail.now') throw new HaliteError('call.failed', 'it broke');
        return args[0] ?? null;
      },
    },
    exec: () => Promise.reject(new Error('nothing runs here')),
  };
}

const shown = async (text: string, request?: RenderRequest, extras?: Extras): Promise<string> =>
  pyRepr(await renderText(host(extras), text, request));
async function failure(text: string, request?: RenderRequest, extras?: Extras): Promise<RenderError> {
  const thrown = await renderText(host(extras), text, request).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(RenderError);
  return thrown as RenderError;
}

describe('pipes', () => {
  it('uses the #! line, then the request, then the option, then jinja and yaml', async () => {
    expect(await shown('#!yaml\nx: "{{ 1 }}"')).toBe("{'x': '{{ 1 }}'}");
    expect(await shown('x: "{{ 1 }}"', { renderer: 'yaml' })).toBe("{'x': '{{ 1 }}'}");
    expect(await shown('x: "{{ 1 }}"', {}, { opts: newDict([['renderer', 'yaml']]) })).toBe("{'x': '{{ 1 }}'}");
    expect(await shown('x: {{ 1 }}')).toBe("{'x': 1}");
  });
  it('uses exactly the requested pipe, independent of the first line', async () => {
    expect(await shown('#!yaml\n{{ 1 + 1 }}', { pipe: 'jinja' })).toBe("'#!yaml\\n2'");
  });
  it('skips renderers that are not allowed, and everything when one does not exist', async () => {
    const opts = newDict([['renderer_blacklist', ['jinja']]]);
    expect(await shown('x: "{{ 1 }}"', {}, { opts })).toBe("{'x': '{{ 1 }}'}");
    expect(await shown('#!jinja|nosuch\nx: 1')).toBe('{}');
    expect(logged.some((text) => text.includes('"jinja|nosuch" is not available'))).toBe(true);
  });
  it.each(['py', 'mako', 'wempy', 'pyobjects'])('refuses %s where Python is not run', async (name) => {
    const error = await failure(`#!${name}\nx`);
    expect(error.message).toBe(`"#!${name}" needs Python, which is not run in this process`);
  });
  it('refuses text renderers behind data', async () => {
    expect((await failure('#!yaml|jinja\nx: 1')).message).toContain('takes text');
  });
  it('keeps Windows line ends', async () => {
    expect(await renderText(host(), '#!jinja\r\na {{ 1 }}\r\n')).toBe('#!jinja\r\na 1\r\n');
  });
  it('gives an empty map for files that are missing, empty or blank', async () => {
    const path = join(folder, 'blank.sls');
    writeFileSync(path, ' \n\n');
    expect(pyRepr(await renderFile(host(), path))).toBe('{}');
    expect(pyRepr(await renderFile(host(), join(folder, 'none.sls')))).toBe('{}');
  });
  it('names the byte that is no UTF-8', async () => {
    const path = join(folder, 'latin.sls');
    writeFileSync(path, Buffer.from('x: caf\xe9\n', 'latin1'));
    await expect(renderFile(host(), path)).rejects.toThrow(
      "'utf-8' codec can't decode byte 0xe9 in position 6: invalid continuation byte",
    );
  });
});

describe('jinja', () => {
  it('calls functions by subscript and attribute, with named arguments', async () => {
    const calls: [string, readonly Value[], PlainDict][] = [];
    expect(await shown("x: {{ salt['test.echo']('a') }}{{ salt.test.echo('b', n=1) }}", {}, { calls })).toBe(
      "{'x': 'ab'}",
    );
    expect(calls.map(([fun, args, kwargs]) => [fun, args, { ...kwargs }])).toEqual([
      ['test.echo', ['a'], {}],
      ['test.echo', ['b'], { n: 1 }],
    ]);
  });
  it('finds which functions exist', async () => {
    expect(
      await shown("x: {{ 'test.echo' in salt }}\ny: {{ 'test.no' in salt }}\nz: {{ salt['no.no'] is defined }}"),
    ).toBe("{'x': True, 'y': False, 'z': False}");
    expect((await failure("{{ salt['test.no']() }}")).message).toMatch(
      /^Jinja variable 'salt.utils.templates.AliasedLoader object' has no attribute 'test.no'; line 1\n/,
    );
  });
  it.each([
    ['pillar.nosuch', 'salt.utils.context.NamespacedDictWrapper object'],
    ["pillar['nosuch']['x']", 'salt.utils.context.NamespacedDictWrapper object'],
    ["grains['nosuch']", 'dict object'],
    ["{'a': 1}.nosuch", 'dict object'],
  ])('names the object in which {{ %s }} was searched, as Salt does', async (expression, owner) => {
    expect((await failure(`{{ ${expression} }}`)).message).toMatch(
      new RegExp(`^Jinja variable '${owner}' has no attribute 'nosuch'; line 1\n`),
    );
  });
  it('words errors of functions as Salt does', async () => {
    const error = await failure("a: 1\nx: {{ salt['fail.now']() }}");
    expect(error.message).toBe(
      "Problem running salt function in Jinja template: it broke; line 2\n\n---\na: 1\nx: {{ salt['fail.now']() }}    <======================\n---",
    );
    expect(error.place.line).toBe(2);
  });
  it('prefers explicit names over its own', async () => {
    const context = newDict(Object.entries({ who: 'me', grains: 'mine', tplfile: 'other' }));
    expect(await shown('{{ who }} {{ grains }} {{ tplfile }} {{ sls }}', { pipe: 'jinja', sls: 'a', context })).toBe(
      "'me mine other a'",
    );
  });
  it('has no SLS variables for a text without an SLS, unless one is given', async () => {
    const text = '{{ sls is defined }} {{ tpldir is defined }} {{ slspath|default(1) }}';
    const file = { pipe: 'jinja', sls: null, path: '/srv/a.conf' };
    expect(await shown(text, file)).toBe("'False False 1'");
    const context = newDict([['sls', 'web.conf']]);
    expect(await shown(text, { ...file, context })).toBe("'True False web/conf'");
  });
  it('imports from the tree of its environment, relative names from its own folder', async () => {
    const files = {
      'dev:salt://lib.jinja': '{% set v = pillar.role %}',
      'dev:salt://app/map.jinja': "{% set w = tpldir ~ '!' %}",
    };
    const text = "{% from 'lib.jinja' import v %}{% from './map.jinja' import w with context %}x: {{ v }}{{ w }}";
    const request = { saltenv: 'dev', sls: 'app', path: '/srv/app/init.sls' };
    expect(await shown(text, request, { files })).toBe("{'x': 'webapp!'}");
  });
  it('shows the position in the file that failed, and the including files', async () => {
    const files = { 'base:salt://m.jinja': '{% macro go() %}\n{{ nothing }}\n{% endmacro %}' };
    const text = "{% from 'm.jinja' import go %}\nx: {{ go() }}";
    const error = await failure(text, { sls: 'a', path: '/srv/a.sls' }, { files });
    expect(error.message).toBe(
      "Jinja variable 'nothing' is undefined\n/cache/base/m.jinja(2):\n---\n{% macro go() %}\n{{ nothing }}    <======================\n{% endmacro %}\n---",
    );
    expect(error.place).toMatchObject({ file: '/cache/base/m.jinja', line: 2 });
    expect(error.place.stack).toEqual(['/srv/a.sls(2)', '/cache/base/m.jinja(2)']);
  });
  it('finds neighbours of a template that belongs to no environment, and nothing else', async () => {
    writeFileSync(join(folder, 'near.jinja'), '{% set v = 5 %}');
    const request = { pipe: 'jinja', saltenv: '', path: join(folder, 'main.tmpl') };
    expect(await renderText(host(), "{% from 'near.jinja' import v %}{{ v }}", request)).toBe('5');
    await expect(renderText(host(), "{% from '../x' import v %}", request)).rejects.toThrow('Jinja error: ../x');
  });
});

describe('yaml', () => {
  it.each([
    ['x: a: b', 'mapping values are not allowed in this context', 1],
    ['x:\n\ty: 1', 'found character that cannot start any token', 2],
    [
      'x: 1\nx: 2',
      'while constructing a mapping\n  in "<unicode string>", line 1, column 1\nfound conflicting ID \'x\'\n  in "<unicode string>", line 2, column 1',
      2,
    ],
  ])('reports the problem and position in %j', async (text, message, line) => {
    const error = await failure(text, { renderer: 'yaml', path: '/srv/x.sls' });
    expect(error.message).toBe(message);
    expect(error.place).toMatchObject({ file: '/srv/x.sls', line });
    expect(error.located).toContain(`in /srv/x.sls, line ${line}`);
    expect(error.located).toContain('<======================');
  });
  it('has different hints for tabs and duplicates', async () => {
    expect((await failure('x:\n\ty: 1', { renderer: 'yaml' })).hint).toContain('tab');
    expect((await failure('x: 1\nx: 2', { renderer: 'yaml' })).hint).toContain('another name');
  });
});

describe('json', () => {
  it.each([
    ['{"a": "x\\q"}', 'Invalid \\escape: line 1 column 9 (char 8)'],
    ['{"a": "\\u12g4"}', 'Invalid \\uXXXX escape: line 1 column 9 (char 8)'],
    ['{"a" 1}', "Expecting ':' delimiter: line 1 column 6 (char 5)"],
    ['{"a": 1,}', 'Expecting property name enclosed in double quotes: line 1 column 9 (char 8)'],
    ['[1,]', 'Expecting value: line 1 column 4 (char 3)'],
    ['[1 2]', "Expecting ',' delimiter: line 1 column 4 (char 3)"],
    ['{a:1}', 'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)'],
    ['"abc', 'Unterminated string starting at: line 1 column 1 (char 0)'],
    ['"a\nb"', 'Invalid control character at: line 1 column 3 (char 2)'],
    ['1 2', 'Extra data: line 1 column 3 (char 2)'],
    ['{"a": tru}', 'Expecting value: line 1 column 7 (char 6)'],
    ['-', 'Expecting value: line 1 column 1 (char 0)'],
    ['"a\\', 'Unterminated string starting at: line 1 column 1 (char 0)'],
    ['[1,\n2,\n x]', 'Expecting value: line 3 column 2 (char 8)'],
    ['{"a":1', "Expecting ',' delimiter: line 1 column 7 (char 6)"],
  ])('fails on %j as Python does', async (text, message) => {
    expect((await failure(text, { pipe: 'json' })).message).toBe(message);
  });
});

describe('code and text', () => {
  it('runs a module and takes its default export', async () => {
    expect(await shown("#!js\nexport default { a: { 'pkg.installed': [] }, n: 1.5 };")).toBe(
      "{'a': {'pkg.installed': []}, 'n': 1.5}",
    );
  });
  it('passes a function the variables of a template', async () => {
    const text = `#!js
      export default async ({ salt, grains, pillar, sls, who }) => ({
        os: grains.os, role: pillar.role, sls, who, said: await salt('test.echo', 'hi', { kwargs: { n: 1 } }),
      });`;
    const calls: [string, readonly Value[], PlainDict][] = [];
    const context = newDict([['who', 'me']]);
    expect(await shown(text, { sls: 'a.b', context }, { calls })).toBe(
      "{'os': 'Debian', 'role': 'web', 'sls': 'a.b', 'who': 'me', 'said': 'hi'}",
    );
    expect({ ...calls[0]?.[2] }).toEqual({ n: 1 });
  });
  it('reports where code fails', async () => {
    const error = await failure("#!js\nexport default () => {\n  throw new Error('no way');\n};");
    expect(error.message).toBe('Error: no way; line 3');
    expect((await failure('#!js\nexport const x = 1;')).message).toBe('The file has no default export');
    expect((await failure('#!js\nexport default () => ({ f() {} });')).message).toContain('holds a function');
    expect((await failure('#!js\nexport default {{')).message).toContain('SyntaxError');
  });
  it('removes types from TypeScript', async () => {
    const head = "#!ts\nimport type { SlsBuilder } from 'halite/sdk';\n";
    expect(await shown('#!ts\nconst n: number = 2;\nexport default { n };')).toBe("{'n': 2}");
    const build = 'const build: SlsBuilder = ({ sls }) => ({ at: sls as string });\nexport default build;';
    expect(await shown(`${head}${build}`, { sls: 'web' })).toBe("{'at': 'web'}");
    expect((await failure('#!ts\nexport default (() => {\n  throw new Error("x" as string);\n});')).message).toBe(
      'Error: x; line 3',
    );
    expect((await failure('#!ts\nexport default { a: : 1 };')).message).toMatch(/^TypeScript syntax error: /);
  });
  it('passes text through', async () => {
    expect(await renderText(host(), '#!jinja|text\n{{ 1 }}', {})).toBe('#!jinja|text\n1');
    expect(await renderText(host(), '#!text\nas {{ it }} is', {})).toBe('as {{ it }} is');
  });
});

describe('pass', () => {
  const store = newDict([['db/pw', 's3cret']]);
  const passHost = (opts: PlainDict): RenderHost => ({
    ...host({ opts }),
    exec: async (file, args, options) => {
      expect([file, args[0], options?.env?.['PASSWORD_STORE_DIR']]).toEqual(['pass', 'show', '/store']);
      const found = store[args[1] as string];
      const stdout = typeof found === 'string' ? `${found}\n` : '';
      return { pid: 1, retcode: stdout === '' ? 1 : 0, stdout, stderr: 'not in the password store', timedOut: false };
    },
  });
  const base = { pass_dir: '/store', pass_variable_prefix: 'pass:' };
  const text = '#!yaml|pass\na: "pass: db/pw"\nb: [plain, {c: "pass:db/pw"}]\nd: 5\n';

  it('replaces texts with the prefix, wherever they are', async () => {
    const made = await renderText(passHost(newDict(Object.entries(base))), text);
    expect(pyRepr(made)).toBe("{'a': 's3cret', 'b': ['plain', {'c': 's3cret'}], 'd': 5}");
  });
  it('keeps references to missing secrets, or refuses them', async () => {
    const missing = '#!yaml|pass\na: "pass:none"\nb: "pass:--clip"\n';
    const made = await renderText(passHost(newDict(Object.entries(base))), missing);
    expect(made).toEqual({ a: 'pass:none', b: 'pass:--clip' });
    const strict = newDict(Object.entries({ ...base, pass_strict_fetch: true }));
    await expect(renderText(passHost(strict), missing)).rejects.toThrow("Could not fetch secret 'none'");
    const alone = newDict([['pass_strict_fetch', true]]);
    await expect(renderText(passHost(alone), missing)).rejects.toThrow("requires 'pass_variable_prefix'");
  });
});
