// Proxy minions: the built-in types, users' types in TypeScript and Python, and devices that hang, lie, die and come back.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { startSshd } from '../support/servers/sshd.ts';
import { readIfThere } from '../support/ssh-field.ts';

/** The processes that hold devices, children of a daemon. */
function deviceProcesses(parent: number): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.map(Number).filter((pid) => {
    const command = readIfThere(`/proc/${pid}/cmdline`);
    return command.includes('salt-proxy devices') || command.includes('proxy-process');
  });
}

/** A small real device: packages and services over HTTP, as Salt's example server has them. */
class RestDevice {
  readonly packages: Record<string, string> = { coreutils: '1.05' };
  readonly services: Record<string, string> = { ntp: 'stopped' };
  /** What it does instead of answering: a status line, or a body that nobody expects. */
  body: string | undefined;
  alive = true;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const [what = '', verb = '', name = '', version = ''] = (request.url ?? '')
        .slice(1)
        .split('/')
        .map(decodeURIComponent);
      const answer = this.body ?? JSON.stringify(this.#answer(what, verb, name, version));
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    });
  }

  #answer(what: string, verb: string, name: string, version: string): unknown {
    if (what === 'ping') return { ret: this.alive };
    if (what === 'info') return { serial: 'R-1', rack: 7 };
    if (what === 'service') {
      if (verb === 'list') return this.services;
      if (verb === 'status')
        return { comment: this.services[name] ?? 'stopped', ret: this.services[name] === 'running' };
      this.services[name] = verb === 'stop' ? 'stopped' : 'running';
      return { comment: this.services[name] };
    }
    if (verb === 'list') return this.packages;
    if (verb === 'install') this.packages[name] = version;
    if (verb === 'remove') delete this.packages[name];
    return { ret: this.packages[name] ?? '' };
  }

  listen(port: number): Promise<void> {
    return new Promise((done) => this.#server.listen(port, '127.0.0.1', done));
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((done) => {
      this.#server.close(() => done());
    });
  }
}

const strange = `import { defineProxy } from 'halite/sdk';
export default defineProxy({
  name: 'strange',
  doc: 'Answers in every wrong way.',
  open: () => ({
    functions: {
      ping: () => true,
      hang: () => new Promise(() => {}),
      spin: () => { for (;;) {} },
      die: () => process.exit(3),
      huge: () => 'x'.repeat(80 << 20),
      cycle: () => { const a = {}; a.self = a; return a; },
      fun: () => () => 1,
      nothing: () => undefined,
      throws: () => { throw new TypeError('no such port'); },
      slow: async ([text]) => { await new Promise((r) => setTimeout(r, 50)); return [text, 'end of ' + text]; },
    },
    close() {},
  }),
});
`;
const strangeModule = `import { defineModule, fn, p } from 'halite/sdk';
export default defineModule({
  name: 'strange_mod',
  doc: 'Calls the device.',
  functions: {
    ask: fn({ doc: 'Calls a function of it.', params: { name: p.string(), args: p.rest() }, run: ({ name, args }, ctx) => ctx.proxy.call(name, args) }),
  },
});
`;
const pythonType = `"""A device in Python."""
__proxyenabled__ = ["pydev"]
DETAILS = {"calls": 0, "closed": 0}

def __virtual__():
    return True

def init(opts):
    DETAILS["host"] = opts["proxy"]["host"]
    __context__["opened"] = True

def initialized():
    return "host" in DETAILS

def ping():
    return __context__.get("opened", False)

def alive(opts):
    return opts["proxy"]["host"] == DETAILS["host"]

def grains():
    return {"vendor": "pyvendor", "host_seen": DETAILS["host"]}

def count(step=1):
    DETAILS["calls"] += step
    return DETAILS["calls"]

def through_salt():
    return __salt__["pymod.count_up"](10)

def crash():
    import os
    os._exit(9)

def shutdown(opts):
    DETAILS["closed"] += 1
`;
const pythonModule = `__proxyenabled__ = ["pydev"]

def count_up(step=1):
    return __proxy__["pydev.count"](step=step)

def nested():
    return __proxy__["pydev.through_salt"]()

def crash():
    return __proxy__["pydev.crash"]()

def facts():
    return ["pydev.count" in __proxy__, "pydev.nope" in __proxy__, "other.count" in __proxy__]
`;
const pythonGrains = `__proxyenabled__ = ["pydev"]

def uplink(proxy):
    return {"uplink": "up " + str(proxy["pydev.ping"]())} if proxy else {}
`;

const sshDevice = `import json, sys
packages = {"coreutils": "9.1"}
for line in sys.stdin:
    words = line.split()
    if not words or words[0] == "exit":
        break
    if words[0] == "info":
        print("Information:", json.dumps({"firmware": "1.2"}))
    elif words[0] == "pkg_install":
        print("Installing...")
        print(json.dumps({words[1]: (words + ["1.0"])[2]}, indent=2))
    elif words[0] == "pkg_list":
        print(json.dumps(packages))
`;

describe('proxy minions', () => {
  let fleet: Deployment;
  const device = new RestDevice();
  let devicePort = 0;
  const write = (path: string, text: string): void => {
    mkdirSync(fleet.path(path, '..'), { recursive: true });
    writeFileSync(fleet.path(path), text);
  };

  beforeAll(async () => {
    [devicePort = 0] = await freePorts(1);
    await device.listen(devicePort);
    fleet = await Deployment.create();
    const pillars: Record<string, string> = {
      dummy1: 'proxy: {proxytype: dummy}\nmine_functions: {pkg.list_pkgs: []}\n',
      rest1: `proxy: {proxytype: rest_sample, url: "http://127.0.0.1:${devicePort}"}\n`,
      odd1: 'proxy: {proxytype: strange}\nproxy_call_timeout: 6\nextra_option: {a: [1]}\n',
      py1: 'proxy: {proxytype: pydev, host: 192.0.2.1}\n',
    };
    const ids = Array.from({ length: 24 }, (_, at) => `delta${at}`);
    for (const [at, id] of ids.entries()) pillars[id] = `proxy: {proxytype: dummy}\nnumber: ${at}\n`;
    pillars['holder'] =
      `proxy: {proxytype: deltaproxy, parallel_startup: True, ids: [${[...ids, 'stranger', 'bad/id'].join(', ')}]}\n`;
    for (const [id, text] of Object.entries(pillars)) write(`srv/pillar/${id}.sls`, text);
    write(
      'srv/pillar/top.sls',
      `base:\n${[...Object.keys(pillars), 'sshkey', 'sshpass'].map((id) => `  ${id}: [${id}]\n`).join('')}`,
    );
    for (const id of ['sshkey', 'sshpass']) write(`srv/pillar/${id}.sls`, '{}\n');
    write('srv/salt/_proxy/strange.ts', strange);
    write('srv/salt/_modules/strange_mod.ts', strangeModule);
    write('srv/salt/_proxy/pydev.py', pythonType);
    write('srv/salt/_modules/pymod.py', pythonModule);
    write('srv/salt/_grains/pygrain.py', pythonGrains);
    write(
      'srv/salt/web.sls',
      'samba:\n  service.running: []\nmarker:\n  module.run:\n    - pkg.install:\n      - name: nginx\n',
    );
    await fleet.startMaster();
    const merge = 'proxy_merge_pillar_in_opts: True';
    // One after the other: they share a key pair, which the first one makes.
    fleet.startProxy('dummy1', halite, merge);
    await fleet.answering('dummy1');
    for (const id of ['rest1', 'odd1', 'py1']) fleet.startProxy(id, halite, merge);
    await fleet.answering('rest1', 'odd1', 'py1');
  });
  afterAll(async () => {
    await fleet?.destroy();
    await device.close();
  });
  const one = async (id: string, ...args: string[]): Promise<unknown> => (await fleet.json(id, ...args))[id];

  it('answer by their device, and have its grains', async () => {
    expect(await one('dummy1', 'pkg.list_pkgs')).toMatchObject({ apache: '2.4', redbull: '999.99' });
    expect(await one('dummy1', 'pkg.install', 'tool', 'version=3.1.4')).toEqual({ tool: '3.1.4' });
    expect(await one('dummy1', 'pkg.version', 'tool')).toBe('3.1.4');
    expect(await one('dummy1', 'service.list')).toEqual(['apache', 'ntp', 'samba']);
    const grains = await one('dummy1', 'grains.item', 'os', 'kernel', 'dummy_grain_1', 'id', 'username', 'num_cpus');
    expect(grains).toMatchObject({ os: 'proxy', kernel: 'proxy', dummy_grain_1: 'one', id: 'dummy1' });
    expect(await fleet.json('-G', 'dummy_grain_2:two', 'test.ping')).toEqual({ dummy1: true });
    expect(await one('dummy1', 'mine.update')).toBe(true);
    expect((await fleet.json('dummy1', 'mine.get', 'dummy1', 'pkg.list_pkgs'))['dummy1']).toMatchObject({
      dummy1: { tool: '3.1.4' },
    });
  });

  it('share one key, and have folders of their own', () => {
    expect(existsSync(fleet.path('proxies/etc/salt/pki/proxy/minion.pem'))).toBe(true);
    expect(existsSync(fleet.path('proxies/var/cache/salt/proxy/dummy1/dummy-proxy-dummy1.cache'))).toBe(true);
  });

  it('apply states to their device', async () => {
    const applied = JSON.stringify(await one('dummy1', 'state.apply', 'web'));
    expect(applied).toContain('samba');
    expect(applied).not.toContain('"result":false');
    expect(await one('dummy1', 'service.status', 'samba')).toBe(true);
    expect(await one('dummy1', 'pkg.version', 'nginx')).toBe('1.0');
  });

  it('reach a device over HTTP, which restarts', async () => {
    expect(await one('rest1', 'test.ping')).toBe(true);
    expect(await one('rest1', 'grains.item', 'serial', 'rack', 'os')).toEqual({
      serial: 'R-1',
      rack: 7,
      os: 'RestExampleOS',
    });
    expect(await one('rest1', 'service.start', 'ntp')).toMatchObject({ comment: 'running' });
    expect(await one('rest1', 'service.status', 'n*')).toEqual({ ntp: true });
    expect(await one('rest1', 'pkg.install', 'we ird/name')).toMatchObject({ ret: '1.0' });
    expect(device.packages).toHaveProperty('we ird/name');
    expect(await one('rest1', 'status.proxy_reconnect', 'rest_sample')).toBe(true);
    for (const body of ['[1, 2]', 'nonsense', '"text"', `{"a": ${'['.repeat(20_000)}`]) {
      device.body = body;
      expect(String(await one('rest1', 'pkg.list_pkgs'))).toMatch(/^ERROR/);
    }
    device.body = undefined;
    await device.close();
    expect(await one('rest1', 'test.ping')).toBe(false);
    await device.listen(devicePort);
    expect(await one('rest1', 'test.ping')).toBe(true);
    expect(await one('rest1', 'pkg.list_pkgs')).toMatchObject({ coreutils: '1.05' });
  });

  it('survive a device that hangs, lies and dies, and say what it did', async () => {
    const ask = (name: string, ...args: string[]) => one('odd1', 'strange_mod.ask', name, ...args, '-t', '30');
    expect(await one('odd1', 'config.get', 'extra_option')).toEqual({ a: [1] });
    expect(await ask('nothing')).toBe(null);
    expect(String(await ask('throws'))).toContain('TypeError: no such port');
    expect(String(await ask('nope'))).toContain('has no function nope');
    expect(String(await ask('cycle'))).toContain('cannot be passed on');
    expect(String(await ask('fun'))).toContain('cannot be passed on');
    expect(String(await ask('huge'))).toContain('more than');
    expect(String(await ask('hang'))).toContain('did not answer within 6 s');
    await eventually('the device to be back', async () => (await one('odd1', 'test.ping')) === true);
    expect(String(await ask('die'))).toContain('its process ended (status 3)');
    await eventually('the device to be back', async () => (await one('odd1', 'test.ping')) === true);
    // One call after the other, in the order in which they came.
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((text) => ask('slow', text)));
    expect(all).toEqual(['a', 'b', 'c', 'd'].map((text) => [text, `end of ${text}`]));
  });

  it('get a new process for one that was killed', async () => {
    const { pid } = fleet.minion('dummy1');
    const [before = 0] = deviceProcesses(pid);
    expect(before).toBeGreaterThan(0);
    process.kill(before, 'SIGKILL');
    await eventually('a new process', () => deviceProcesses(pid).some((now) => now !== before));
    await eventually('the device to answer', async () => (await one('dummy1', 'test.ping')) === true);
    expect(await one('dummy1', 'pkg.version', 'tool')).toBe('3.1.4');
  });

  it('run users types in Python, with one process for the device', async () => {
    expect(await one('py1', 'test.ping')).toBe(true);
    expect(await one('py1', 'grains.item', 'vendor', 'host_seen', 'uplink')).toEqual({
      ...{ vendor: 'pyvendor', host_seen: '192.0.2.1', uplink: 'up True' },
    });
    expect(await one('py1', 'pymod.count_up', 'step=5')).toBe(5);
    expect(await one('py1', 'pymod.count_up')).toBe(6);
    expect(await one('py1', 'pymod.nested')).toBe(16);
    expect(await one('py1', 'pymod.facts')).toEqual([true, false, false]);
    expect(await one('py1', 'status.proxy_reconnect', 'pydev')).toBe(true);
    expect(String(await one('py1', 'pymod.crash'))).toContain('ended');
    await eventually('the device to be back', async () => (await one('py1', 'test.ping')) === true);
    expect(await one('py1', 'pymod.count_up')).toBe(1);
  });

  it('reach a device over ssh, by key and by password', async () => {
    const script = fleet.path('device.py');
    write('device.py', sshDevice);
    chmodSync(script, 0o755);
    const lines = [`ForceCommand python3 ${script}`];
    const byKey = await startSshd({}, { lines });
    const byPassword = await startSshd({}, { lines, password: 'sesame' });
    try {
      const common = '{proxytype: ssh_sample, host: 127.0.0.1, username: root, ignore_host_key: true';
      write('srv/pillar/sshkey.sls', `proxy: ${common}, port: ${byKey.port}, priv: ${byKey.key}}\n`);
      write('srv/pillar/sshpass.sls', `proxy: ${common}, port: ${byPassword.port}, password: sesame}\n`);
      for (const id of ['sshkey', 'sshpass']) fleet.startProxy(id, halite);
      await fleet.answering('sshkey', 'sshpass');
      for (const id of ['sshkey', 'sshpass']) {
        expect(await one(id, 'pkg.install', 'vim', 'version=9.1.0')).toEqual({ vim: '9.1.0' });
        expect(await one(id, 'grains.item', 'firmware', 'os')).toEqual({ firmware: '1.2', os: 'SshExampleOS' });
        expect(String(await one(id, 'pkg.install', 'a;reboot'))).toContain('cannot be part of a command');
      }
      await byKey.stop();
      expect(await one('sshkey', 'test.ping')).toBe(false);
    } finally {
      await Promise.all([byKey.stop(), byPassword.stop()]);
      await Promise.all(['sshkey', 'sshpass'].map((id) => fleet.minion(id).stop()));
    }
  });

  it('are many in one process with deltaproxy', async () => {
    fleet.startProxy('holder', halite, 'metaproxy: deltaproxy', 'delta');
    const ids = Array.from({ length: 24 }, (_, at) => `delta${at}`);
    await fleet.answering('holder', ...ids);
    // One without pillar is skipped.
    expect(fleet.minion('holder').output()).toContain('No proxy key found in pillar or opts for id stranger');
    const { pid } = fleet.minion('holder');
    expect(deviceProcesses(pid).length).toBeLessThanOrEqual(2);
    expect(await fleet.json('delta3', 'pkg.install', 'only-three', 'version=1.1.1')).toEqual({
      delta3: { 'only-three': '1.1.1' },
    });
    const versions = await fleet.json('-L', ids.join(','), 'pkg.version', 'only-three', '-t', '30');
    expect(versions).toEqual(Object.fromEntries(ids.map((id) => [id, id === 'delta3' ? '1.1.1' : ''])));
    expect(await fleet.json('-I', 'number:7', 'grains.get', 'id')).toEqual({ delta7: 'delta7' });
    const [devices = 0] = deviceProcesses(pid);
    process.kill(devices, 'SIGKILL');
    await fleet.answering(...ids);
  });

  it('answer salt-call, and say what is missing', async () => {
    const call = (id: string, ...words: string[]) =>
      runProgram(`${halite.bin}/salt-call`, [
        '-c',
        fleet.path('proxies/etc'),
        `--proxyid=${id}`,
        '--out=json',
        ...words,
      ]);
    expect(JSON.parse((await call('dummy1', 'service.status', 'apache')).stdout)).toEqual({ local: true });
    expect(JSON.parse((await call('py1', 'pymod.count_up')).stdout)).toEqual({ local: 1 });
    const nobody = fleet.startProxy('nobody', halite);
    await eventually('it to end', () => !nobody.running);
    expect(nobody.output()).toContain('No proxy key found in pillar or opts for id nobody');
  });
});
