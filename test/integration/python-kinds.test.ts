// The kinds of users' Python that are not modules or states, each through the real daemons and commands.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';

let fleet: Deployment;
let events: EventListener;
const call = async (...args: string[]): Promise<unknown> => (await fleet.json('m1', ...args, '-t', '60'))['m1'];

function tree(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(fleet.path(name)), { recursive: true });
    writeFileSync(fleet.path(name), text);
  }
}

const ofMaster = (): Record<string, string> => ({
  'ext/wheel/turning.py': "def round(n=1): return ['turned', n, __opts__['conf_file'][-6:]]\n",
  'ext/runners/wheels.py':
    "import salt.wheel\ndef go(n): return salt.wheel.WheelClient(__opts__).cmd('turning.round', [n])\n",
  'ext/tops/chooser.py': `
def top(**kwargs):
    settings = __opts__['master_tops']['chooser']
    return {'base': ['chosen_' + kwargs['opts']['id'] + '_' + settings['word'] + '_' + kwargs['grains']['kernel']]}
`,
  'ext/auth/gate.py':
    "def auth(username, password, **kwargs):\n    return username == 'ada' and password == 'open sesame'\n",
  'ext/output/shouting.py':
    "def output(data, **kwargs):\n    return '!'.join(sorted(data)).upper() + ' ' + str(__opts__['timeout'] > 0)\n",
  'ext/roster/garden.py': `
def targets(tgt, tgt_type='glob', **kwargs):
    return {'rose': {'host': '127.0.0.9', 'user': 'gardener', 'port': 2200}} if tgt_type == 'glob' else {}
`,
  'ext/roster/broken.py': "def targets(tgt, tgt_type='glob'):\n    return ['no', 'map']\n",
  'srv/salt/chosen_m1_now_Linux.sls': 'from tops:\n  test.succeed_without_changes: []\n',
  'srv/salt/_renderers/swap.py':
    "import salt.utils.yaml\ndef render(text, saltenv='base', sls='', **kwargs):\n    return salt.utils.yaml.safe_load(text.read().replace('WORD', sls) if hasattr(text, 'read') else text.replace('WORD', sls))\n",
  'srv/salt/swapped.sls': '#!swap\nWORD state:\n  test.succeed_without_changes: []\n',
  'srv/salt/_sdb/drawer.py': `
def get(key, service=None, profile=None):
    return '{} in {}'.format(key, profile['room'])
def set_(key, value, service=None, profile=None):
    return [key, value]
`,
  'srv/salt/_beacons/pulse.py': `
def validate(config):
    return True, 'valid'
def beacon(config):
    return [{'tag': 'beat', 'of': __grains__['id'], 'level': [each['level'] for each in config if 'level' in each][0]}]
`,
  'srv/salt/_executors/twice.py': `
def execute(opts, data, func, args, kwargs):
    if data['fun'] != 'test.echo':
        return None
    return [func(*args, **kwargs), func(*args, **kwargs), opts['id'], data['executor_opts'].get('word')]
`,
  'srv/salt/_executors/failing.py':
    "from salt.exceptions import CommandExecutionError\ndef execute(opts, data, func, args, kwargs):\n    raise CommandExecutionError('not today')\n",
  'srv/salt/_serializers/rot.py': `
import json
__virtualname__ = 'backwards'
def __virtual__(): return __virtualname__
def serialize(obj, **options): return options.get('mark', '') + json.dumps(obj, sort_keys=True)[::-1]
def deserialize(stream_or_string, **options):
    text = stream_or_string if isinstance(stream_or_string, str) else stream_or_string.read()
    return json.loads(text.strip()[::-1])
`,
  'srv/salt/_serializers/silent.py': 'def deserialize(stream, **options): return {"read": stream.read()}\n',
  'srv/salt/_states/written.py': `
def by_table(name):
    text = __serializers__['backwards.serialize']({'a': 1}) + __serializers__['yaml.serialize']({'b': [1]})
    text += __serializers__['keyvalue.serialize']({'c': 2}) + str('silent.serialize' in __serializers__)
    return {'name': name, 'changes': {}, 'result': True, 'comment': text}
`,
  'srv/salt/_modules/asks.py': `
def sdb(): return __salt__['sdb.get']('sdb://drawer/spoon')
`,
});

beforeAll(async () => {
  fleet = await Deployment.create();
  tree(ofMaster());
  const own = {
    extension_modules: fleet.path('ext'),
    master_tops: { chooser: { word: 'now' } },
    external_auth: { gate: { ada: ['test.*'] } },
    fileserver_list_cache_time: 0,
  };
  writeFileSync(fleet.path('etc/master.d/own.conf'), JSON.stringify(own));
  await fleet.startMaster();
  events = await EventListener.start(fleet);
  tree({
    'm1/etc/minion.d/own.conf': JSON.stringify({
      drawer: { driver: 'drawer', room: 'kitchen' },
      beacons: { pulse: [{ level: 3 }, { interval: 1 }] },
    }),
  });
  fleet.startMinion('m1');
  await fleet.answering('m1');
  await call('saltutil.sync_all');
});
afterAll(async () => {
  events?.stop();
  await fleet?.destroy();
});

it('wheel functions run', async () => {
  const { stdout, stderr } = await fleet.run('salt-run', ['wheels.go', '5', '--out=json']);
  expect(stdout, stderr).toContain('turned');
  expect(JSON.parse(stdout)).toEqual(['turned', 5, 'master']);
});

it('tops assign states', async () => {
  const ran = Object.values((await call('state.highstate')) as Record<string, { __id__: string; result: boolean }>);
  expect(ran.map(({ __id__, result }) => [__id__, result])).toEqual([['from tops', true]]);
});

it('renderers and secret stores work in the minion', async () => {
  const ran = Object.values((await call('state.apply', 'swapped')) as Record<string, { __id__: string }>);
  expect(ran.map(({ __id__ }) => __id__)).toEqual(['swapped state']);
  expect(await call('asks.sdb')).toBe('spoon in kitchen');
  expect(await call('sdb.set', 'sdb://drawer/fork', '4')).toEqual(['fork', 4]);
});

it('beacons fire their events', async () => {
  expect(await events.next('salt/beacon/m1/pulse/beat')).toMatchObject({ of: 'm1', level: 3 });
});

it('auth modules decide who may come in', async () => {
  const login = (password: string): Promise<{ stdout: string; code: number | null }> =>
    fleet.salt('-a', 'gate', '--username', 'ada', '--password', password, 'm1', 'test.ping', '--out=json');
  expect(JSON.parse((await login('open sesame')).stdout)).toEqual({ m1: true });
  expect((await login('wrong')).code).not.toBe(0);
});

it('outputters print results', async () => {
  const { stdout, stderr } = await fleet.salt('m1', 'test.ping', '--out=shouting', '--static');
  expect(stdout.trim(), stderr).toBe('M1 True');
});

it('rosters name the hosts of salt-ssh', async () => {
  const { stdout, stderr } = await fleet.run('salt-ssh', ['--roster=garden', '--hosts', '--out=json']);
  expect(stdout + stderr).toContain('rose');
  const wrong = await fleet.run('salt-ssh', ['--roster=broken', '--hosts', '--out=json']);
  expect(wrong.stdout + wrong.stderr).toContain('targets did not return a map');
});

it('serializers write and read data, for functions and states', async () => {
  expect(await call('slsutil.serialize', 'backwards', "{'b': 1, 'a': [true]}", 'mark=x')).toBe(
    'x}1 :"b" ,]eurt[ :"a"{',
  );
  expect(await call('slsutil.deserialize', 'backwards', '}1 :"a"{')).toEqual({ a: 1 });
  expect(await call('slsutil.deserialize', 'silent', 'text')).toEqual({ read: 'text' });
  expect(String(await call('slsutil.serialize', 'silent', 'x'))).toContain("'silent' does not implement serialize");
  expect(String(await call('slsutil.serialize', 'nosuch', 'x'))).toContain("Serializer 'nosuch' not found");
  const path = fleet.path('backwards');
  const single = async (...more: string[]): Promise<{ result: boolean; comment: string }> => {
    const ran = (await call('state.single', 'file.serialize', path, ...more)) as Record<string, never>;
    return Object.values(ran)[0]!;
  };
  expect(await single("dataset={'a': 1}", 'serializer=backwards')).toMatchObject({ result: true });
  expect(readFileSync(path, 'utf8')).toBe('}1 :"a"{\n');
  await single("dataset={'b': 2}", 'serializer=backwards', 'merge_if_exists=True');
  expect(readFileSync(path, 'utf8')).toBe('}2 :"b" ,1 :"a"{\n');
  const table = Object.values((await call('state.single', 'written.by_table', 'x')) as Record<string, object>);
  expect(table).toMatchObject([{ comment: '}1 :"a"{{b: [1]}c=2False' }]);
});

it('executors run the function of a job, pass it on, or fail with their reason', async () => {
  const run = (names: string, ...args: string[]): Promise<unknown> =>
    call(...args, `--module-executors=${names}`, '--executor-opts={word: hello}');
  expect(await run('[twice, direct_call]', 'test.echo', 'x')).toEqual(['x', 'x', 'm1', 'hello']);
  expect(await run('[twice, direct_call]', 'test.ping')).toBe(true);
  expect(await run('[twice]', 'test.ping')).toBe(null);
  expect(String(await run('[failing]', 'test.ping'))).toContain('not today');
  expect(String(await run('[no_such]', 'test.ping'))).toContain("Executor 'no_such' is not available");
  expect(await call('test.ping', '--module-executors=[splay, direct_call]', '--executor-opts={splaytime: 1}')).toBe(
    true,
  );
});

it('a job goes through sudo to its own salt-call', async (context) => {
  if (!preparedProgram('sudo', 'sudo')) return context.skip();
  tree({ 'm1/etc/minion.d/sudo.conf': 'sudo_user: root\n' });
  expect(await call('test.ping')).toBe(true);
  await fleet.minion('m1').stop();
  fleet.startMinion('m1');
  await eventually('an answer through sudo', async () => JSON.stringify(await call('test.echo', 'a b')) === '"a b"');
  expect(await call('test.kwarg', 'n=1')).toMatchObject({ n: 1 });
});
