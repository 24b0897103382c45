// Objects of users' Python in templates, and processes that users' Python starts.
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { pythonObjectOf } from '../../base/codec/python-object.ts';
import type { PlainDict } from '../../base/codec/value.ts';
import { fromTemplate } from '../python/templates.ts';
import { isAlive } from './process-tree.ts';
import { type PythonScene, pythonScene } from './testing/python-scene.ts';

const scenes: PythonScene[] = [];
afterEach(() => {
  for (const made of scenes.splice(0)) made.end();
});
function scene(files: Readonly<Record<string, string>>): PythonScene {
  const made = pythonScene(files);
  scenes.push(made);
  return made;
}

describe('templates', () => {
  it('get objects of Python with their attributes, and hand back the objects themselves', async () => {
    const net = `
class Prefix:
    def __init__(self, text):
        self.text = text
        self.parent = self
        self._hidden = 1
    @property
    def ip(self): return self.text.split('/')[0]
    @property
    def broken(self): raise ValueError('no')
    def method(self): return 1
    def __str__(self): return self.text
def make(text): return {'at': [Prefix(text)]}
def same(one, other): return one is other and type(one).__name__
`;
    const found = scene({ 'modules/net.py': net });
    const plainly = await found.call('net.make', ['10.0.0.1/8']);
    expect(JSON.stringify(plainly)).toMatch(/Prefix object at/);
    const made = await fromTemplate('net.make', () => found.call('net.make', ['10.0.0.1/8']));
    const { at } = made as { at: PlainDict[] };
    const [prefix] = at;
    expect(pythonObjectOf(prefix!)).toMatchObject({ text: '10.0.0.1/8', type: 'Prefix' });
    expect(Object.keys(prefix!)).toEqual(['ip', 'parent', 'text']);
    expect(prefix!['ip']).toBe('10.0.0.1');
    expect(await found.call('net.same', [prefix!, prefix!])).toBe('Prefix');
  });
});

describe('functions that Halite lacks', () => {
  it('fail when they are called, not when they are named', async () => {
    const mine = `
import salt.modules.nosuch
table = {'nosuch.records': salt.modules.nosuch.records}
def f(): return sorted(table)
def g():
    try:
        table['nosuch.records']()
    except KeyError as exc:
        return 'missing ' + str(exc)
def h(): return hasattr(salt.modules.nosuch, '_private')
`;
    const found = scene({ 'modules/mine.py': mine });
    expect(await found.call('mine.f')).toEqual(['nosuch.records']);
    expect(String(await found.call('mine.g'))).toMatch(/^missing .*nosuch\.records/);
    expect(await found.call('mine.h')).toBe(false);
  });
});

describe('calls', () => {
  it('that die take the processes with them that they started', async () => {
    const found = scene({});
    const bomb = `
import multiprocessing, os, time
def sleep(): time.sleep(3600)
def start():
    started = [multiprocessing.Process(target=sleep) for _ in range(5)]
    for each in started: each.start()
    with open('${found.folder}/pids', 'w') as handle:
        handle.write(' '.join(str(pid) for pid in [os.getpid()] + [each.pid for each in started]) + ' .')
    for each in started: each.join()
`;
    found.write({ 'modules/bomb.py': bomb });
    const failed = found.call('bomb.start').catch(String);
    const pids = (): string[] =>
      existsSync(`${found.folder}/pids`) ? readFileSync(`${found.folder}/pids`, 'utf8').split(' ') : [];
    await eventually('five processes', () => pids().length === 7);
    process.kill(Number(pids()[0]), 'SIGKILL');
    expect(await failed).toMatch(/was ended by signal 9 \(SIGKILL\) while bomb\.start ran$/);
    await eventually('all of them to end', () => pids().every((pid) => pid === '.' || !isAlive(Number(pid))));
  });
});
