// Choosing outputters, colours, files and fallbacks.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dumpJson, JsonText } from '../base/codec/json/index.ts';
import { dictOf, PyFloat } from '../base/codec/value.ts';
import { chooseOutputter, Display, type OutputSettings, wantsColor } from './output.ts';
import { captureTerminal } from './testing.ts';

describe('which outputter', () => {
  it.each([
    [undefined, {}, 'nested'],
    ['', {}, 'nested'],
    ['txt', {}, 'txt'],
    ['text', {}, 'txt'],
    ['highstate', {}, 'highstate'],
    ['highstate', { output: 'json' }, 'json'],
    // --out=highstate must not force state output on other functions
    [undefined, { output: 'highstate' }, 'nested'],
    ['txt', { output: 'highstate' }, 'txt'],
    [undefined, { static: true, fun: 'state.apply' }, 'highstate'],
    [undefined, { static: true, fun: 'test.ping' }, 'nested'],
    [undefined, { static: true, fun: 'test.ping', output: 'highstate' }, 'highstate'],
    [undefined, { static: true, fun: ['test.ping', 'cmd.run'] }, 'nested'],
  ])('asked %s with %o: %s', (asked, opts, wanted) => {
    expect(chooseOutputter(asked, opts)).toBe(wanted);
  });
});

describe('colours', () => {
  const tty = () => true;
  const pipe = () => false;
  beforeEach(() => vi.stubEnv('NO_COLOR', undefined));
  afterEach(() => vi.unstubAllEnvs());

  it('are for terminals only, unless forced', () => {
    expect(wantsColor({}, tty)).toBe(true);
    expect(wantsColor({}, pipe)).toBe(false);
    expect(wantsColor({ force_color: true }, pipe)).toBe(true);
    expect(wantsColor({ no_color: true }, tty)).toBe(false);
    expect(wantsColor({ output_file: '/tmp/x' }, tty)).toBe(false);
    expect(wantsColor({ color: false }, tty)).toBe(false);
  });
  it('respect NO_COLOR', () => {
    vi.stubEnv('NO_COLOR', '1');
    expect(wantsColor({}, tty)).toBe(false);
    expect(wantsColor({ force_color: true }, tty)).toBe(true);
  });
});

describe('display', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'halite-output-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each<OutputSettings>([
    { output: 'json' },
    { output: 'json', output_indent: 2 },
    { output: 'json', output_indent: -1 },
    { output: 'json', output_indent: 'pretty' },
    { output: 'yaml' },
    {},
  ])('prints JSON text like its value, with %o', async (opts) => {
    const data = dictOf([
      ['b', [1, new PyFloat(2), 'x "y" é', dictOf([])]],
      ['a', dictOf([['10', null]])],
    ]);
    const text = new JsonText([Buffer.from('{'), Buffer.from(dumpJson(data, { ensureAscii: false }).slice(1))], {});
    const [shown, expected] = [captureTerminal(), captureTerminal()];
    await new Display(opts, shown).show(text);
    await new Display(opts, expected).show(data);
    expect(shown.stdout).toBe(expected.stdout);
    expect(shown.stdout).toContain('10');
    const file = join(folder, 'out');
    await new Display({ ...opts, output_file: file }, shown).show(text);
    expect(readFileSync(file, 'utf8')).toBe(expected.stdout);
  });

  it('prints without trailing white space, and nothing for an empty text', async () => {
    const io = captureTerminal();
    const display = new Display({ output: 'txt' }, io);
    await display.show(dictOf([['web1', 'a\nb\n\n']]));
    expect(io.stdout).toBe('web1: a\nweb1: b\nweb1:\n');
    await new Display({ output: 'quiet' }, io).show(dictOf([['web1', true]]));
    expect(io.stdout).toBe('web1: a\nweb1: b\nweb1:\n');
  });

  it('falls back to nested for data that an outputter cannot format', async () => {
    const io = captureTerminal();
    const display = new Display({}, io);
    await display.show([1, 2], 'highstate');
    await display.show(dictOf([['return', 'aa:bb']]), 'key');
    expect(io.stdout).toBe('- 1\n- 2\nreturn:\n    aa:bb\n');
  });

  it('reports an outputter that does not exist, once', async () => {
    const io = captureTerminal();
    const display = new Display({ output: 'nosuch' }, io);
    await display.show(dictOf([['web1', true]]));
    await display.show(dictOf([['web2', true]]));
    expect(io.stderr).toBe('[ERROR   ] Invalid outputter nosuch specified, fall back to nested\n');
    expect(io.stdout).toBe('web1:\n    True\nweb2:\n    True\n');
  });

  it('uses an outputter of the operator first, and reports when it is broken', async () => {
    writeFileSync(
      join(folder, 'shout.mjs'),
      "export default { kind: 'outputters', name: 'shout', doc: '', render: (data) => JSON.stringify(data).toUpperCase() };",
    );
    writeFileSync(join(folder, 'json.mjs'), 'export default { kind: "outputters" };');
    const io = captureTerminal();
    await new Display({ output: 'shout', outputter_dirs: [folder] }, io).show('abc');
    expect(io.stdout).toBe('"ABC"\n');
    await new Display({ output: 'json', outputter_dirs: [folder] }, io).show('abc');
    expect(io.stdout).toBe('"ABC"\n"abc"\n');
    expect(io.stderr).toContain('json.mjs: it has no name');
  });

  it('empties the file of --out-file first and appends afterwards', async () => {
    const file = join(folder, 'out');
    writeFileSync(file, 'old\n');
    const io = captureTerminal();
    const display = new Display({ output_file: file, output: 'txt' }, io);
    await display.show(dictOf([['a', 1]]));
    await display.show(dictOf([['b', 2]]));
    expect(readFileSync(file, 'utf8')).toBe('a: 1\nb: 2\n');
    await new Display({ output_file: file, output_file_append: true, output: 'txt' }, io).show(dictOf([['c', 3]]));
    expect(readFileSync(file, 'utf8')).toBe('a: 1\nb: 2\nc: 3\n');
    expect(io.stdout).toBe('');
  });

  it('refuses a file it may not write', () => {
    expect(() => new Display({ output_file: folder })).toThrowError(expect.objectContaining({ code: 'cli.usage' }));
  });

  it('reads a colour theme', async () => {
    const theme = join(folder, 'theme');
    writeFileSync(theme, "CYAN: '38;5;14'\n");
    const io = captureTerminal();
    await new Display({ force_color: true, color_theme: theme }, io).show(dictOf([['a', 'b']]));
    expect(io.stdout).toBe('\x1b[38;5;14ma\x1b[0;0m:\n    \x1b[0;32mb\x1b[0;0m\n');
  });
});
