// Beacons about the machine, against the real /proc and /sys: load, memory, disks, processes, network, services, status.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type PlainDict } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { describe, expect, it, vi } from 'vitest';
import { readProcess } from '../shared/ps/processes.ts';
import diskusage from './diskusage.ts';
import haproxy from './haproxy.ts';
import load, { openLoad } from './load.ts';
import memusage from './memusage.ts';
import networkInfo from './network_info.ts';
import networkSettings, { interfaceSettings, openSettings } from './network_settings.ts';
import pkg from './pkg.ts';
import ps from './ps.ts';
import saltMonitor from './salt_monitor.ts';
import service from './service.ts';
import sh, { commandIn, openShells, shellProcesses } from './sh.ts';
import { dict, opened, plainJson, problem, testContext, until } from './shared/testing.ts';
import status from './status.ts';
import swapusage from './swapusage.ts';

describe('load', () => {
  it('reports averages outside their range, and with onchangeonly each crossing once', () => {
    const values = [0.5, 3, 3.5, 0.5];
    const read = (): number[] => [values.shift() ?? 0, 0, 0];
    const session = openLoad(dict({ averages: { '1m': [0, 2] }, onchangeonly: true }), read);
    const told = [1, 2, 3, 4].map(() => session.read().length);
    expect(told).toEqual([0, 1, 0, 0]);
    const always = openLoad(dict({ averages: { '1m': ['0.0', '2.0'] } }), () => [3, 1, 0.25]);
    expect(plainJson(always.read())).toEqual([{ '1m': 3, '5m': 1, '15m': 0.25 }]);
    expect(always.read()).toHaveLength(1);
    const quiet = dict({ averages: { '1m': [0, 2] }, onchangeonly: true, emitatstartup: false });
    expect(openLoad(quiet, () => [3, 0, 0]).read()).toEqual([]);
  });

  it('reads the real ones and refuses invalid settings', async () => {
    const session = await opened(load, { averages: { '15m': [-2, -1] } });
    expect(Object.keys((await session.read())[0] ?? {})).toEqual(['1m', '5m', '15m']);
    expect(await problem(load, {})).toBe('Averages configuration is required for load beacon.');
    expect(await problem(load, { averages: { '1m': [1] } })).toContain('list of two items');
    expect(await problem(load, { averages: { '1m': 1 } })).toContain('list of two items');
    expect(await problem(load, { averages: { '2m': [1, 2] } })).toContain('must contain 1m, 5m or 15m');
    expect(await problem(load, { averages: { '1m': [1, 2] }, onchangeonly: 1 })).toContain('onchangeonly');
  });
});

describe('memory, swap and disks', () => {
  it('report usage from the given percentage on', async () => {
    for (const [beacon, key] of [
      [memusage, 'memusage'],
      [swapusage, 'swapusage'],
    ] as const) {
      const [event] = await (await opened(beacon, { percent: '0%' })).read();
      expect(Number(event?.[key])).toBeGreaterThanOrEqual(0);
      expect(await (await opened(beacon, { percent: 101 })).read()).toEqual([]);
      expect(await problem(beacon, {})).toBe(`Configuration for ${key} beacon requires percent.`);
      expect(await problem(beacon, { percent: 'much' })).toContain('percent must be a percentage');
    }
  });

  it('find filesystems by regular expression', async () => {
    const told = await (await opened(diskusage, { '/': '0%' })).read();
    const { blocks, bfree, bavail } = statfsSync('/');
    const percent = ((blocks - bfree) / (blocks - bfree + bavail)) * 100;
    expect(told).toHaveLength(1);
    expect(told[0]?.['mount']).toBe('/');
    expect(Math.abs(Number(told[0]?.['diskusage']) - percent)).toBeLessThan(2);
    expect((await (await opened(diskusage, { '/.*': 0 })).read()).length).toBeGreaterThan(1);
    expect(await (await opened(diskusage, { '/': '100.1%' })).read()).toEqual([]);
    expect(await problem(diskusage, { '/': 'full' })).toContain('/ must be a percentage');
  });
});

describe('processes and network', () => {
  it('report which processes run or do not', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    const session = await opened(ps, {
      processes: { sleep: 'running', nobody: 'stopped', other: null, no: 'running' },
    });
    expect(plainJson(await session.read())).toEqual([{ sleep: 'Running' }, { nobody: 'Stopped' }, { other: false }]);
    child.kill();
    expect(await problem(ps, { processes: ['x'] })).toBe('Processes for ps beacon must be a dictionary.');
  });

  it('report counters that reached their limit', async () => {
    const lo = { type: 'greater', bytes_sent: -1 };
    const [event] = await (await opened(networkInfo, { interfaces: { lo, none0: lo } })).read();
    expect(event).toMatchObject({ interface: 'lo', network_info: { errin: expect.any(Number) } });
    expect(await (await opened(networkInfo, { interfaces: { lo: { bytes_sent: -1 } } })).read()).toEqual([]);
    expect(await problem(networkInfo, { interfaces: { lo: { x: 1 } } })).toContain('Invalid configuration item');
    expect(await problem(networkInfo, { interfaces: { lo: { errin: 'x' } } })).toContain('errin of lo');
  });

  it('report settings of interfaces that change', async () => {
    expect(interfaceSettings().get('lo')).toMatchObject({
      mtu: expect.any(Number),
      ipaddr: expect.any(Array),
      promiscuity: 0,
    });
    const states = [
      { mtu: 1500, promiscuity: 0 },
      { mtu: 1500, promiscuity: 1 },
      { mtu: 9000, promiscuity: 0 },
    ].map((of) => new Map([['eth0', dict(of)]]));
    const rules = { 'eth.*': { mtu: null, promiscuity: { onvalue: 1 } } };
    const session = openSettings(dict({ interfaces: rules }), () => states.shift() as Map<string, PlainDict>);
    expect(session.read()).toEqual([{ tag: 'eth0', interface: 'eth0', change: { promiscuity: 1 } }]);
    expect(session.read()).toEqual([{ tag: 'eth0', interface: 'eth0', change: { mtu: 9000 } }]);
    const real = await opened(networkSettings, { interfaces: { lo: { mtu: null } }, coalesce: true });
    expect(await real.read()).toEqual([]);
    expect(await problem(networkSettings, { interfaces: { lo: { size: null } } })).toContain('size');
  });

  it('queries HAProxy on its socket', async () => {
    const socket = join(tmpdir(), `halite-haproxy-${process.pid}.sock`);
    const stats = '# pxname,svname,qcur,scur,smax\nwww,web1,0,50,60\nwww,web2,0,3,60\nwww,BACKEND,0,53,60\n\n';
    const server = createServer((client) => client.on('data', () => client.end(stats))).listen(socket);
    const backends = { www: { threshold: 45, servers: ['web1', 'web2', 'web3'] } };
    const session = await opened(haproxy, { socket, backends });
    expect(await session.read()).toEqual([{ server: 'web1', scur: '50', threshold: 45 }]);
    server.close();
    expect(await problem(haproxy, { backends: { www: {} } })).toBe('Backends for haproxy beacon require servers.');
    expect(await problem(haproxy, { backends: { www: { servers: [] } } })).toContain('threshold of www');
  });
});

describe('beacons that call functions', () => {
  it('service reports changes, after their delay', async () => {
    let running = true;
    const ctx = testContext({ 'service.status': () => running });
    const services = {
      nginx: { onchangeonly: true, emitatstartup: false },
      slow: { onchangeonly: true, delay: 5, emitatstartup: false },
      each: {},
    };
    const session = await opened(service, { services }, ctx);
    const names = async (): Promise<unknown[]> => (await session.read()).map((event) => event['tag']);
    vi.useFakeTimers({ now: 0, toFake: ['Date'] });
    try {
      expect(await names()).toEqual(['each']);
      running = false;
      const told = await session.read();
      expect(plainJson(told[0])).toEqual({ nginx: { running: false }, service_name: 'nginx', tag: 'nginx' });
      expect(told).toHaveLength(2);
      vi.setSystemTime(4000);
      expect(await names()).toEqual(['each']);
      vi.setSystemTime(7000);
      expect(await names()).toEqual(['slow', 'each']);
    } finally {
      vi.useRealTimers();
    }
    expect(await problem(service, { services: { a: 1 } })).toContain('must be a list of dictionaries');
    expect(await problem(service, { services: { a: { delay: 'x' } } })).toContain('delay of a');
  });

  it('status, pkg and salt_monitor', async () => {
    const loadavg = dict({ '1-min': 1, '5-min': 2 });
    const ctx = testContext({
      'status.loadavg': () => loadavg,
      'status.time': () => 'now',
      'test.ping': () => true,
      'test.no': () => false,
      'test.echo': (text) => text ?? null,
    });
    const [event] = await (await opened(status, { loadavg: ['1-min'], time: ['all'], gone: ['all'] }, ctx)).read();
    expect(event).toMatchObject({ data: { loadavg: { '1-min': 1 }, time: 'now', gone: {} } });
    expect(event?.['tag']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+$/);
    const wrong = await (await opened(status, { loadavg: ['2-min'] }, ctx)).read();
    expect(wrong[0]).toMatchObject({ data: { loadavg: "Status beacon is incorrectly configured: '2-min'" } });
    const salt_fun = ['test.ping', 'test.no', { 'test.echo': { args: ['hi'] } }];
    expect(await (await opened(saltMonitor, { salt_fun }, ctx)).read()).toEqual([
      { salt_fun: 'test.ping', ret: true },
      { salt_fun: 'test.echo', ret: 'hi', args: ['hi'] },
    ]);
    expect(await problem(saltMonitor, { salt_fun: [{ a: { b: 1 } }] })).toBe('key b not allowed under fun a');
    const versions = ['', '1', '1'];
    const latest = ['', '2'];
    const packages = testContext({
      'pkg.version': () => versions.shift() ?? '',
      'pkg.latest_version': () => latest.shift() ?? '',
    });
    const session = await opened(pkg, { pkgs: ['zsh'] }, packages);
    expect(await session.read()).toEqual([]);
    expect(await session.read()).toEqual([newDict(Object.entries({ pkg: 'zsh', version: '1', status: 'installed' }))]);
    expect(await session.read()).toEqual([newDict(Object.entries({ pkg: 'zsh', version: '2', status: 'upgrade' }))]);
    expect(await problem(pkg, {})).toBe('Configuration for pkg beacon requires list of pkgs.');
  });
});

/** Whether strace works here: sandboxes forbid it, or let it attach without reporting anything. */
async function canTrace(): Promise<boolean> {
  if (which('strace') === null || process.getuid?.() !== 0) return false;
  const shell = spawn('/bin/bash', ['--norc'], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(shell, 'spawn');
  const strace = spawn('strace', ['-f', '-e', 'trace=execve', '-p', String(shell.pid)]);
  const typing = setInterval(() => shell.stdin.write('/bin/true\n'), 100);
  let said = '';
  try {
    return await new Promise((resolve) => {
      strace.stderr.on('data', (piece) => {
        said += String(piece);
        if (said.includes('execve("/bin/true"')) resolve(true);
      });
      strace.on('exit', () => resolve(false));
      setTimeout(() => resolve(false), 10_000).unref();
    });
  } finally {
    clearInterval(typing);
    strace.kill('SIGKILL');
    shell.kill('SIGKILL');
  }
}

/** `script` starts the shell named here, so the result does not depend on the user's shell. */
const withShell = { ...process.env, SHELL: '/bin/sh' };

/** Whether `script` can give a program a terminal of its own. */
const hasTerminals = (): boolean =>
  spawnSync('script', ['-qc', 'tty', '/dev/null'], {
    encoding: 'utf8',
    timeout: 10_000,
    env: withShell,
  }).stdout?.startsWith('/dev/') === true;

describe('sh', () => {
  it('reads the output of strace', () => {
    expect(commandIn('[pid  12] execve("/usr/bin/id", ["id", "-u", "a \\"b\\""], 0x7ffd /* 20 vars */) = 0')).toEqual({
      cmd: '/usr/bin/id',
      args: ['id', '-u', 'a \\"b\\"'],
    });
    expect(commandIn('strace: Process 12 attached')).toBeUndefined();
  });

  it('reports what is typed into a real shell', async () => {
    // It cannot be installed here: log the reason and test the rest.
    if (!hasTerminals() || !(await canTrace())) {
      console.warn('sh: no terminals, or no tracing of processes on this machine, so no real shell is watched');
      expect(sh.available?.({} as never)).toBe(which('strace') === null ? 'strace is missing.' : true);
      return;
    }
    const terminal = spawn('script', ['-qfc', 'exec /bin/bash --norc', '/dev/null'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: withShell,
    });
    await once(terminal, 'spawn');
    const own = (pid: number): boolean => readProcess(pid)?.ppid === terminal.pid;
    const session = openShells(() => shellProcesses().filter(own), testContext());
    const typing = setInterval(() => terminal.stdin.write('/bin/true halite-was-here\n'), 200);
    try {
      const told = await until(session, (list) =>
        list.some(({ args }) => Array.isArray(args) && args.includes('halite-was-here')),
      );
      expect(told.find(({ cmd }) => cmd === '/bin/true')).toMatchObject({
        user: 'root',
        args: ['/bin/true', 'halite-was-here'],
      });
    } finally {
      clearInterval(typing);
      await session.close?.();
      terminal.kill('SIGKILL');
    }
  });
});
