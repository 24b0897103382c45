// Parsers for output of system tools, with samples: volumes, access lists, firewalls, partitions, contexts, zones, interfaces.
import { newDict } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { parseAliases } from './aliases.ts';
import { adapterOf, parseInterfaces, render } from './debian_ip/interfaces.ts';
import { isAddress } from './dig.ts';
import { parseHosts, parseZone } from './dnsutil.ts';
import { parseZones } from './firewalld/command.ts';
import { parseAcl } from './linux_acl.ts';
import { parseDisplay } from './linux_lvm/display.ts';
import { parseParted } from './parted_partition.ts';
import { keyed, table, tagList } from './rabbitmq/run.ts';
import { findFilePolicy, findPortPolicy, relabelled } from './selinux/contexts.ts';
import { parseBooleans, parseModules } from './selinux/index.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('volumes', () => {
  it('are read from columns', () => {
    const line = '  /dev/vdb1:data:2097152:-1:8:8:-1:4096:255:254:1:abc-def';
    expect(plain(parseDisplay('pv', `${line}\n  "/dev/vdc" is a new physical volume of "1 GiB"\n`))).toEqual({
      '/dev/vdb1': {
        'Physical Volume Device': '/dev/vdb1',
        'Volume Group Name': 'data',
        'Physical Volume Size (kB)': '2097152',
        'Internal Physical Volume Number': '-1',
        'Physical Volume Status': '8',
        'Physical Volume (not) Allocatable': '8',
        'Current Logical Volumes Here': '-1',
        'Physical Extent Size (kB)': '4096',
        'Total Physical Extents': '255',
        'Free Physical Extents': '254',
        'Allocated Physical Extents': '1',
      },
    });
  });
});

describe('access lists', () => {
  it('are read with defaults and flags', () => {
    const text =
      '# file: /srv/a: b\n# owner: root\n# group: ops\n# flags: -s-\nuser::rwx\nuser:larry:rw-\t#effective:r--\ngroup::r-x\nmask::r-x\nother::---\ndefault:user::rwx\ndefault:group:ops:r--\n\n';
    const entry = (octal: number, read: boolean, write: boolean, execute: boolean) => ({
      permissions: { read, write, execute },
      octal,
    });
    expect(plain(parseAcl(text))).toEqual({
      '/srv/a: b': {
        comment: { file: '/srv/a: b', owner: 'root', group: 'ops', flags: '-s-' },
        sgid: true,
        user: [{ root: entry(7, true, true, true) }, { larry: entry(6, true, true, false) }],
        group: [{ ops: entry(5, true, false, true) }],
        mask: [{ '': entry(5, true, false, true) }],
        other: [{ '': entry(0, false, false, false) }],
        defaults: { user: [{ root: entry(7, true, true, true) }], group: [{ ops: entry(4, true, false, false) }] },
      },
    });
  });
});

describe('firewalld', () => {
  it('lists zones', () => {
    const text =
      'public (active)\n  target: default\n  services: ssh http\n  masquerade: no\n  rich rules: \n\trule one\n\trule two\n';
    expect(plain(parseZones(text))).toEqual({
      'public (active)': {
        target: ['default'],
        services: ['ssh http'],
        masquerade: ['no'],
        'rich rules': ['', 'rule one', 'rule two'],
      },
    });
  });
});

describe('partitions', () => {
  it('are read from machine output', () => {
    const found = parseParted(
      ['BYT;', '/dev/vda:10GB:virtblk:512:512:gpt:Virtio:;', '1:1049kB:2GB:2GB:ext4:root:boot;', '1:2GB:3GB:1GB:free;'],
      null,
    );
    expect(plain(found)).toMatchObject({
      info: { disk: '/dev/vda', 'partition table': 'gpt', 'disk flags': '' },
      partitions: { 1: { number: '1', start: '2GB', end: '3GB', size: '1GB' } },
    });
    expect(() => parseParted(['nonsense'], null)).toThrow('Problem encountered');
  });
});

describe('selinux', () => {
  it('lists booleans and modules', () => {
    expect(
      plain(
        parseBooleans('SELinux boolean  State  Default Description\n\nvirt_use_usb   (on   ,  off)  Allow virt usb\n'),
      ),
    ).toEqual({ virt_use_usb: { State: 'on', Default: 'off', Description: 'Allow virt usb' } });
    expect(plain(parseModules('100 mysql pp\n100 zabbix pp disabled\n'))).toEqual({
      mysql: { Enabled: true, Version: null },
      zabbix: { Enabled: false, Version: null },
    });
  });
  it('finds rules for paths and ports', () => {
    const files =
      '/srv/web(/.*)?   all files          system_u:object_r:httpd_sys_content_t:s0 \n/srv directory system_u:object_r:var_t:s0\n';
    expect(plain(findFilePolicy(files, { name: '/srv/web(/.*)?', filetype: 'a' }))).toEqual({
      filespec: '/srv/web(/.*)?',
      filetype: 'all files',
      sel_user: 'system_u',
      sel_role: 'object_r',
      sel_type: 'httpd_sys_content_t',
      sel_level: 's0',
    });
    expect(findFilePolicy(files, { name: '/srv/web(/.*)?', sel_type: 'var_t' })).toBeNull();
    const ports = 'http_port_t  tcp  80, 81, 443\nssh_port_t tcp 22\n';
    expect(findPortPolicy(ports, { sel_type: null, protocol: 'tcp', port: '443' })?.['sel_type']).toBe('http_port_t');
    expect(findPortPolicy(ports, { sel_type: null, protocol: 'udp', port: '443' })).toBeNull();
  });
  it('reports what is relabelled', () => {
    const text = 'Would relabel /srv/web from unconfined_u:object_r:var_t:s0 to unconfined_u:object_r:httpd_t:s0';
    expect(plain(relabelled(text))).toEqual({
      '/srv/web': { old: { sel_type: 'var_t' }, new: { sel_type: 'httpd_t' } },
    });
    expect(relabelled('what')).toBeUndefined();
  });
});

describe('names', () => {
  it('are read from hosts and zones', () => {
    expect([...parseHosts('127.0.0.1 a b\n# x\n127.0.0.1 c\n')]).toEqual([['127.0.0.1', ['a', 'b', 'c']]]);
    const zone =
      '$TTL 1D\nexample.com. IN SOA ns.example.com. root.example.com. (\n 2024 ; serial\n 1H 2D 9W 60 )\nexample.com. IN NS ns.example.com.\nwww 300 IN A 192.0.2.1\n';
    expect(plain(parseZone(zone))).toEqual({
      TTL: '1D',
      ORIGIN: 'example.com.',
      NETWORK: 'IN',
      SOURCE: 'ns.example.com.',
      CONTACT: 'root@example.com.',
      SERIAL: '2024',
      REFRESH: 3600,
      RETRY: 172800,
      EXPIRE: 604800,
      MINTTL: 60,
      NS: ['ns.example.com.'],
      A: { 'www.example.com.': { TARGET: '192.0.2.1', TTL: '300' } },
    });
    expect(['10.0.0.1', '10.0.0.0/8', '::1/64', '10.0.0.0/40', 'x', '::1/x'].map(isAddress)).toEqual([
      ...[true, true, true],
      ...[false, false, false],
    ]);
  });
  it('are read from aliases', () => {
    expect(parseAliases('root: ops # always\n# text\n')).toEqual([
      { alias: 'root', target: 'ops', comment: ' # always' },
      { alias: '', target: '', comment: '# text' },
    ]);
  });
});

describe('rabbitmq', () => {
  it('prints tables and JSON', () => {
    expect(plain(table('Listing users ...\nlarry\t[admin, monitoring]\nmoe\t[]\n...done.\n', tagList))).toEqual({
      larry: ['admin', 'monitoring'],
      moe: [''],
    });
    expect(plain(keyed('[{"vhost":"/","configure":".*","write":"","read":""}]', 'vhost'))).toEqual({
      '/': { configure: '.*', write: '', read: '' },
    });
  });
});

describe('interfaces of Debian', () => {
  it('are written as they were read', () => {
    const text =
      'auto eth0\niface eth0 inet static\n    address 10.0.0.5\n    netmask 24\n    dns-nameservers 10.0.0.1 10.0.0.2\n    up echo a\n    up echo b\n    offload-tso off\n    bond-mode 1\nallow-hotplug eth1\niface eth1 inet6 auto\n';
    const found = parseInterfaces(text);
    expect([...found].map(([name, adapter]) => render(name, adapter)).join('')).toBe(text);
    expect(() => parseInterfaces('iface eth0 inet\n')).toThrow('malformed');
  });
  it('use the options of each family', () => {
    const given = newDict(Object.entries({ proto: 'static', ipaddr: '10.0.0.5', netmask: '24', ipv6proto: 'static' }));
    given['ipv6ipaddr'] = '2001:db8::5';
    expect(
      render('br0', adapterOf('br0', 'bridge', true, Object.assign(given, { ports: ['a', 'b'], stp: true }))),
    ).toBe(
      'auto br0\niface br0 inet static\n    address 10.0.0.5\n    netmask 24\n    bridge_ports a b\n    bridge_stp on\niface br0 inet6 static\n    address 2001:db8::5\n    netmask 24\n    bridge_ports a b\n    bridge_stp on\n',
    );
    expect(() => adapterOf('b', 'bond', true, newDict([['mode', 'x']]))).toThrow('Invalid option -- Interface: b');
  });
});
