// Machines and pools of libvirt, with a fake virsh that prints recorded output.
import { readFileSync } from 'node:fs';
import { defineModule, fn, newDict, p, pyStr, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import virt from './index.ts';
import { poolXml } from './pools.ts';

const says: [RegExp, string][] = [
  [/ list --all/, 'web\ndb\n\n'],
  [/ list --state-running/, 'web\n'],
  [/domstate web/, 'running\n'],
  [/domstate/, 'shut off\n'],
  [
    /dominfo/,
    'Id:             1\nName:           web\nUUID:           9f1e\nState:          running\nCPU(s):         2\nCPU time:       12.5s\nMax memory:     1048576 KiB\nUsed memory:    524288 KiB\n',
  ],
  [/pool-list/, 'default\nimages\n'],
  [
    /pool-info/,
    'Name:           default\nUUID:           11-22\nState:          running\nPersistent:     yes\nAutostart:      no\nCapacity:       1000\nAllocation:     400\nAvailable:      600\n',
  ],
  [
    /pool-dumpxml/,
    "<pool type='dir'>\n  <name>default</name>\n  <uuid>11-22</uuid>\n  <target>\n    <path>/srv/images</path>\n    <permissions>\n      <mode>0711</mode>\n    </permissions>\n  </target>\n</pool>\n",
  ],
  [/vol-list/, ' a.qcow2   /srv/images/a.qcow2\n b.qcow2   /srv/images/b.qcow2\n'],
];

function machine(): {
  ran: string[];
  files: string[];
  call(fun: string, args?: Value[], kwargs?: object): Promise<Value>;
} {
  const [ran, files]: [string[], string[]] = [[], []];
  const run_all = fn({
    doc: 'x',
    params: { cmd: p.any(), kwargs: p.kwargs() },
    run({ cmd }) {
      const argv = (cmd as Value[]).map(pyStr);
      const file = argv.find((word) => word.endsWith('.xml'));
      if (file) files.push(readFileSync(file, 'utf8'));
      const line = argv.filter((word) => word !== file).join(' ');
      ran.push(line);
      const failed = line.includes('missing');
      const stdout = says.find(([pattern]) => pattern.test(line))?.[1] ?? '';
      return newDict(Object.entries({ retcode: failed ? 1 : 0, stdout, stderr: failed ? 'error: no domain\n' : '' }));
    },
  });
  const get = fn({ doc: 'x', params: { name: p.any(), default: p.any({ default: null }) }, run: () => null });
  const modules = [
    virt,
    defineModule({ name: 'cmd', doc: 'x', functions: { run_all } }),
    defineModule({ name: 'config', doc: 'x', functions: { get } }),
  ];
  const ctx = testContext({ modules });
  return {
    ran,
    files,
    call: (fun, args = [], kwargs = {}) => ctx.callWith(`virt.${fun}`, args, newDict(Object.entries(kwargs))),
  };
}

describe('machines', () => {
  it('are listed with their state', async () => {
    const { call } = machine();
    expect(await call('list_domains')).toEqual(['web', 'db']);
    expect(await call('list_active_vms')).toEqual(['web']);
    expect(await call('vm_state')).toEqual({ web: 'running', db: 'shutdown' });
    expect(await call('vm_info', ['web'])).toEqual({
      web: { cpu: 2, cputime: 12_500_000_000, maxMem: 1_048_576, mem: 524_288, state: 'running', uuid: '9f1e' },
    });
  });

  it('are started, stopped and created by virsh', async () => {
    const { ran, files, call } = machine();
    await call('start', ['web'], { connection: 'qemu+ssh://host/system' });
    await call('stop', ['web']);
    await call('undefine', ['web']);
    await call('set_autostart', ['web'], { state: true });
    await call('set_autostart', ['web'], { state: 'off' });
    await call('define_xml_str', ['<domain/>']);
    expect(ran).toEqual([
      'virsh --quiet --connect qemu+ssh://host/system start web',
      'virsh --quiet destroy web',
      'virsh --quiet undefine --nvram web',
      'virsh --quiet autostart web',
      'virsh --quiet autostart web --disable',
      'virsh --quiet define',
    ]);
    expect(files).toEqual(['<domain/>']);
    expect(await call('set_autostart', ['web'], { state: 'perhaps' })).toBe(false);
    await expect(call('start', ['missing'])).rejects.toThrow('no domain');
    expect(await call('define_xml_path', ['/nowhere.xml'])).toBe(false);
  });
});

describe('pools', () => {
  it('are described', async () => {
    const { call } = machine();
    expect(await call('pool_info', ['default'])).toEqual({
      default: {
        ...{ uuid: '11-22', state: 'running', capacity: 1000, allocation: 400, free: 600 },
        ...{ autostart: 0, persistent: 1, target_path: '/srv/images', type: 'dir' },
      },
    });
    expect(await call('pool_list_volumes', ['default'])).toEqual(['a.qcow2', 'b.qcow2']);
  });

  it('are changed only where they differ', async () => {
    const { ran, files, call } = machine();
    const layout = { target: '/srv/images', permissions: newDict([['mode', '0711']]) };
    expect(await call('pool_update', ['default', 'dir'], layout)).toBe(false);
    expect(await call('pool_update', ['default', 'dir'], { ...layout, target: '/x', test: true })).toBe(true);
    expect(files).toEqual([]);
    expect(await call('pool_update', ['default', 'dir'], { ...layout, target: '/x' })).toBe(true);
    expect(files[0]).toContain('<name>default</name><uuid>11-22</uuid><target><path>/x</path>');
    expect(ran.at(-1)).toBe('virsh --quiet pool-define');
  });

  it('are written so that values cannot inject XML', () => {
    const nothing = { permissions: null, source_dir: null, source_initiator: null, source_adapter: null };
    const rest = { source_auth: null, source_name: null, source_hosts: ['one:3260'], source_format: 'nfs' };
    const xml = poolXml({ name: "a<'b'>", ptype: 'netfs', target: '/t', source_devices: null, ...nothing, ...rest });
    expect(xml).toBe(
      "<pool type='netfs'><name>a&#60;&#39;b&#39;&#62;</name><target><path>/t</path></target><source><host name='one' port='3260'/><format type='nfs'/></source></pool>",
    );
  });
});
