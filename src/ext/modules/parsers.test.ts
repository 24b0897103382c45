// Output of tools that are not on every machine, read from samples.

import { newDict } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { parseSource, sameSource, sourceLine } from '../shared/apt/repos.ts';
import { changes, parsePackages, parseSelections } from './aptpkg/dpkg.ts';
import { packagesOf } from './aptpkg/install.ts';
import { normalizeName, splitArchitecture } from './aptpkg/names.ts';
import { parseShow as parseAptShow } from './aptpkg/upgrades.ts';
import { compareVersions, fitsVersion, newestFitting } from './aptpkg/versions.ts';
import { parseBlkid, parseDf, parseIostat, parseSmart } from './disk.ts';
import { parseRing, parseTraceroute } from './network/index.ts';
import { parseNetstatRoutes, parseRoutes4, parseRoutes6 } from './network/routes.ts';
import { parseNetstat, parseSs, sanitizeHost } from './network/sockets.ts';
import { addressFromHex, number } from './status/proc.ts';
import { parseShow } from './systemd_service/index.ts';
import { shortName, unitName } from './systemd_service/units.ts';

describe('versions of Debian packages', () => {
  const ascending = [
    '0~~',
    '0~',
    '0',
    '0+',
    '1.0~rc1-1',
    '1.0~rc1-2',
    '1.0',
    '1.0-1',
    '1.0-1ubuntu1',
    '1.0.1',
    '1.10',
    '1:0.1',
    '2:0',
  ];
  it('are ordered as dpkg orders them', () => {
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) expect([a, b, compareVersions(a, b)]).toEqual([a, b, Math.sign(i - j)]);
    }
  });

  it('are compared with conditions', () => {
    expect(fitsVersion('1.2', '>=1.0')).toBe(true);
    expect(fitsVersion('1:1.2', '1.2', true)).toBe(true);
    expect(fitsVersion('1.2', '!=1.2')).toBe(false);
    expect(newestFitting('>1,<3', ['1', '2', '2.5', '3'], false)).toBe('2.5');
    expect(newestFitting('>9', ['1'], false)).toBeUndefined();
  });
});

describe('dpkg and apt', () => {
  it('reads packages by state', () => {
    const grains = newDict([
      ['cpuarch', 'x86_64'],
      ['osarch', 'amd64'],
    ]);
    const found = parsePackages(
      'install ok installed bash 5.2 amd64\nhold ok installed zsh 5.9 amd64\ndeinstall ok config-files old 1 all\ninstall ok installed libc6 2.36 i386\nbroken\n',
      grains,
    );
    expect([...found.installed]).toEqual([
      ['bash', ['5.2']],
      ['zsh', ['5.9']],
      ['libc6:i386', ['2.36']],
    ]);
    expect([...found.removed.keys()]).toEqual(['old']);
  });

  it('reports what changed', () => {
    expect(changes({ a: '1', b: '1' }, { b: '2', c: '1' })).toEqual({
      a: { old: '1', new: '' },
      b: { old: '1', new: '2' },
      c: { old: '', new: '1' },
    });
  });

  it('reads names, lists and selections', () => {
    expect(normalizeName('zsh:amd64', { osarch: 'amd64' })).toBe('zsh');
    expect(splitArchitecture('zsh:i386')).toEqual({ name: 'zsh', arch: 'i386' });
    expect([...packagesOf(['a', newDict([['b', '1']])], (name) => name)]).toEqual([
      ['a', null],
      ['b', '1'],
    ]);
    expect(() => packagesOf(['a', 'a'], (name) => name)).toThrow('contains duplicated packages names');
    expect(parseSelections('a\tinstall\nb hold\nc\tinstall\n')).toEqual(
      new Map([
        ['install', ['a', 'c']],
        ['hold', ['b']],
      ]),
    );
  });

  it('reads records of apt-cache', () => {
    expect(
      parseAptShow('Package: a\nVersion: 1\nSection: x\n\nPackage: a\nVersion: 2\nSize: 5\n', ['section']),
    ).toEqual({
      a: { '1': { Section: 'x' }, '2': {} },
    });
  });

  it('reads, compares and writes sources', () => {
    const source = parseSource(
      '# deb [arch=amd64,arm64 signed-by=/k.gpg] http://x/debian/ bookworm main contrib # why',
      '/f',
    );
    expect(source).toMatchObject({
      disabled: true,
      uri: 'http://x/debian/',
      dist: 'bookworm',
      comps: ['main', 'contrib'],
      architectures: ['amd64', 'arm64'],
      signedby: '/k.gpg',
    });
    expect(parseSource('just a comment', '/f')).toBeUndefined();
    const wanted = parseSource('deb http://x/debian bookworm main', '')!;
    expect(sameSource(wanted, [source!])).toBe(source);
    expect(sourceLine(source!)).toBe(
      '# deb [arch=amd64,arm64 signed-by=/k.gpg] http://x/debian/ bookworm main contrib # why',
    );
  });
});

describe('disks', () => {
  it('reads df with blanks in names', () => {
    const rows = parseDf(
      'Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda1 100 50 50 50% /\nmap auto home 0 0 0 100% /home\n',
    );
    expect(rows.map((row) => [row[0], row[5]])).toEqual([
      ['/dev/sda1', '/'],
      ['map auto home', '/home'],
    ]);
  });

  it('reads blkid, smartctl and iostat', () => {
    expect(parseBlkid('/dev/sda1: UUID="a-b" TYPE="ext4" PARTLABEL="my disk"\n')).toEqual({
      '/dev/sda1': { UUID: 'a-b', TYPE: 'ext4', PARTLABEL: 'my disk' },
    });
    const smart =
      'x\nID# ATTRIBUTE_NAME FLAG VALUE RAW_VALUE\n  5 Reallocated 0x0033 100 0\n194 Temperature 0x0022 067 33 (Min/Max 20/45)\n\n';
    expect(parseSmart(smart, null, null)).toEqual(
      new Map([
        [5, { attribute_name: 'Reallocated', flag: '0x0033', value: 100, raw_value: 0 }],
        [194, { attribute_name: 'Temperature', flag: '0x0022', value: 67, raw_value: '33 (Min/Max 20/45)' }],
      ] as never),
    );
    expect(
      parseIostat('avg-cpu: %user %idle\n 1.00 99.00\n\nDevice r/s w/s\nsda 1.0 2.0\n\nDevice r/s w/s\nsda 2.0 2.5\n'),
    ).toMatchObject({ sda: { 'r/s': 1.5, 'w/s': 2.25 } });
  });
});

describe('network', () => {
  it('reads routes of ip', () => {
    expect(
      parseRoutes4(
        'default via 10.0.0.1 dev eth0 proto dhcp\n10.0.0.0/24 dev eth0 scope link\nunreachable 1.2.3.0/24\n',
      ),
    ).toEqual([
      {
        addr_family: 'inet',
        destination: '0.0.0.0',
        gateway: '10.0.0.1',
        netmask: '0.0.0.0',
        flags: 'UG',
        interface: 'eth0',
      },
      {
        addr_family: 'inet',
        destination: '10.0.0.0',
        gateway: '0.0.0.0',
        netmask: '255.255.255.0',
        flags: 'U',
        interface: 'eth0',
      },
    ]);
    expect(
      parseRoutes6(
        'default via fe80::1 dev eth0 metric 1\nlocal ::1 dev lo\nfe80::/64 dev eth0\nmulticast ff00::/8 dev eth0\n',
      ).map((route) => [route['destination'], route['interface']]),
    ).toEqual([
      ['::/0', 'eth0'],
      ['::1/128', 'lo'],
      ['fe80::/64', 'eth0'],
    ]);
  });

  it('reads routes and sockets of netstat and ss', () => {
    const v4 =
      'Kernel\nDestination Gateway Genmask Flags MSS Window irtt Iface\n0.0.0.0 10.0.0.1 0.0.0.0 UG 0 0 0 eth0\n';
    expect(parseNetstatRoutes(v4, '')).toEqual([
      {
        addr_family: 'inet',
        destination: '0.0.0.0',
        gateway: '10.0.0.1',
        netmask: '0.0.0.0',
        flags: 'UG',
        interface: 'eth0',
      },
    ]);
    expect(
      parseNetstat('tcp 0 0 0.0.0.0:22 0.0.0.0:* LISTEN 0 123 1/sshd\nudp 0 0 0.0.0.0:68 0.0.0.0:* 0 55 2/dhcp\n'),
    ).toMatchObject([
      { state: 'LISTEN', program: '1/sshd' },
      { proto: 'udp', inode: '55' },
    ]);
    const ss = 'tcp ESTAB 0 0 10.0.0.2:22 10.0.0.9:5000 users:(("sshd",pid=9,fd=4)) uid:7 ino:99 sk:1 <->\n';
    expect(parseSs(ss)).toMatchObject([{ state: 'ESTABLISHED', user: '7', inode: '99', program: 'sshd' }]);
  });

  it('reads traceroute and ethtool', () => {
    expect(parseTraceroute('traceroute to x\n 1  gw (10.0.0.1)  0.5 ms  0.6 ms  0.7 ms\n 2  * * *\n')).toEqual([
      { count: 1, hostname: 'gw', ip: '10.0.0.1', ms1: 0.5, ms2: 0.6, ms3: 0.7 },
      { count: 2, hostname: '*' },
    ]);
    expect(
      parseRing('Ring parameters for eth0:\nPre-set maximums:\nRX:\t4096\nCurrent hardware settings:\nRX:\t256\n'),
    ).toEqual({ result: true, 'rx-max': 4096, rx: 256 });
    expect(parseRing('no such device')).toEqual({ result: false, comment: 'no such device' });
  });

  it('refuses an option as host', () => {
    expect(sanitizeHost('-c 5; rm -rf /')).toBe('c5rm-rf');
    expect(sanitizeHost('fe80::1')).toBe('fe80::1');
  });

  it('reads addresses of the kernel', () => {
    expect(addressFromHex('0100007F')).toBe('127.0.0.1');
    expect(addressFromHex('0000000000000000FFFF00000100007F')).toBe('127.0.0.1');
    expect(addressFromHex('00000000000000000000000001000000')).toBe('0000:0000:0000:0000:0000:0000:0000:0001');
    expect([number('12'), number('x'), number('1.5')]).toEqual([12, 'x', 1.5]);
  });
});

describe('systemd', () => {
  it('names units', () => {
    expect([unitName('nginx'), unitName('a.timer'), unitName('x@1')]).toEqual([
      'nginx.service',
      'a.timer',
      'x@1.service',
    ]);
    expect([shortName('nginx.service'), shortName('a.timer'), shortName('x.scope'), shortName('x')]).toEqual([
      'nginx',
      'a.timer',
      undefined,
      undefined,
    ]);
  });

  it('reads properties', () => {
    expect(
      parseShow('Id=a.service\nAfter=b.service c.target\nExecStart={ path=/bin/a ; argv[]=/bin/a -x=1 }\nEmpty=\n'),
    ).toEqual({
      Id: 'a.service',
      After: ['b.service', 'c.target'],
      ExecStart: { path: '/bin/a', 'argv[]': '/bin/a -x' },
      Empty: '',
    });
  });
});
