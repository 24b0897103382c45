// The modules `out` and `jinja` with real outputters and renderers.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { MinionServices, ModuleContext } from '../../extend/sdk/index.ts';
import { createContext } from './runtime.ts';

const logged: string[] = [];
const note = (text: string): void => void logged.push(text);
const log = { debug: note, info: note, warn: note, error: note };

function context(opts: PlainDict = newDict()): ModuleContext {
  const loader = new Loader({ opts: () => opts, grains: () => newDict(), log, userCode: 'names' });
  return createContext(
    {
      ...{ id: 'm1', loader, log, minion: {} as MinionServices },
      ...{ opts: () => opts, grains: () => newDict(), pillar: () => newDict() },
      exec: () => Promise.reject(new Error('nothing runs here')),
      match: async () => false,
    },
    { signal: new AbortController().signal, progress: () => undefined, retcode: 0 },
  );
}

const data: Value = newDict([['a', [1, newDict([['b', 'c d']])]]]);

describe('out', () => {
  it.each([
    ['nested', 'a:\n    - 1\n    |_\n      ----------\n      b:\n          c d'],
    ['yaml', 'a:\n- 1\n- b: c d'],
    ['raw', "{'a': [1, {'b': 'c d'}]}"],
    ['key', 'a:\n    - 1\n    |_\n      ----------\n      b:\n          c d'],
    ['nosuch', 'a:\n    - 1\n    |_\n      ----------\n      b:\n          c d'],
  ])('%s', async (out, text) => {
    expect(await context().call('out.string_format', data, out)).toBe(text);
  });
  it('has colours only on request, and HTML', async () => {
    const coloured = (await context().callWith('out.out_format', [data], newDict([['color', true]]))) as string;
    expect(coloured).toContain('\u001b[');
    expect(await context().callWith('out.string_format', [data], newDict([['color', true]]))).not.toContain('\u001b');
    expect(await context().call('out.html_format', data, 'yaml')).toBe('a:<br />-&nbsp;1<br />-&nbsp;b:&nbsp;c&nbsp;d');
    expect(logged.join('\n')).toContain('Invalid outputter nosuch');
  });
});

describe('jinja', () => {
  it('refuses names that would be code', async () => {
    await expect(context().call('jinja.load_map', 'a.jinja', 'x }}{{ y')).rejects.toThrow('no name of a variable');
    await expect(context().call('jinja.import_yaml', 'a" as x %}')).rejects.toThrow('no name of a file');
  });
});
