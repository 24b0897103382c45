// Users' Python through the real daemons: fetched, called, applied as states, in pillars and runners; and what happens
// when it misbehaves.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
const call = async (...args: string[]): Promise<unknown> => (await fleet.json('m1', ...args, '-t', '60'))['m1'];
type States = Record<string, { comment: string; result: boolean | null; changes: object; __id__: string }>;
const apply = async (...args: string[]): Promise<(string | boolean | null)[][]> =>
  Object.values((await call('state.apply', ...args)) as States).map(({ __id__, result, comment }) => [
    __id__,
    result,
    comment,
  ]);

function tree(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(fleet.path(name)), { recursive: true });
    writeFileSync(fleet.path(name), text);
  }
}

const files = (): Record<string, string> => ({
  'srv/salt/_modules/plant.py': `"""Plants."""
import os, time
import salt.utils.path
from salt.exceptions import CommandExecutionError
__virtualname__ = 'garden'
def __virtual__():
    return __virtualname__ if __grains__['kernel'] == 'Linux' else (False, 'no garden here')
def plant(name, water=2, **kwargs):
    """
    Plants something.

    CLI Example: salt '*' garden.plant rose
    """
    return {'name': name, 'water': water, 'id': __grains__['id'], 'pillar': __pillar__.get('bed'), 'fun': kwargs.get('__pub_fun')}
def echo(text): return __salt__['test.echo'](text)
def apply(): return {key.split('_|-')[1]: value['result'] for key, value in __salt__['state.single']('flower.grown', 'inner').items()}
def fails(): raise CommandExecutionError('dry')
def breaks(): return {}['sun']
class Bed:
    def __init__(self, size): self.size = size
    @property
    def area(self): return self.size * self.size
    def __str__(self): return 'bed of {}'.format(self.size)
def bed(size): return Bed(size)
def size(bed): return isinstance(bed, Bed) and bed.size
def pid(): return os.getpid()
def sleep():
    with open('${fleet.path('sleeping')}', 'w') as handle:
        handle.write(str(os.getpid()))
    time.sleep(3600)
def large(): return 'x' * 8000000
`,
  'srv/salt/_utils/soil.py': "def kind(): return 'clay on ' + __grains__['os']\n",
  'srv/salt/_grains/weather.py': "def weather():\n    return {'weather': 'sunny', 'soil': __utils__['soil.kind']()}\n",
  // The name of a built-in file: it adds to what that one gives.
  'srv/salt/_grains/core.py': "def site(): return {'site': 'field', 'shell': '/bin/own'}\n",
  'srv/salt/_states/flower.py': `
def __virtual__(): return 'garden.plant' in __salt__
def grown(name, height=1, **kwargs):
    ret = {'name': name, 'changes': {}, 'result': True, 'comment': __salt__['test.echo']('grown to {}'.format(height))}
    path = '${fleet.path('flowers')}/' + name
    inner = __states__['file.managed'](name=path, contents=str(height), makedirs=True)
    ret['changes'] = inner['changes']
    if inner['result'] is not True:
        ret['result'] = inner['result']
    if __opts__['test'] and not inner['changes']:
        ret['result'] = True
    return ret
def mod_watch(name, sfun=None, **kwargs):
    return {'name': name, 'changes': {'watched': sfun}, 'result': True, 'comment': __low__['__id__'] + ' watched'}
def broken(name): raise ValueError('wilted')
`,
  'srv/salt/_returners/press.py': `import json
def returner(ret):
    with open('${fleet.path('pressed')}', 'a') as handle:
        handle.write(json.dumps([ret['fun'], ret['return']]) + '\\n')
`,
  'srv/salt/flowers.sls':
    'rose:\n  flower.grown:\n    - height: 3\nvase:\n  flower.grown:\n    - watch:\n      - flower: rose\n',
  'srv/salt/beds.sls': `{%- set bed = salt['garden.bed'](3) %}
beds:
  test.succeed_without_changes:
    - name: {{ bed }}, {{ bed.area }}, {{ salt['garden.size'](bed) }}, {{ bed is mapping }}
`,
  'srv/salt/broken.sls': 'bad:\n  flower.broken: []\n',
  'srv/salt/python.sls': `#!py
def run():
    return {'from ' + sls: {'test.succeed_without_changes': [{'name': __salt__['test.echo'](__pillar__['bed'])}]}}
`,
  'srv/salt/objects.sls': `#!pyobjects
with Test.nop('first'):
    Test.succeed_without_changes('second', name=pillar('bed'))
`,
  'srv/salt/dsl.sls':
    "#!pydsl\nstate('dsl').test.succeed_without_changes(name='by ' + __pillar__['bed']).require(test='other')\nstate('other').test.nop()\n",
  'srv/salt/template.py':
    "def run():\n    return '{} {} {} {}'.format(mine, context['mine'], context['other'], __pillar__['bed'])\n",
  'srv/salt/templated.sls': `${fleet.path('templated')}:
  file.managed: [source: 'salt://template.py', template: py, context: {mine: 5}, defaults: {other: 6}]
`,
  'srv/salt/fault.sls': '#!py\n\ndef run():\n    return undefined_name\n',
  'srv/pillar/top.sls': "base:\n  '*': [bed, computed]\n",
  'srv/pillar/bed.sls': 'bed: tulips\n',
  'srv/pillar/computed.sls': "#!py\ndef run():\n    return {'computed': __grains__['id'] + ' ' + opts['id']}\n",
  'master-ext/pillar/seeds.py':
    "def ext_pillar(minion_id, pillar, count, *args):\n    return {'seeds': '{} of {} for {}'.format(count, args[0], minion_id)}\n",
  'srv/salt/_runners/gardener.py': `import salt.client
def ask(target, count=1):
    client = salt.client.LocalClient()
    return client.cmd(target, 'test.echo', [count])
def other(): return __salt__['gardener.ask']('m1', 5)
def core(): return sorted(__salt__['manage.up']())
def tell():
    print('first')
    print('second', end='')
    return 3
`,
});

const runner = async (...args: string[]): Promise<unknown> => {
  const { stdout, stderr } = await fleet.run('salt-run', [...args, '--out=json']);
  if (stdout === '') throw new Error(`salt-run ${args.join(' ')} printed nothing:\n${stderr}`);
  return JSON.parse(stdout);
};

/** Python processes of this deployment: their program is in dist. */
function workers(): string[] {
  const command = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    } catch {
      return '';
    }
  };
  const parentOf = (pid: string): string => {
    try {
      return /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
    } catch {
      return '';
    }
  };
  const mine = (pid: string): boolean => {
    for (let next = pid, depth = 0; next !== '' && next !== '0' && depth < 10; next = parentOf(next), depth++)
      if (next === String(process.pid)) return true;
    return false;
  };
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && command(name).includes('halite_worker') && mine(name),
  );
}

beforeAll(async () => {
  fleet = await Deployment.create();
  const own = [
    `file_roots: {base: [${fleet.path('srv/salt')}]}`,
    `pillar_roots: {base: [${fleet.path('srv/pillar')}]}`,
    `extension_modules: ${fleet.path('master-ext')}`,
    'ext_pillar: [{seeds: [3, corn]}]',
    'fileserver_list_cache_time: 0',
  ];
  writeFileSync(fleet.path('etc/master.d/own.conf'), `${own.join('\n')}\n`);
  tree(files());
  await fleet.startMaster();
  fleet.startMinion('m1', halite, `module_dirs: [${fleet.path('m1/own')}]`);
  await fleet.answering('m1');
});
afterAll(() => fleet?.destroy());

it('costs nothing before there is any', () => {
  expect(existsSync(fleet.path('m1/cache/proc'))).toBe(true);
  expect(existsSync(fleet.path('m1/cache/python.json'))).toBe(false);
});

it('is fetched with everything that belongs to it, and used at once', async () => {
  expect(await call('saltutil.sync_all')).toMatchObject({
    modules: ['modules.plant'],
    states: ['states.flower'],
    grains: ['grains.core', 'grains.weather'],
    utils: ['utils.soil'],
    returners: ['returners.press'],
  });
  await eventually('the new job processes', async () =>
    JSON.stringify(await call('garden.plant', 'rose')).includes('tulips'),
  );
  expect(await call('garden.plant', 'rose', 'water=5')).toEqual({
    ...{ name: 'rose', water: 5, id: 'm1', pillar: 'tulips', fun: 'garden.plant' },
  });
  expect(await call('garden.echo', 'hello')).toBe('hello');
  expect(await call('grains.item', 'weather', 'soil')).toEqual({
    weather: 'sunny',
    soil: expect.stringMatching(/^clay on \w/),
  });
  expect(await call('grains.item', 'id', 'kernel', 'site', 'shell')).toEqual({
    ...{ id: 'm1', kernel: 'Linux', site: 'field', shell: '/bin/own' },
  });
  expect(await call('saltutil.sync_all')).toMatchObject({ modules: [], states: [], grains: [], utils: [] });
});

it('is listed and documented as everything else', async () => {
  expect(await call('sys.list_functions', 'garden')).toEqual(
    ['apply', 'bed', 'breaks', 'echo', 'fails', 'large', 'pid', 'plant', 'size', 'sleep'].map(
      (name) => `garden.${name}`,
    ),
  );
  expect(await call('sys.argspec', 'garden.plant')).toEqual({
    'garden.plant': { args: ['name', 'water'], defaults: [2], kwargs: true, varargs: null },
  });
  expect(await fleet.json('m1', 'sys.doc', 'garden.plant')).toEqual({
    'garden.plant': "\n    Plants something.\n\n    CLI Example: salt '*' garden.plant rose\n    ",
  });
  expect(await call('sys.list_state_functions', 'flower')).toContain('flower.grown');
  expect(await call('sys.list_modules')).toContain('garden');
});

it('takes changed and removed files with the next sync, and files of module_dirs with a refresh', async () => {
  const write = (version: number): void =>
    tree({
      'srv/salt/_modules/spade.py': `import blade\ndef version(): return [${version}, blade.SIZE]\n`,
      'srv/salt/_utils/blade.py': `SIZE = ${version * 10}\n`,
      'm1/own/rake.py': `def version(): return ${version}\n`,
    });
  const until = (fun: string, answer: unknown): Promise<void> =>
    eventually(`${fun} to answer`, async () => JSON.stringify(await call(fun)) === JSON.stringify(answer));
  write(1);
  expect(await call('saltutil.sync_all')).toMatchObject({ modules: ['modules.spade'], utils: ['utils.blade'] });
  await until('spade.version', [1, 10]);
  await until('rake.version', 1);
  write(2);
  expect(await call('spade.version')).toEqual([1, 10]);
  expect(await call('saltutil.sync_all')).toMatchObject({ modules: ['modules.spade'], utils: ['utils.blade'] });
  await until('spade.version', [2, 20]);
  await until('rake.version', 2);
  rmSync(fleet.path('srv/salt/_modules/spade.py'));
  rmSync(fleet.path('m1/own/rake.py'));
  await call('saltutil.sync_all');
  await eventually('the functions to be gone', async () => {
    const left = [await call('spade.version'), await call('rake.version')].map(String);
    return left.every((text) => text.includes('is not available'));
  });
});

it('fails with its own trace and its own words', async () => {
  const told = async (fun: string): Promise<unknown> =>
    (JSON.parse((await fleet.salt('m1', fun, '--out=json', '--static')).stdout) as Record<string, unknown>)['m1'];
  expect(await told('garden.fails')).toBe('ERROR: dry');
  expect(await told('garden.breaks')).toMatch(
    /^The minion function caused an exception: Traceback \(most recent call last\):\n {2}File ".*\/plant\.py", line 18, in breaks\n.*\nKeyError: 'sun'\n$/s,
  );
});

it('brings states that use other states, and watch', async () => {
  expect(await apply('flowers', 'test=True')).toEqual([
    ['rose', null, 'grown to 3'],
    ['vase', null, 'grown to 1'],
  ]);
  expect(await apply('flowers')).toEqual([
    ['rose', true, 'grown to 3'],
    ['vase', true, 'grown to 1'],
  ]);
  expect(readFileSync(fleet.path('flowers/rose'), 'utf8')).toBe('3\n');
  rmSync(fleet.path('flowers/rose'));
  expect(await apply('flowers')).toEqual([
    ['rose', true, 'grown to 3'],
    ['vase', true, 'vase watched'],
  ]);
  expect(await call('garden.apply')).toEqual({ inner: true });
  const [[, result, comment] = []] = await apply('broken');
  expect(result).toBe(false);
  expect(comment).toMatch(/^An exception occurred in this state: Traceback .*flower\.py.*ValueError: wilted\n$/s);
});

it('makes state files, pillars and returners', async () => {
  expect(await apply('python')).toEqual([['from python', true, 'Success!']]);
  expect(await apply('objects')).toEqual([
    ['first', true, 'Success!'],
    ['second', true, 'Success!'],
  ]);
  expect((await apply('dsl')).map(([id]) => id)).toEqual(['other', 'dsl']);
  await apply('templated');
  expect(readFileSync(fleet.path('templated'), 'utf8')).toBe('5 5 6 tulips');
  // Objects keep their attributes in templates, and are the same when they come back.
  const beds = Object.values((await call('state.apply', 'beds')) as Record<string, { name: string }>);
  expect(beds.map(({ name }) => name)).toEqual(['bed of 3, 9, 3, False']);
  const told = (await fleet.salt('m1', 'state.apply', 'fault', '--out=json', '--static')).stdout;
  expect(told).toContain('fault.sls');
  expect(told).toContain("name 'undefined_name' is not defined");
  expect(await call('pillar.item', 'computed', 'seeds')).toEqual({ computed: 'm1 m1', seeds: '3 of corn for m1' });
  await call('test.echo', 'pressed', '--return', 'press');
  const pressed = (): string => (existsSync(fleet.path('pressed')) ? readFileSync(fleet.path('pressed'), 'utf8') : '');
  await eventually('the returner', () => pressed().includes('["test.echo", "pressed"]'));
});

it('runs on the master too, each call in a process of its own', async () => {
  expect(await runner('saltutil.sync_runners')).toEqual(['runners.gardener']);
  expect(await runner('gardener.ask', 'm1', '7')).toEqual({ m1: 7 });
  expect(await Promise.all([runner('gardener.other'), runner('gardener.core')])).toEqual([{ m1: 5 }, ['m1']]);
  expect((await fleet.run('salt-run', ['gardener.tell', '--out=json'])).stdout).toBe('first\nsecond\n3\n');
});

it('ends with its job, whatever it does', async () => {
  const jid = (await fleet.salt('m1', 'garden.sleep', '--async')).stdout.match(/\d{20}/)?.[0] ?? '';
  const sleeps = (): boolean =>
    existsSync(fleet.path('sleeping')) && readFileSync(fleet.path('sleeping'), 'utf8') !== '';
  await eventually('the function to sleep', sleeps);
  const pid = readFileSync(fleet.path('sleeping'), 'utf8');
  expect(workers()).toContain(pid);
  expect(await call('saltutil.kill_job', jid)).toMatch(/^Signal 9 sent to job/);
  await eventually('the worker to end', () => !existsSync(`/proc/${pid}`));
  rmSync(fleet.path('sleeping'));
  const again = fleet.salt('m1', 'garden.sleep', '--out=json', '--static');
  await eventually('the function to sleep', sleeps);
  process.kill(Number(readFileSync(fleet.path('sleeping'), 'utf8')), 'SIGKILL');
  expect((await again).stdout).toMatch(
    /the Python process of .*plant\.py was ended by signal 9 \(SIGKILL\) while plant\.sleep ran/,
  );
  expect(String(await call('garden.large')).length).toBe(8_000_000);
  await eventually('no worker to be left', () => workers().length === 0);
});

it('is refused with one sentence where there is no Python, and everything else works', async () => {
  const config = fleet.configureMinion(
    'alone',
    `file_client: local\nfile_roots: {base: [${fleet.path('srv/salt')}]}\nmodule_dirs: [${fleet.path('srv/salt/_modules')}]\nstates_dirs: [${fleet.path('srv/salt/_states')}]\npython_executable: /nonexistent/python3`,
  );
  const caller = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await runProgram(`${halite.bin}/salt-call`, [
      '-c',
      config,
      '--local',
      ...args,
      '--out=json',
    ]);
    return stdout + stderr;
  };
  const why = /is Python, and no Python 3\.6 or newer was found: \/nonexistent\/python3 is missing/;
  expect(await caller('garden.pid')).toMatch(why);
  expect(await caller('state.apply', 'flowers')).toMatch(why);
  expect(await caller('state.apply', 'python')).toMatch(/needs Python: no Python 3\.6 or newer was found/);
  expect(await caller('test.echo', 'fine')).toContain('"local": "fine"');
});
