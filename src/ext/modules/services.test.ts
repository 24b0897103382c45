// Services without systemd: scripts in /etc/init.d with fake tools, and the output of runit.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { newDict, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import linux from './linux_service.ts';
import runit, { pidIn } from './runit.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-service-'));
const path = process.env['PATH'];
beforeAll(() => {
  for (const name of ['service', 'chkconfig', 'update-rc.d']) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> ${folder}/asked\n[ "$2" != status ]\n`);
    chmodSync(join(folder, name), 0o755);
  }
  process.env['PATH'] = `${folder}${delimiter}${path}`;
});
afterAll(() => {
  process.env['PATH'] = path;
  rmSync(folder, { recursive: true, force: true });
});
const call = (fun: string, ...args: Value[]): Promise<Value> =>
  testContext({ modules: [linux] }).callWith(`service.${fun}`, args, newDict());
const asked = (): string[] => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');

describe('services with scripts', () => {
  it('are queried and controlled with the installed tools', async () => {
    const [name] = (await call('get_all')) as string[];
    // On a machine without scripts the module is not available.
    if (name === undefined) {
      expect([await call('get_enabled'), await call('get_disabled')]).toEqual([[], []]);
      return;
    }
    expect(await call('available', name)).toBe(true);
    expect(await call('start', name)).toBe(true);
    expect(await call('force_reload', name)).toBe(true);
    expect(await call('status', name)).toBe(false);
    expect(await call('enable', name)).toBe(true);
    expect(asked()).toEqual([
      `service ${name} start`,
      `service ${name} force-reload`,
      `service ${name} status`,
      `chkconfig --add ${name}`,
      `chkconfig ${name} on`,
    ]);
    const [enabled, disabled] = [await call('get_enabled'), await call('get_disabled')] as [string[], string[]];
    expect([...enabled, ...disabled].sort()).toEqual(await call('get_all'));
    expect(await call('enabled', name)).toBe(enabled.includes(name));
  });

  it('do not exist on other machines', async () => {
    expect(await call('missing', 'no-such-service')).toBe(true);
    await expect(call('start', '../../bin/sh')).rejects.toThrow('Service ../../bin/sh is not available');
    expect(await call('status', 'no-such-service')).toBe(false);
    expect(await call('disabled', 'no-such-service')).toBe(false);
  });
});

describe('systemctl without systemd', () => {
  it('marks an offline system, in which states of services do nothing', async () => {
    writeFileSync(join(folder, 'systemctl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    // Where systemd runs, the answer is different.
    expect(await call('offline')).toBe(existsSync('/run/systemd/system') ? false : join(folder, 'systemctl'));
    expect(await call('masked', 'no-such-service')).toBe(false);
  });
});

describe('runit', () => {
  it.each([
    ['run: /etc/service/ssh: (pid 123) 50s; run: log: (pid 9) 50s', '123'],
    ['down: /etc/service/ssh: 2s, normally up; run: log: (pid 9) 50s', ''],
    ['fail: /etc/service/x: unable to change to service directory', ''],
  ])('%s', (text, pid) => {
    expect(pidIn(text)).toBe(pid);
  });

  it('is only for machines it starts', async () => {
    const system = { grains: newDict([['init', 'systemd']]), opts: {}, callable: async () => true as const };
    expect(await runit.available?.(system)).toContain('Runit not available');
  });
});
