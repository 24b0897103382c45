// Data that templates and functions modify for each other: arguments by reference, pillar within one run.
import { expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { RenderHost } from './host.ts';
import { renderText } from './index.ts';

const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const pillar = newDict([['web', newDict([['port', 80]])]]);

function merge(into: Map<Value, Value>, over: ReadonlyMap<Value, Value>): Value {
  for (const [key, value] of over) into.set(key, value);
  into.delete('gone');
  const list = into.get('list');
  if (Array.isArray(list)) list.push('added');
  return into;
}

function host(run?: object): RenderHost {
  return {
    loader: new Loader({ opts: () => newDict(), grains: () => newDict(), log: quiet, userCode: 'names' }),
    log: quiet,
    opts: newDict(),
    grains: newDict(),
    pillar,
    ...(run ? { run } : {}),
    files: { cacheFile: async () => undefined },
    functions: {
      modules: async () => new Set(['defaults', 'other', 'pillar']),
      has: async () => true,
      async call(fun, args) {
        if (fun === 'pillar.get') return pillar['web'] as PlainDict;
        const [into, over] = args as [Map<Value, Value>, Map<Value, Value>];
        return fun === 'defaults.merge' ? merge(into, over) : null;
      },
    },
    exec: () => Promise.reject(new Error('nothing runs here')),
  };
}

const text = (source: string, run?: object): Promise<Value> => renderText(host(run), source, { renderer: 'jinja' });

it('shows what a function changed in its arguments', async () => {
  const set = "{% set d = {'a': {'b': 1}, 'gone': 1, 'list': [1.5]} %}{% set over = {8080: {'c': 2}} %}";
  const call = "{% set r = salt['defaults.merge'](d, over) %}";
  const change = "{% do r.update({'same': r is sameas d}) %}{% do over[8080].update({'later': 1}) %}";
  expect(await text(`${set}${call}${change}{{ d }}`)).toBe(
    "{'a': {'b': 1}, 'list': [1.5, 'added'], 8080: {'c': 2, 'later': 1}, 'same': True}",
  );
});

it('keeps changes of pillar within a run, and nowhere else', async () => {
  const change = "{% do salt['pillar.get']('web').update({'user': 'www'}) %}";
  const show = "{{ salt['pillar.get']('web') }}{{ pillar.web.get('user', '') }}";
  const run = {};
  await text(change, run);
  expect(await text(show, run)).toBe("{'port': 80, 'user': 'www'}www");
  expect(await text(show, {})).toBe("{'port': 80}");
  expect(await text(show)).toBe("{'port': 80}");
});
