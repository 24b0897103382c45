// Engines with real daemons: configured in all forms, in TypeScript and Python, started again, ended with their daemon,
// and kept from harming anything when they hang, crash, flood, refuse to end or write garbage.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { type Recorder, startRecorder } from '../support/servers/recorder.ts';

let fleet: Deployment;
let events: EventListener;
let logstash: Recorder;
let slack: Recorder;
let ports: number[];

function tree(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(fleet.path(name)), { recursive: true });
    writeFileSync(fleet.path(name), text);
  }
}

const alive = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const pidIn = (name: string): number => Number(existsSync(fleet.path(name)) ? readFileSync(fleet.path(name)) : 0);
const post = (port: number, path: string, body: string | Buffer, method = 'POST'): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/${path}`, method === 'POST' ? { method, body } : { method });
const called = async (...args: string[]): Promise<unknown> => (await fleet.json('m1', ...args))['m1'];

/** Python engines as people write them, and some that misbehave. */
const python = (): Record<string, string> => ({
  'engines/watcher.py': `
import os
import salt.utils.event
def start(prefix, **config):
    with open('${fleet.path('watcher')}', 'w') as handle:
        handle.write(str(os.getpid()))
    with salt.utils.event.get_master_event(__opts__, __opts__['sock_dir'], listen=True) as bus:
        bus.fire_event({'role': __opts__['__role'], 'config': config}, 'watcher/ready')
        for event in bus.iter_events(tag=prefix, full=True):
            found = {'of': event['tag'], 'up': __runners__['manage.up'](), 'cpus': __salt__['test.echo']('two')}
            bus.fire_event(found, 'watcher/saw')
`,
  'engines/crashes.py': `
def start():
    with open('${fleet.path('crashes')}', 'a') as handle:
        handle.write('once\\n')
    raise ValueError('as always')
`,
  'engines/stubborn.py': `
import os, signal
def start():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.nice(19)
    with open('${fleet.path('stubborn')}', 'w') as handle:
        handle.write(str(os.getpid()))
    while True:
        pass
`,
  'engines/floods.py': `
import os
import salt.utils.event
def start():
    os.nice(19)
    bus = salt.utils.event.get_event('master')
    while True:
        bus.fire_event({'much': 'x' * 100}, 'flood')
        print('y' * 1000)
`,
  'engines/garbage.py': `
import os
def start():
    with open('${fleet.path('garbage')}', 'a') as handle:
        handle.write('once\\n')
    os.nice(19)
    os.write(1, bytes(range(256)) * 100)
    os.write(3, b'\\x00\\x00\\x00\\x05notjs')
    while True:
        pass
`,
  'engines/polite.py': `
import os, signal, subprocess, sys, time
def leave(*ignored):
    with open('${fleet.path('left')}', 'w') as handle:
        handle.write('cleaned up')
    sys.exit(0)
def start():
    signal.signal(signal.SIGTERM, leave)
    child = subprocess.Popen(['sleep', '1000'])
    with open('${fleet.path('child')}', 'w') as handle:
        handle.write(str(child.pid))
    while True:
        time.sleep(1)
`,
});

const typescript = (): Record<string, string> => ({
  'engines/counting.ts': `
import { defineEngine, p } from 'halite/sdk';
export default defineEngine({
  name: 'counting',
  doc: 'Counts.',
  params: { tag: p.string({ doc: 'which' }), first: p.int({ default: 1 }) },
  async start({ tag, first }, ctx) {
    let count = first;
    await ctx.fire('counting/ready', { name: ctx.name, role: ctx.role });
    for await (const event of ctx.events([tag])) await ctx.fire('counting/seen', { count: count++, of: event.data });
  },
});
`,
  'engines/plain.js': `
import { writeFileSync } from 'node:fs';
export async function start(answer, times = 2) {
  await this.fire('plain/ready', { answer, times });
  writeFileSync('${fleet.path('plain')}', String(process.pid));
  await new Promise((resolve) => this.signal.addEventListener('abort', resolve));
}
`,
  'engines/blocks.js': `
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
export function start() {
  setPriority(19);
  writeFileSync('${fleet.path('blocks')}', String(process.pid));
  for (;;);
}
`,
  'engines/hostile.js': `
import { appendFileSync } from 'node:fs';
const garbage = [{ t: 'listen' }, { t: 'engine', body: 'x' }, { t: 'call', n: 1 }, { t: 'log' }, null, 'text', { t: 'more', n: {} }];
export async function start() {
  appendFileSync('${fleet.path('hostile')}', 'once\\n');
  for (const message of garbage) process.send(message);
  await new Promise((resolve) => this.signal.addEventListener('abort', resolve));
}
`,
});

beforeAll(async () => {
  ports = await freePorts(3);
  [logstash, slack] = await Promise.all([startRecorder(), startRecorder()]);
  fleet = await Deployment.create();
  tree({ ...python(), ...typescript() });
  writeFileSync(
    fleet.path('lines'),
    `#!/bin/sh\nprintf x >> ${fleet.path('runs')}\necho not json\necho '{"tag": "lines/one", "data": {"a": 1}}'\necho '{"data": {}}'\n`,
    {
      mode: 0o755,
    },
  );
  const engines = [
    { webhook: { address: '127.0.0.1', port: ports[0], max_body: 1000 } },
    { second: { engine_module: 'webhook', address: '127.0.0.1', port: ports[1] } },
    { http_logstash: { url: `${logstash.url}/salt`, tags: ['to/logstash/*', 'other'], funs: ['test.ping'] } },
    { slack_webhook: { webhook: `${slack.url}/T/B/x`, tags: ['to/slack'], text: '{tag}: {who.name} {none}' } },
    { script: { cmd: fleet.path('lines'), interval: 0.2, onchange: true } },
    { watcher: { prefix: 'look', depth: 3 } },
    { counting: { tag: 'count/*', first: 5 } },
    { plain: { answer: 42 } },
    'crashes',
    'stubborn',
    'floods',
    'garbage',
    'polite',
    'blocks',
    'hostile',
    'no_such_engine',
    { plain2: { engine_module: 'plain', wrong: 1 } },
    { reactor: { worker_threads: 3 } },
  ];
  const own = {
    engines_dirs: [fleet.path('engines')],
    engines,
    reactor: [{ 'look/reactor': [fleet.path('react.sls')] }],
  };
  writeFileSync(fleet.path('react.sls'), 'told:\n  runner.event.send:\n    - args:\n      - tag: reactor/told\n');
  writeFileSync(fleet.path('etc/master.d/own.conf'), JSON.stringify(own));
  await fleet.startMaster();
  events = await EventListener.start(fleet);
  const minion = {
    engines: { webhook: { address: '127.0.0.1', port: ports[2] }, mirror: null },
    beacons: {},
  };
  tree({
    'm1/ext/engines/mirror.py': `
import salt.utils.event
def start():
    bus = salt.utils.event.get_event('minion', opts=__opts__, listen=True)
    __salt__['event.send']('mirror/ready', {'os': __grains__['kernel']})
    while True:
        found = bus.get_event(wait=1, tag='show/', full=True)
        if found:
            __salt__['event.send']('mirror/saw', found)
`,
    'm1/etc/minion.d/own.conf': JSON.stringify({ ...minion, extension_modules: fleet.path('m1/ext') }),
  });
  fleet.startMinion('m1');
  await fleet.answering('m1');
});

afterAll(async () => {
  events?.stop();
  await fleet?.destroy();
  await Promise.all([logstash?.stop(), slack?.stop()]);
});

it('a webhook becomes an event, and what is none is refused', async () => {
  await eventually('the engine to listen', () =>
    post(ports[0]!, 'up', '{}').then(
      () => true,
      () => false,
    ),
  );
  expect((await post(ports[0]!, 'deploy/web%20one', '{"a": 1}')).status).toBe(200);
  const data = await events.next('salt/engines/hook/deploy/web one');
  expect(data['body']).toBe('{"a": 1}');
  expect(data['headers']).toMatchObject({ 'Content-Length': '8' });
  expect((await post(ports[0]!, 'x', '', 'GET')).status).toBe(405);
  expect((await post(ports[0]!, 'x', 'y'.repeat(1001))).status).toBe(413);
  expect((await post(ports[0]!, 'a%00b', 'x')).status).toBe(400);
  expect((await post(ports[0]!, 'a%zz', 'x')).status).toBe(400);
  expect((await post(ports[1]!, 'second', 'x')).status).toBe(200);
  await events.next('salt/engines/hook/second');
  await eventually('the engine of the minion', () =>
    post(ports[2]!, 'minion', 'x').then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  expect(await events.next('salt/engines/hook/minion')).toMatchObject({ id: 'm1', data: { body: 'x' } });
});

it('events are passed on, again after the other side was away', async () => {
  const send = (tag: string, data: object): Promise<unknown> =>
    fleet.run('salt-run', ['event.send', tag, JSON.stringify(data)]);
  let away = true;
  logstash.answer(() => (away ? [503] : undefined));
  await send('to/logstash/a', { number: 1 });
  await eventually('a first try', () => logstash.requests.length > 0);
  away = false;
  logstash.take();
  await send('not/this', { number: 2 });
  await send('to/logstash/b', { number: 3, fun: 'test.echo' });
  await send('other', { number: 4, fun: 'test.ping' });
  await eventually('both events', () => logstash.requests.length >= 2);
  expect(logstash.take().map(({ path, body }) => [path, (JSON.parse(body) as { number: number }).number])).toEqual([
    ['/salt', 1],
    ['/salt', 4],
  ]);
  await send('to/slack', { who: { name: 'Ada' } });
  await eventually('a message', () => slack.requests.length > 0);
  expect(JSON.parse(slack.take()[0]!.body)).toEqual({ text: 'to/slack: Ada ' });
});

it('a script fires its lines, and only those that changed', async () => {
  expect(await events.next('lines/one')).toMatchObject({ a: 1 });
  const runs = (): number => readFileSync(fleet.path('runs'), 'utf8').length;
  const before = runs();
  await eventually('three more runs', () => runs() >= before + 3);
  expect(events.seen('lines/one')).toHaveLength(1);
  expect(fleet.master.output().split('a line of the script cannot be read')).toHaveLength(2);
});

it('an engine in Python reads events, calls functions and runners, and is started again after a kill', async () => {
  expect(await events.next('watcher/ready')).toMatchObject({ role: 'master', config: { depth: 3 } });
  await called('event.send', 'look/here', '{}');
  expect(await events.next('watcher/saw')).toMatchObject({ of: 'look/here', up: ['m1'], cpus: 'two' });
  const first = pidIn('watcher');
  process.kill(first, 'SIGKILL');
  await eventually('another process', () => pidIn('watcher') !== first && alive(pidIn('watcher')), {
    timeoutMs: 120_000,
  });
  expect(fleet.master.output()).toContain('The engine watcher ended and is started again');
});

it('engines in TypeScript have their parameters, events and a signal', async () => {
  expect(await events.next('counting/ready')).toMatchObject({ name: 'counting', role: 'master' });
  expect(await events.next('plain/ready')).toMatchObject({ answer: 42, times: 2 });
  await called('event.send', 'count/a', '{"x": 1}');
  expect(await events.next('counting/seen')).toMatchObject({ count: 5 });
});

it('an engine of a minion sees what the minion tells its master', async () => {
  expect(await events.next('mirror/ready')).toMatchObject({ data: { os: 'Linux' } });
  await called('event.send', 'show/me', '{"x": 7}');
  const data = await events.next('mirror/saw');
  expect(JSON.stringify(data)).toContain('show/me');
});

it('the engine reactor sets the options of the reactor', async () => {
  await called('event.send', 'look/reactor', '{}');
  await events.next('reactor/told');
  expect(fleet.master.output()).not.toContain('The engine reactor');
});

it('bad engines are named and started again with a growing wait, and harm nobody', async () => {
  const lines = (name: string): number =>
    existsSync(fleet.path(name)) ? readFileSync(fleet.path(name), 'utf8').split('\n').length - 1 : 0;
  for (const name of ['crashes', 'garbage', 'hostile'])
    await eventually(`${name} to be started again`, () => lines(name) >= 2);
  const said = fleet.master.output();
  expect(said).toContain('ValueError: as always');
  expect(said).toContain('The engine no_such_engine is not started: there is no engine "no_such_engine"');
  expect(said).toContain('The engine plain2 is not started: its configuration is wrong');
  expect(said).toContain('sent what Halite does not understand');
  expect(said.split('The engine no_such_engine')).toHaveLength(2);
  await events.next('flood');
  const answers = await Promise.all(Array.from({ length: 5 }, () => called('test.ping')));
  expect(answers).toEqual([true, true, true, true, true]);
});

it('a changed file is used without a restart of the daemon, and a new one found', async () => {
  tree({
    'engines/plain.js': `export async function start(answer) {
  await this.fire('plain/changed', { answer });
  await new Promise((resolve) => this.signal.addEventListener('abort', resolve));
}\n`,
    'srv/salt/_engines/no_such_engine.py':
      "import time\nimport salt.utils.event\ndef start():\n    salt.utils.event.get_event('master').fire_event({}, 'late/ready')\n    time.sleep(1000)\n",
  });
  const before = pidIn('plain');
  const { stdout } = await fleet.run('salt-run', ['saltutil.sync_engines', '--out=json']);
  expect(JSON.parse(stdout)).toEqual(['engines.no_such_engine']);
  await events.next('plain/changed');
  await eventually('the old process to end', () => !alive(before));
  await events.next('late/ready');
});

it('every process ends with the master and may clean up, also one that blocks or refuses', async () => {
  for (const name of ['stubborn', 'blocks', 'child']) await eventually(`${name} to run`, () => alive(pidIn(name)));
  await fleet.master.stop();
  const pids = ['stubborn', 'blocks', 'child', 'watcher'].map(pidIn);
  await eventually('all to end', () => pids.every((pid) => !alive(pid)), { describe: () => String(pids.map(alive)) });
  expect(readFileSync(fleet.path('left'), 'utf8')).toBe('cleaned up');
  expect((await post(ports[0]!, 'x', 'y').catch(() => undefined))?.status).toBeUndefined();
});

it('a daemon that was killed leaves none behind', async () => {
  await fleet.startMaster();
  const names = ['stubborn', 'blocks'];
  const old = names.map(pidIn);
  await eventually('the engines', () => names.every((name, at) => pidIn(name) !== old[at] && alive(pidIn(name))), {
    timeoutMs: 120_000,
  });
  const pids = names.map(pidIn);
  await fleet.master.stop('SIGKILL');
  await eventually('all to end', () => pids.every((pid) => !alive(pid)));
});
