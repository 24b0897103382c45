// The grains of simulated minions: what targets of real fleets use, different from minion to minion in a fixed way.
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { saltCompatVersion } from '../base/util/version.ts';

const systems = ['Debian', 'Ubuntu', 'Debian', 'RedHat', 'SLES'] as const;
const roles = ['web', 'db', 'cache', 'worker'] as const;
const places = ['north', 'south', 'east', 'west', 'centre'] as const;
const families: Readonly<Record<string, string>> = {
  Debian: 'Debian',
  Ubuntu: 'Debian',
  RedHat: 'RedHat',
  SLES: 'Suse',
};

const common: readonly (readonly [string, Value])[] = Object.entries({
  ...{ kernel: 'Linux', kernelrelease: '6.1.0-18-amd64', cpuarch: 'x86_64', osarch: 'amd64', osmajorrelease: 12 },
  ...{ num_cpus: 4, mem_total: 16_014, virtual: 'kvm', init: 'systemd', shell: '/bin/sh', ipv6: ['::1'] },
  ...{ saltversion: saltCompatVersion, pythonversion: [3, 11, 2, 'final', 0], domain: 'example.test' },
  ...{ locale_info: newDict([['defaultlanguage', 'en_US']]), simulated: true },
});

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

export function grainsOf(id: string, index: number): PlainDict {
  const os = pick(systems, index);
  const role = pick(roles, index);
  const address = `10.${1 + ((index >> 16) & 127)}.${(index >> 8) & 255}.${index & 255}`;
  const own: Record<string, Value> = {
    ...{ id, host: id, nodename: id, localhost: id, fqdn: `${id}.example.test`, os, os_family: families[os] ?? os },
    ...{ role, roles: [role, 'all'], place: pick(places, index), ipv4: ['127.0.0.1', address], fqdn_ip4: [address] },
    ...{
      ip_interfaces: newDict([
        ['lo', ['127.0.0.1']],
        ['eth0', [address]],
      ]),
      number: index,
    },
  };
  return newDict([...common, ...Object.entries(own)]);
}
