// Users' Python through the bridge: real interpreters, real files; functions of the test stand for Halite's own.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { newDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { thrownOutcome } from './outcome.ts';
import { isAlive } from './process-tree.ts';
import { interpreters, type PythonScene, pythonScene, type SceneOptions } from './testing/python-scene.ts';

const scenes: PythonScene[] = [];
afterEach(() => {
  for (const made of scenes.splice(0)) made.end();
});
function scene(files: Readonly<Record<string, string>>, options: SceneOptions = {}): PythonScene {
  const made = pythonScene(files, options);
  scenes.push(made);
  return made;
}
const plain = (value: Value): unknown => JSON.parse(JSON.stringify(value)) as unknown;
const failure = async (work: Promise<unknown>): Promise<Error> =>
  work.then(
    (value) => expect.fail(`it returned ${JSON.stringify(value)}`),
    (error: unknown) => error as Error,
  );
const outcomeText = async (found: PythonScene, fun: string, args: Value[] = []): Promise<string> =>
  String(thrownOutcome(fun, await failure(found.call(fun, args)), '').return);

const mine = `"""The module."""
import logging
from copy import deepcopy
log = logging.getLogger(__name__)
__virtualname__ = 'my'
__func_alias__ = {'list_': 'list'}
__outputter__ = {'ping': 'txt'}
def __virtual__():
    return __virtualname__
def ping(): return True
def echo(value, *args, **kwargs):
    """Says it again."""
    return [value, args, {key: kwargs[key] for key in sorted(kwargs) if not key.startswith('__')}]
def same(value): return value
def dunders(): return [__opts__['id'], __grains__['os'], __pillar__['secret'], 'core.add' in __salt__, 'core.no' in __salt__]
def add(a, b=2): return __salt__['core.add'](a, b)
def list_(): return ['x']
def nested(n): return n if n == 0 else __salt__['core.back'](n - 1) + 1
def code(): __context__['retcode'] = 7
def generated():
    yield {'a': 1}
    yield {'b': 2}
def logs():
    log.warning('careful %s', 'you')
    print('printed')
def _hidden(): pass
`;
const core = {
  add: (a: Value, b: Value): Value => Number(a) + Number(b),
};

describe.each(interpreters())('with %s', (executable) => {
  const opts = { python_executable: executable };

  it('runs functions, binds arguments, and calls back', async () => {
    const found = scene({ 'modules/mymod.py': mine }, { opts, core });
    expect(await found.call('my.ping')).toBe(true);
    expect(plain(await found.call('my.echo', [1, 'two'], newDict([['k', null]])))).toEqual([1, ['two'], { k: null }]);
    expect(await found.call('my.dunders')).toEqual(['mini', 'Debian', 's', true, false]);
    expect([await found.call('my.add', [1]), await found.call('my.add', [1], newDict([['b', 5]]))]).toEqual([3, 6]);
    expect(await found.call('my.list')).toEqual(['x']);
    expect(plain(await found.call('my.generated'))).toEqual({ a: 1, b: 2 });
    await found.call('my.code');
    expect(found.caller.retcode).toBe(7);
    await found.call('my.logs');
    expect(found.logged).toContain('warn salt.loaded.ext.module.mymod careful you');
    expect(await found.loader.find('modules', 'my._hidden')).toBeUndefined();
    expect(await found.loader.find('modules', 'my.deepcopy')).toBeUndefined();
    expect((await found.loader.find('modules', 'my.ping'))?.fn.outputter).toBe('txt');
  });

  it('passes every value there and back', async () => {
    const found = scene({ 'modules/mymod.py': mine }, { opts });
    const values: Value[] = [
      ...[null, true, 0, -1, 1.5, 2 ** 53 - 1, 2n ** 70n, -(2n ** 64n), new PyFloat(1), new PyFloat(-3), Infinity],
      ...['', 'é', 'a\ud800b', '\u0001', 'x\u0000y', new Uint8Array([0, 255])],
      ...[[], [[1, ['a']]], newDict(), newDict([['a', newDict([['b', [null]]])]])],
      new Map<Value, Value>([
        [1, 'a'],
        ['1', 'b'],
        [null, true],
      ]),
      new Map<Value, Value>([
        ['10', 1],
        ['9', 2],
      ]),
      newDict([['\u0001b', 'x']]),
      new Date('2026-01-02T03:04:05.678Z'),
    ];
    const back = (await found.call('my.same', [values])) as Value[];
    expect(back).toEqual(values);
    expect(Number.isNaN(await found.call('my.same', [Number.NaN]))).toBe(true);
  });

  it('survives exceptions, ends, garbage and deep calls', async () => {
    const bad = `
import os, sys, threading
from salt.exceptions import CommandExecutionError, SaltInvocationError, CommandNotFoundError
def ping(): return os.getpid()
def key(): return {}['no']
def command(): raise CommandExecutionError('it failed')
def invocation(): raise SaltInvocationError('wrong')
def program(): raise CommandNotFoundError('xyz')
def inside(): return len(3)
def leave(): sys.exit(3)
def die(): os._exit(4)
def segfault():
    import signal
    os.kill(os.getpid(), signal.SIGSEGV)
def garbage(): os.write(3, b'\\xff' * 64)
def printed():
    os.write(1, b'\\x00\\xff garbage\\n'); return 'fine'
def fork():
    pid = os.fork()
    if pid == 0:
        return 'child'
    os.waitpid(pid, 0)
    return 'parent'
def threads():
    found = []
    def work(n): found.append(__salt__['core.add'](n, 1))
    all = [threading.Thread(target=work, args=(n,)) for n in range(20)]
    [t.start() for t in all]; [t.join() for t in all]
    return sorted(found)
def recursion(): return recursion()
def circular():
    a = []; a.append(a); return a
def missing(): return __salt__['core.nothing']()
def caught():
    try:
        __salt__['core.fail']()
    except ValueError as exc:
        return 'caught ' + str(exc)
`;
    const fail = (): Value => {
      throw Object.assign(new Error('of Halite'), { name: 'ValueError' });
    };
    const found = scene({ 'modules/bad.py': bad }, { opts, core: { ...core, fail } });
    const pid = await found.call('bad.ping');
    const trace = await outcomeText(found, 'bad.key');
    expect(trace).toMatch(
      /^The minion function caused an exception: Traceback \(most recent call last\):\n {2}File "[^"]*bad\.py", line 5, in key\n/,
    );
    expect(trace).toMatch(/KeyError: 'no'\n$/);
    expect(trace).not.toContain('halite_worker');
    expect(await outcomeText(found, 'bad.command')).toBe('ERROR: it failed');
    expect(await outcomeText(found, 'bad.invocation')).toBe("ERROR executing 'bad.invocation': wrong");
    expect(await outcomeText(found, 'bad.program')).toBe("Command required for 'bad.program' not found: xyz");
    expect(await outcomeText(found, 'bad.inside')).toMatch(/TypeError: object of type 'int' has no len\(\)\n$/);
    expect(await outcomeText(found, 'bad.leave')).toMatch(
      /bad\.py ended its Python process with status 3 while bad\.leave ran$/,
    );
    expect(await outcomeText(found, 'bad.recursion')).toContain('RecursionError');
    expect(await outcomeText(found, 'bad.circular')).toContain('deeper than 250 levels');
    expect(await outcomeText(found, 'bad.missing')).toMatch(/KeyError: 'core\.nothing'\n$/);
    expect(await found.call('bad.caught')).toBe('caught of Halite');
    expect(await found.call('bad.threads')).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    expect(await found.call('bad.fork')).toBe('parent');
    expect(await found.call('bad.printed')).toBe('fine');
    expect(await found.call('bad.ping')).toBe(pid);
    expect(await outcomeText(found, 'bad.die')).toMatch(
      /the Python process of .*bad\.py ended with status 4 while bad\.die ran$/,
    );
    expect(await outcomeText(found, 'bad.segfault')).toMatch(
      /was ended by signal 11 \(SIGSEGV\) while bad\.segfault ran$/,
    );
    expect(await found.call('bad.ping')).not.toBe(pid);
    expect(await outcomeText(found, 'bad.garbage')).toMatch(/sent garbage to Halite .* while bad\.garbage ran$/);
    // Three deaths within a minute: the file is left alone.
    expect(await outcomeText(found, 'bad.ping')).toMatch(
      /is disabled: it ended its Python process 3 times within a minute$/,
    );
    expect(isAlive(Number(pid))).toBe(false);
  });

  it('runs the tests of the package', async () => {
    const run = fileURLToPath(new URL('../../../test/python/run.py', import.meta.url));
    const { stdout, stderr } = await promisify(execFile)(executable, ['-I', run]);
    expect(stdout, stderr).toMatch(/ran \d\d tests\n$/);
  });
});

describe('files', () => {
  it('are found by every name that they may have, without Python', async () => {
    const found = scene(
      {
        'modules/one.py':
          "__virtualname__ = 'uno'\ndef __virtual__():\n    return __virtualname__\ndef f(): return 1\n",
        'modules/two.py':
          "def __virtual__():\n    if 1:\n        return 'due'\n    return (False, 'no')\ndef f(): return 2\n",
        'modules/three.py': "def __virtual__():\n    return (False, 'not today')\ndef f(): return 3\n",
        'modules/four/__init__.py': 'from .part import f\n',
        'modules/four/part.py': 'def f(): return 4\n',
        'modules/five.py': "NAME = 'cinque'\ndef __virtual__():\n    return NAME\ndef f(): return 5\n",
        'modules/_six.py': 'def f(): return 6\n',
        'modules/389ds.py': 'def f(): return 389\n',
        'modules/core.py': "def more(): return 'more'\ndef add(a, b): return 'mine'\n",
        'modules/listed.py': "__all__ = ['shown']\ndef shown(): return 1\ndef kept(): return 2\n",
        'modules/port.py': 'raise RuntimeError("not the port")\n',
        'modules/port.js': 'export const f = () => "port";\n',
      },
      { opts: { python_executable: '/nonexistent/python' }, core: { ...core, other: () => 'other' } },
    );
    expect(await found.loader.names('modules')).toEqual([
      '389ds',
      'core',
      'due',
      'five',
      'four',
      'listed',
      'port',
      'three',
      'two',
      'uno',
    ]);
    expect(await found.call('port.f')).toBe('port');
    expect((await failure(found.call('uno.f'))).message).toBe(
      `'uno' __virtual__ returned False: ${found.folder}/ext/modules/one.py is Python, and no Python 3.6 or newer was found: /nonexistent/python is missing`,
    );
    const real = scene({}, { core: { ...core, other: () => 'other' } });
    for (const name of ['one', 'two', 'three', 'five', 'core'])
      real.write({ [`modules/${name}.py`]: readFileSync(`${found.folder}/ext/modules/${name}.py`, 'utf8') });
    real.write({ 'modules/four/__init__.py': 'from .part import f\n', 'modules/four/part.py': 'def f(): return 4\n' });
    real.write({ 'modules/listed.py': readFileSync(`${found.folder}/ext/modules/listed.py`, 'utf8') });
    const numbers = await Promise.all(['uno.f', 'due.f', 'four.f', 'cinque.f'].map((fun) => real.call(fun)));
    expect(numbers).toEqual([1, 2, 4, 5]);
    expect(await real.call('listed.shown')).toBe(1);
    expect((await failure(real.call('listed.kept'))).message).toContain('is not available');
    expect((await failure(real.call('three.f'))).message).toBe("'three' __virtual__ returned False: not today");
    // Function by function: the user's first, then those of Halite.
    expect(
      await Promise.all(
        ['core.more', 'core.add', 'core.other'].map((fun) => real.call(fun, fun === 'core.add' ? [1, 2] : [])),
      ),
    ).toEqual(['more', 'mine', 'other']);
  });

  it('that are broken disable only themselves, and say where', async () => {
    const found = scene(
      {
        'modules/fine.py': 'def f(): return 1\n',
        'modules/old.py': 'def f():\n    print "x"\n',
        'modules/lacks.py': 'import no_such_library\ndef f(): return 1\n',
        'modules/raises.py': 'def __virtual__():\n    raise ValueError("broken")\ndef f(): return 1\n',
      },
      {},
    );
    const reasons = await Promise.all(
      ['old', 'lacks', 'raises'].map(async (name) => (await failure(found.call(`${name}.f`))).message),
    );
    expect(reasons[0]).toMatch(/old\.py line 2: .*this is Python 2/s);
    expect(reasons[1]).toContain("No module named 'no_such_library'");
    expect(reasons[2]).toContain('exception: ValueError: broken');
    expect(await found.call('fine.f')).toBe(1);
    const slow = scene(
      { 'modules/slow.py': 'import time\ntime.sleep(3600)\ndef f(): return 1\n' },
      { opts: { python_load_timeout: 1 } },
    );
    expect((await failure(slow.call('slow.f'))).message).toContain('took longer than 1 s and was ended');
  });

  it('call each other directly, with objects that no pipe carries', async () => {
    const found = scene({
      'modules/a.py':
        "import sibling\ndef f(): return __salt__['b.make']()() + sibling.more + __utils__['tool.one']()\n",
      'modules/b.py': 'def make(): return lambda: 40\n',
      'modules/sibling.py': 'more = 1\n',
      'utils/tool.py': 'def one(): return 1\n',
    });
    expect(await found.call('a.f')).toBe(42);
  });

  it('give grains, of which one problem costs only itself', async () => {
    const found = scene({
      'grains/mine.py':
        "def a(): return {'a': __grains__['os']}\ndef b(grains): return {'b': grains['os']}\ndef c(): raise ValueError('no c')\ndef _d(): return {'d': 1}\n",
    });
    const grain = (await found.loader.get('grains', 'mine'))?.extension;
    const collected = await grain?.collect(found.caller as never, newDict([['os', 'Debian']]));
    expect(plain(collected ?? null)).toEqual({ a: 'Debian', b: 'Debian' });
    expect(found.logged.join('\n')).toContain('has a problem: ValueError: no c');
  });
});

describe('other kinds', () => {
  it('have the functions that Salt gives them', async () => {
    const found = scene({
      'renderers/upper.py':
        'def render(source, saltenv="base", sls="", argline=""):\n    return source.upper() + argline\n',
      'sdb/vault.py':
        "def get(key, service=None, profile=None): return [key, profile['at']]\ndef set_(key, value, service=None, profile=None): return [key, value, profile['at']]\n",
      'beacons/watch.py':
        "def validate(config): return (isinstance(config, list), 'not a list')\ndef beacon(config): return [{'tag': 'x', 'seen': [list(item)[0] for item in config]}]\n",
      'auth/gate.py':
        "def auth(username, password): return password == 'open' or 'no'\ndef groups(username): return [username + 's']\n",
      'returners/old.py':
        "saved = []\ndef returner(ret): saved.append(ret['id'])\ndef save_load(jid, load): saved.append(jid)\ndef get_load(jid): return {'saved': list(saved)}\n",
      'wheel/turn.py': "def round(n): return __opts__['id'] * n\n",
      'output/paper.py': 'def output(data, **kwargs): return str(data)\n',
    });
    const { loader, caller } = found;
    const ctx = {
      ...caller,
      name: 'watch',
      sls: '',
      argline: '!',
      path: undefined,
      variables: newDict(),
      saltenv: 'base',
    } as never;
    expect(await (await loader.get('renderers', 'upper'))?.extension.render('text', ctx)).toBe('TEXT!');
    const sdb = (await loader.get('sdb', 'vault'))?.extension;
    const profile = newDict([['at', 'home']]);
    expect(await sdb?.get('k', profile, ctx)).toEqual(['k', 'home']);
    expect(await sdb?.set?.('k', 1, profile, ctx)).toEqual(['k', 1, 'home']);
    expect(sdb?.delete).toBeUndefined();
    const beacon = (await loader.get('beacons', 'watch'))?.extension;
    expect(await beacon?.validate?.(newDict([['a', 1]]), ctx)).toBeUndefined();
    const seen = await (await beacon?.open(newDict([['a', 1]]), ctx))?.read();
    expect(plain([...(seen ?? [])])).toEqual([{ tag: 'x', seen: ['a', '_beacon_name'] }]);
    const auth = await (await loader.get('auth', 'gate'))?.extension.open({} as never, ctx);
    const login = (password: string): never => ({ username: 'u', password }) as never;
    // A text is no consent.
    expect([await auth?.check(login('open')), await auth?.check(login('x'))]).toEqual([{}, undefined]);
    const session = await (await loader.get('returners', 'old'))?.extension.open({} as never, ctx);
    await session?.save(newDict([['id', 'm1']]));
    await session?.jobCache?.saveLoad('j1', newDict(), ['m1']);
    expect(plain((await session?.jobCache?.load('j1')) ?? null)).toEqual({ saved: ['m1', 'j1'] });
    const wheel = await loader.find('wheel', 'turn.round');
    expect(await wheel?.fn.run({ n: 2 } as never, ctx)).toBe('minimini');
    const paper = await loader.get('outputters', 'paper');
    expect(await paper?.extension.render(newDict(), { color: false, opts: {} })).toBe('{}');
  });
});

describe('calls', () => {
  it('go back and forth to a limit', async () => {
    const found = scene({ 'modules/mymod.py': mine }, { core: { back: (n: Value) => found.call('my.nested', [n]) } });
    expect(await found.call('my.nested', [90])).toBe(90);
    expect((await failure(found.call('my.nested', [210]))).message).toContain('nest deeper than 200');
    expect(await found.call('my.nested', [3])).toBe(3);
  });

  it('keep an exception that passes through Halite the same object', async () => {
    const files = {
      'modules/outer.py': `
class Mine(Exception): pass
kept = Mine('text')
def raise_(): raise kept
def f():
    try:
        __salt__['core.through']()
    except Mine as exc:
        return exc is kept
`,
    };
    const found = scene(files, { core: { through: () => found.call('outer.raise_') } });
    expect(await found.call('outer.f')).toBe(true);
  });

  it('that run at the same time all end', async () => {
    const slow = "import time\ndef f(n):\n    __salt__['core.wait'](n)\n    return n\n";
    let waiting = 0;
    let open = (): void => undefined;
    const all = new Promise<void>((resolve) => {
      open = resolve;
    });
    const wait = async (): Promise<Value> => {
      if (++waiting === 10) open();
      await all;
      return null;
    };
    const found = scene({ 'modules/slow.py': slow }, { core: { wait } });
    const numbers = Array.from({ length: 10 }, (_, n) => n);
    expect(await Promise.all(numbers.map((n) => found.call('slow.f', [n])))).toEqual(numbers);
  });

  it('refuse what is too large, and go on', async () => {
    const found = scene(
      { 'modules/big.py': "def f(n): return 'x' * n\ndef ok(value): return len(value)\n" },
      { opts: { python_max_message: 1_000_000 } },
    );
    expect((await failure(found.call('big.f', [2_000_000]))).message).toContain('python_max_message allows');
    expect((await failure(found.call('big.ok', ['x'.repeat(2_000_000)]))).message).toContain('on its way to Python');
    expect(String(await found.call('big.f', [900_000])).length).toBe(900_000);
  });
});
