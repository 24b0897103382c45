// Grains from samples of other machines, and from this machine.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { type GrainContext, newDict, type PlainDict } from 'halite/sdk';
import { runProgram } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import { canonicalInHosts, hostGrains } from '../shared/network/host-name.ts';
import { deviceTreeGrains, firmwareGrains, parseGpus } from './core/hardware.ts';
import core, { parseKernelParams } from './core/index.ts';
import { localeOf } from './core/locale.ts';
import { gatewayV4, gatewayV6, parseResolv } from './core/network.ts';
import { deriveOs, distributionGrains, parseLsbRelease, parseOsRelease, releaseGrains } from './core/os-release.ts';
import { parseCpuInfo, parseMemInfo } from './core/processor.ts';
import { kindByDetectVirt, kindByDmi, kindByVirtWhat } from './core/virtual.ts';
import disks from './disks.ts';
import processGrain from './process.ts';
import storage, { parseMdstat } from './storage.ts';

function osGrains(release: string, lsb = ''): PlainDict {
  const grains = distributionGrains(parseOsRelease(release), parseLsbRelease(lsb));
  return Object.assign(
    grains,
    releaseGrains(String(grains['os']), String(grains['osfullname']), String(grains['osrelease'])),
  );
}

describe('distributions', () => {
  it('Debian', () => {
    expect(
      osGrains(
        'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n',
      ),
    ).toMatchObject({
      os: 'Debian',
      os_family: 'Debian',
      osfullname: 'Debian GNU/Linux',
      osrelease: '12',
      osrelease_info: [12],
      osmajorrelease: 12,
      osfinger: 'Debian-12',
      oscodename: 'bookworm',
      lsb_distrib_id: 'Debian GNU/Linux',
    });
  });

  it('Ubuntu', () => {
    const release =
      'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nNAME="Ubuntu"\nVERSION_ID="22.04"\nVERSION="22.04.4 LTS (Jammy Jellyfish)"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\n';
    const lsb =
      'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=22.04\nDISTRIB_CODENAME=jammy\nDISTRIB_DESCRIPTION="Ubuntu 22.04.4 LTS"\n';
    expect(osGrains(release, lsb)).toMatchObject({
      os: 'Ubuntu',
      os_family: 'Debian',
      osrelease: '22.04',
      osrelease_info: [22, 4],
      osmajorrelease: 22,
      osfinger: 'Ubuntu-22.04',
      oscodename: 'jammy',
      lsb_distrib_description: 'Ubuntu 22.04.4 LTS',
    });
  });

  it('Rocky', () => {
    expect(
      osGrains(
        'NAME="Rocky Linux"\nVERSION="9.3 (Blue Onyx)"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"\nPRETTY_NAME="Rocky Linux 9.3 (Blue Onyx)"\n',
      ),
    ).toMatchObject({
      os: 'Rocky',
      os_family: 'RedHat',
      osrelease: '9.3',
      osmajorrelease: 9,
      osfinger: 'Rocky Linux-9',
      oscodename: 'Blue Onyx',
    });
  });

  it('openSUSE Leap', () => {
    expect(
      osGrains(
        'NAME="openSUSE Leap"\nVERSION="15.5"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.5"\nPRETTY_NAME="openSUSE Leap 15.5"\nCPE_NAME="cpe:/o:opensuse:leap:15.5"\n',
      ),
    ).toMatchObject({
      os: 'SUSE',
      os_family: 'Suse',
      osfullname: 'Leap',
      osrelease: '15.5',
      osfinger: 'Leap-15',
    });
  });

  it('Fedora, Arch, Alpine', () => {
    expect(
      osGrains(
        'NAME="Fedora Linux"\nVERSION="39 (Server Edition)"\nID=fedora\nVERSION_ID=39\nPRETTY_NAME="Fedora Linux 39 (Server Edition)"\n',
      ),
    ).toMatchObject({ os: 'Fedora', os_family: 'RedHat', osrelease: '39' });
    expect(osGrains('NAME="Arch Linux"\nID=arch\nPRETTY_NAME="Arch Linux"\n')).toMatchObject({
      os: 'Arch',
      os_family: 'Arch',
    });
    expect(
      osGrains('NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.19.1\nPRETTY_NAME="Alpine Linux v3.19"\n'),
    ).toMatchObject({ os: 'Alpine', os_family: 'Alpine', osrelease_info: [3, 19, 1] });
  });

  it('names Salt uses', () => {
    expect(
      ['Red Hat Enterprise Linux', 'Oracle Linux Server', 'Linux Mint', 'Raspbian GNU/Linux', 'CentOS Linux'].map(
        (name) => deriveOs(name),
      ),
    ).toEqual(['RedHat', 'OEL', 'Mint', 'Raspbian', 'CentOS']);
    expect(deriveOs('Pop!_OS', 'pop')).toBe('Pop');
  });

  it('reads quoted and escaped values', () => {
    expect(parseOsRelease('A="x \\"y\\" \\$z"\nB=\'q\'\nnot a line\nC=plain\n')).toMatchObject({
      A: 'x "y" $z',
      B: 'q',
      C: 'plain',
      NAME: 'Linux',
    });
  });
});

describe('hardware', () => {
  it('reads processors of several kinds', () => {
    expect(
      parseCpuInfo(
        'processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nflags\t: a b\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\n',
      ),
    ).toEqual({ num_cpus: 2, cpu_model: 'AMD EPYC', cpu_flags: ['a', 'b'] });
    expect(parseCpuInfo('Processor : ARMv6-compatible processor rev 7 (v6l)\nFeatures : swp half\n')).toEqual({
      num_cpus: 1,
      cpu_model: 'ARMv6',
      cpu_flags: ['swp', 'half'],
    });
    expect(parseCpuInfo('# processors    : 2\nvendor_id : IBM/S390\n')).toMatchObject({
      num_cpus: 2,
      cpu_model: 'IBM/S390',
    });
    expect(parseMemInfo('MemTotal:       24683600 kB\nSwapTotal: 2097148 kB\n')).toEqual({
      mem_total: 24105,
      swap_total: 2047,
    });
  });

  it('reads firmware and device tree', () => {
    const folder = mkdtempSync(join(os.tmpdir(), 'halite-dmi-'));
    try {
      writeFileSync(join(folder, 'product_uuid'), 'ABC-1\n');
      writeFileSync(join(folder, 'sys_vendor'), 'Acme\n');
      expect(firmwareGrains(folder)).toEqual({ manufacturer: 'Acme', uuid: 'abc-1' });
      mkdirSync(join(folder, 'tree'));
      writeFileSync(join(folder, 'tree/model'), 'Raspberry,Pi 4\0');
      writeFileSync(join(folder, 'tree/serial-number'), '123\0');
      expect(deviceTreeGrains(join(folder, 'tree'))).toEqual({
        manufacturer: 'Raspberry',
        productname: 'Pi 4',
        serialnumber: '123',
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reads graphics cards', () => {
    const pci =
      'Slot:\t00:02.0\nClass:\tVGA compatible controller\nVendor:\tIntel Corporation\nDevice:\tHD Graphics\n\nSlot:\t01\nClass:\tEthernet controller\nVendor:\tIntel\nDevice:\tx\n\nClass:\t3D controller\nVendor:\tFoo\nDevice:\ty\n';
    expect(parseGpus(pci)).toEqual([
      { vendor: 'intel', model: 'HD Graphics' },
      { vendor: 'unknown', model: 'y' },
    ]);
  });

  it('knows virtual machines', () => {
    expect([
      kindByDetectVirt('kvm'),
      kindByDetectVirt('docker'),
      kindByDetectVirt('microsoft'),
      kindByDetectVirt('none'),
    ]).toEqual([{ virtual: 'kvm' }, { virtual: 'container', subtype: 'Docker' }, { virtual: 'VirtualPC' }, undefined]);
    expect(kindByVirtWhat('redhat\nhyperv\n')).toEqual({ virtual: 'HyperV' });
    expect(kindByDmi('QEMU', 'Standard PC', 'SeaBIOS')).toEqual({ virtual: 'kvm' });
    expect(kindByDmi('Dell Inc.', 'PowerEdge', 'Dell')).toBeUndefined();
  });

  it('reads RAID devices', () => {
    expect(
      parseMdstat(
        'Personalities : [raid1]\nmd1 : active raid1 sda1\nmd0 : active raid1\n      100 blocks\n\nunused devices: <none>\n',
      ),
    ).toEqual(['md0', 'md1']);
  });
});

describe('network', () => {
  it('finds gateways', () => {
    const header = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
    expect(gatewayV4(`${header}eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n`)).toBe('192.0.2.1');
    expect(gatewayV4(`${header}tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n`)).toBe(true);
    expect(gatewayV4(header)).toBe(false);
    const zero = '0'.repeat(32);
    expect(
      gatewayV6(
        `${zero} 00 ${zero} 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth0\n`,
      ),
    ).toBe('fd00::1');
    expect(gatewayV6(`${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo\n`)).toBe(false);
  });

  it('reads resolver settings', () => {
    expect(
      parseResolv(
        '# x\nnameserver 10.0.0.1 # first\nnameserver 2001:db8::1\nnameserver bogus\nsearch a.b c.d\noptions edns0 trust-ad\nsortlist 130.155.160.0/255.255.240.0 130.155.0.0\n',
      ),
    ).toEqual({
      nameservers: ['10.0.0.1', '2001:db8::1'],
      ip4_nameservers: ['10.0.0.1'],
      ip6_nameservers: ['2001:db8::1'],
      sortlist: ['130.155.160.0/255.255.240.0', '130.155.0.0/255.255.0.0'],
      domain: '',
      search: ['a.b', 'c.d'],
      options: ['edns0'],
    });
  });

  it('finds the canonical name', () => {
    expect(canonicalInHosts('127.0.0.1 localhost\n127.0.1.1 web1.example.org web1 # own\n', 'web1')).toBe(
      'web1.example.org',
    );
    expect(canonicalInHosts('127.0.0.1 localhost\n', 'web1')).toBeUndefined();
    expect(hostGrains('web1.example.org')).toMatchObject({
      fqdn: 'web1.example.org',
      host: 'web1',
      domain: 'example.org',
    });
  });
});

describe('the rest', () => {
  it('reads boot parameters', () => {
    expect(parseKernelParams('quiet root=/dev/sda1 a=b=c "x=y z"\n')).toEqual([
      ['quiet', null],
      ['root', '/dev/sda1'],
      ['a', null],
      ['x', 'y z'],
    ]);
  });

  it('reads the locale', () => {
    expect(localeOf({ LC_ALL: 'C' })).toEqual([null, null]);
    expect(localeOf({ LANG: 'C.UTF-8' })).toEqual(['en_US', 'UTF-8']);
    expect(localeOf({})).toEqual(['en_US', 'UTF-8']);
  });
});

describe('this machine', () => {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const ctx: GrainContext = { opts: { id: 'web1', master: 'salt', enable_fqdns_grains: false }, log, exec: runProgram };

  it('describes itself correctly and quickly', async () => {
    const grains = (await core.collect(ctx, newDict())) as PlainDict;
    const uname = (flag: string): string => execFileSync('uname', [flag], { encoding: 'utf8' }).trim();
    expect(grains).toMatchObject({
      id: 'web1',
      master: 'salt',
      kernel: uname('-s'),
      kernelrelease: uname('-r'),
      cpuarch: uname('-m'),
      nodename: os.hostname(),
      num_cpus: os.cpus().length,
      saltversioninfo: [3006, 27],
      nodeversion: process.versions.node,
    });
    expect(grains['ipv4']).toContain('127.0.0.1');
    for (const key of [
      'os',
      'os_family',
      'osarch',
      'osfinger',
      'mem_total',
      'virtual',
      'systempath',
      'haliteversion',
      'locale_info',
      'dns',
      'ip_interfaces',
      'server_id',
    ]) {
      expect(grains, key).toHaveProperty(key);
    }
    const start = performance.now();
    await core.collect(ctx, newDict());
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it('knows its disks, its storage and its own process', async () => {
    expect(await disks.collect(ctx, newDict())).toMatchObject({ disks: expect.any(Array), ssds: expect.any(Array) });
    expect(await storage.collect(ctx, newDict())).toHaveProperty('zfs_support');
    const own = (await processGrain.collect(ctx, newDict())) as PlainDict;
    expect(own).toMatchObject({ pid: process.pid, uid: process.getuid?.(), username: os.userInfo().username });
  });

  it('keeps the server id of Salt', async () => {
    // sha256 of the id modulo 2^31, as Salt computes it.
    expect(await core.collect({ ...ctx, opts: { ...ctx.opts, id: 'testminion' } }, newDict())).toMatchObject({
      server_id: 470207069,
    });
  });
});
