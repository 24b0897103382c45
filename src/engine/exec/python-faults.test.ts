// What users' Python does to its process: signals, much data, many calls, endless imports. The next call works as ever.
import { afterEach, expect, it } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { type PythonScene, pythonScene, type SceneOptions } from './testing/python-scene.ts';

const scenes: PythonScene[] = [];
afterEach(() => {
  for (const made of scenes.splice(0)) made.end();
});
function scene(source: string, options: SceneOptions = {}): PythonScene {
  const made = pythonScene({ 'modules/odd.py': `${source}\ndef fine(): return 'fine'\n` }, options);
  scenes.push(made);
  return made;
}
const add = (a: Value, b: Value): Value => Number(a) + Number(b);

it('signal handlers run, and may end a call that waits for Halite', async () => {
  const found = scene(
    `
import os, signal, time
class Late(Exception): pass
def late(*args): raise Late('too late')
def alarm():
    signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        __salt__['core.never']()
    except Late as exc:
        return str(exc)
def storm():
    seen = []
    signal.signal(signal.SIGALRM, lambda *args: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    total = sum(__salt__['core.add'](n, 1) for n in range(300))
    signal.setitimer(signal.ITIMER_REAL, 0)
    return [total, len(seen) > 0]
def deaf():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGTERM)
    return 'still here'
def children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.system('true')
    return 'counted'
`,
    { core: { add, never: () => new Promise<Value>(() => undefined) } },
  );
  expect(await found.call('odd.alarm')).toBe('too late');
  expect(await found.call('odd.storm')).toEqual([45_150, true]);
  expect(await found.call('odd.children')).toBe('counted');
  expect(await found.call('odd.deaf')).toBe('still here');
  expect(await found.call('odd.fine')).toBe('fine');
});

it('10,000 calls of Halite and 10,000 calls of Python', async () => {
  const found = scene(
    `
def many(n): return sum(__salt__['core.add'](i, 1) for i in range(n))
def direct(n): return sum(__salt__['odd.one'](i) for i in range(n))
def one(i): return i + 1
`,
    { core: { add } },
  );
  expect(await found.call('odd.many', [10_000])).toBe(50_005_000);
  expect(await found.call('odd.direct', [10_000])).toBe(50_005_000);
  let sum = 0;
  for (let n = 0; n < 10_000; n++) sum += Number(await found.call('odd.one', [n]));
  expect(sum).toBe(50_005_000);
});

it('a result of 100 MB arrives', async () => {
  const found = scene("def large(n): return {'text': 'x' * n}\n");
  const large = (await found.call('odd.large', [100_000_000])) as { text: string };
  expect(large.text.length).toBe(100_000_000);
  expect(await found.call('odd.fine')).toBe('fine');
});
