// Salt's filters that depend on the machine, on random numbers or on the network; recorded cases cover the others.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEnvironment } from '../index.ts';

const environment = createEnvironment();
const render = (source: string, context = {}): string => environment.renderSync(source, context);

describe('files', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'halite-jinja-'));
    writeFileSync(join(folder, 'text'), 'some text\n');
    writeFileSync(join(folder, 'binary'), Buffer.from([0, 1, 2, 255]));
    writeFileSync(join(folder, 'empty'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are distinguished', () => {
    const names = ['text', 'binary', 'empty', 'none'].map((name) => join(folder, name));
    const answer = (filter: string): string =>
      names.map((name) => render(`{{ n | ${filter} }}`, { n: name })).join(' ');
    expect(answer('is_text_file')).toBe('True False True False');
    expect(answer('is_bin_file')).toBe('False True False False');
    expect(answer('is_empty')).toBe('False False True False');
  });

  it('are hashed and listed', () => {
    const path = join(folder, 'text');
    expect(render('{{ p | file_hashsum }}', { p: path })).toBe(
      'a23e5fdcd7b276bdd81aa1a0b7b963101863dd3f61ff57935f8c5ba462681ea6',
    );
    expect(render('{{ p | file_hashsum("md5") | length }}', { p: path })).toBe('32');
    expect(render('{{ f | list_files | sort == [f, f ~ "/binary", f ~ "/empty", f ~ "/text"] }}', { f: folder })).toBe(
      'True',
    );
    expect(() => render('{{ "/no/such/file" | file_hashsum }}')).toThrow('No such file or directory');
    expect(() => render('{{ p | file_hashsum("nope") }}', { p: path })).toThrow('Invalid hash type: nope');
  });

  it('of programs and users are found', () => {
    expect(render("{{ 'sh' | which is string }} {{ 'no-such-program' | which }} {{ 'root' | get_uid }}")).toBe(
      'True None 0',
    );
    expect(render("{{ '' | get_uid }} {{ 'no-such-user' | get_uid }} {{ 'root:x' | get_uid }}")).toBe('None None None');
  });
});

describe('odd arguments', () => {
  it.each([
    ["{{ (1, 2) | json_query('[0]') }}{{ (1, 2) | json_query('type(@)') }}", 'NoneNone'],
    ["{{ range(2) | json_query('to_string(@)') }}", '"range(0, 2)"'],
    ["{{ ['x', 5] | filter_by_networks([]) }}", '[]'],
    ['{{ 5 | product(repeat=0) | list }}', '[()]'],
    ["{{ ['a'] | flatten('x') }}{{ [[1], 2] | flatten(1.0) }}", "['a'][1, 2]"],
    ["{{ '1e3' | strftime('%H:%M') }}", '00:16'],
    ['{{ 7 | is_bin_file }}{{ 7 | is_text_file }}{{ 7 | is_empty }}', 'FalseFalseFalse'],
    ['{{ 2.5 | round(none) }} {{ 3 | round(none) }}', '2 3'],
    ["{{ 'a' | to_bytes('utf-16') }} {{ 'a' | to_bytes('utf-16-be') }}", "b'\\xff\\xfea\\x00' b'\\x00a'"],
  ])('%s', (template, text) => {
    process.env['TZ'] = 'UTC';
    expect(render(template)).toBe(text);
  });

  it.each([
    ["{{ (1,) | json_query('max(@)') }}", `['array-number', 'array-string'], received: "unknown"`],
    ['{{ [] | json_query(none) }}', 'Invalid JMESPath expression: cannot be empty.'],
    ['{{ [] | json_query(5) }}', "'int' object is not iterable"],
    ["{{ 'ab' | permutations('a') }}", 'Expected int as r'],
    ["{{ 'ab' | product(repeat=-1) }}", 'repeat argument cannot be negative'],
    ["{{ [[1]] | flatten('x') }}", "'>=' not supported between instances of 'str' and 'int'"],
    ["{{ 'ab' | compare_dicts({'a': 1}) }}", "string indices must be integers, not 'str'"],
    ['{{ [3] | compare_dicts({}) }}', 'list index out of range'],
    ["{{ 'a:b' | set_dict_key_value('a:b', 1) }}", "string indices must be integers, not 'str'"],
    ['{{ [] | hmac(1, 2) }}', "not <class 'list'>"],
    ['{{ [] | file_hashsum }}', 'expected str, bytes or os.PathLike object, not list'],
    ['{{ 2.5 | is_empty }}', 'stat: path should be string, bytes, os.PathLike or integer, not float'],
    ['{{ 0 | is_bin_file }}', '0 is not a permitted file descriptor'],
    ["{{ [5] | mysql_to_dict('a') }}", "'int' object has no attribute 'startswith'"],
    ["{{ '12' | json_query('contains(@, `1`)') }}", "'in <string>' requires string as left operand, not int"],
    ['{{ [] | get_uid }}', 'getpwnam() argument must be str, not list'],
    ['{{ 0 | strftime(5) }}', 'strftime() argument 1 must be str, not int'],
    ['{{ 5 | human_to_bytes(none) }}', "'NoneType' object has no attribute 'lower'"],
    ['{{ 5 | method_call(5) }}{{ 1 }}', "attribute name must be string, not 'int'"],
    ["{{ 'a' | attr(none) }}", "attribute name must be string, not 'NoneType'"],
    ["{{ 5 | regex_replace('x', '\\\\9') }}", 'invalid group reference 9 at position 1'],
    ["{{ 'x' | regex_replace('x', '\\\\g<') }}", 'missing group name at position 3'],
    ["{{ 'x' | round('y') }}", "type str doesn't define __round__ method"],
  ])('%s', (template, text) => {
    expect(() => render(template)).toThrow(text);
  });
});

describe('chance', () => {
  it('is deterministic with a seed, as in Python', () => {
    expect(render("{{ [1,2,3,4,5] | random_shuffle('seed') }}{{ range(100) | list | random_sample(8, 'x') }}")).toBe(
      '[2, 5, 1, 3, 4][55, 92, 35, 15, 5, 47, 63, 94]',
    );
  });

  it.each([
    ['{{ [1,2,3] | random_shuffle | sort }}', /^\[1, 2, 3\]$/],
    ['{{ none | gen_mac }}', /^None(:[0-9A-F]{2}){3}$/],
    ["{{ 'AA:BB:CC' | gen_mac }}", /^AA:BB:CC(:[0-9A-F]{2}){3}$/],
    ['{{ 12 | random_str }}', /^.{12}$/],
    ['{{ 99 | random_hash }}', /^[0-9a-f]{32}$/],
    ["{{ 99 | rand_str('sha1') }}", /^[0-9a-f]{40}$/],
    ['{{ lipsum(2, false) }}', /^[A-Z][^\n]*\.\n\n[A-Z][^\n]*\.$/],
    ['{{ [7] | random }}', /^7$/],
  ])('%s', (template, shape) => {
    expect(render(template)).toMatch(shape);
  });
});

describe('dates', () => {
  it.each([
    ["{{ '2002/12/25' | strftime('%y-%m-%d') }}", '02-12-25'],
    ["{{ '25 December 2002 10:30' | strftime('%F %T') }}", '2002-12-25 10:30:00'],
    ["{{ 'Dec 25, 2002' | strftime }}", '2002-12-25'],
    ["{{ '2002-12-25T10:30:00+02:00' | strftime('%H:%M') }}", '10:30'],
    ["{{ '20021225' | strftime('%j') }}", '359'],
    [
      "{{ 'tomorrow' | strftime }} {{ '+2 weeks' | strftime }} {{ 'last month' | strftime }}",
      '2024-03-01 2024-03-14 2024-01-29',
    ],
    ["{{ none | strftime('%Y') }}", '2024'],
  ])('%s', (template, text) => {
    const now = Date.UTC(2024, 1, 29, 12);
    expect(environment.renderSync(template, {}, { now: () => now })).toBe(text);
  });

  it('refuses what it cannot read', () => {
    expect(() => render("{{ 'no date' | strftime }}")).toThrow('Unable to parse no date');
  });
});

describe('network', () => {
  it('asks a server', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.statusCode = request.url === '/missing' ? 404 : 200;
      response.end(JSON.stringify({ method: request.method, url: request.url, tag: request.headers['x-tag'] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const u = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const ask = (template: string): Promise<string> => environment.render(template, { u });
      expect(
        await ask(
          "{{ (u ~ '/a') | http_query(decode=true, status=true, header_dict={'x-tag': 't'}, params={'q': 1}) }}",
        ),
      ).toBe(
        `{'body': '{"method":"GET","url":"/a?q=1","tag":"t"}', 'status': 200, 'dict': {'method': 'GET', 'url': '/a?q=1', 'tag': 't'}}`,
      );
      expect(await ask("{{ ((u ~ '/missing') | http_query).status }}")).toBe('404');
      const port = (server.address() as AddressInfo).port;
      expect(await ask(`{{ '127.0.0.1' | dns_check(${port}) }}`)).toBe('127.0.0.1');
    } finally {
      server.close();
    }
    await expect(environment.render("{{ 'nowhere.invalid' | dns_check(80) }}")).rejects.toThrow(
      "of 'nowhere.invalid' failed",
    );
  });
});

describe('globals', () => {
  it('choose by target with ifelse', async () => {
    const salt = { 'match.compound': ([target]: unknown[]) => target === 'G@os:Debian' };
    const slow = { 'match.compound': ([target]: unknown[]) => Promise.resolve(target === 'G@os:Debian') };
    const template = "{{ ifelse('web*', 1, 'G@os:Debian', {'a': 2}, 3, merge={'b': 4}) }} {{ ifelse(false, 1, 9) }}";
    expect(render(template, { salt })).toBe("{'a': 2, 'b': 4} 9");
    expect(await environment.render(template, { salt: slow })).toBe("{'a': 2, 'b': 4} 9");
    expect(() => render('{{ ifelse(1, 2) }}')).toThrow('odd number of arguments');
  });

  it('show the whole context as simple types', () => {
    const template =
      '{% set a = 1 %}{% for x in [5] %}{% set y = x %}{% set c = show_full_context() %}{{ c.a }}{{ c.v }}{{ c.y }}{% endfor %}';
    expect(render(template, { v: ['q'] })).toBe("1['q']5");
  });
});
