// Options of interfaces as operators write them, and as /etc/network/interfaces has them.
import { newDict, type PlainDict, pyStr, pythonError, type Value } from 'halite/sdk';
import { parseIp, parsePrefix } from 'halite/sdk/net';

export type Family = 'inet' | 'inet6';
export const families: readonly Family[] = ['inet', 'inet6'];

/** Name that operators write → name in the file. */
const renamed: Readonly<Record<string, string>> = {
  dns: 'dns-nameservers',
  search: 'dns-search',
  hwaddr: 'hwaddress',
  ipaddr: 'address',
  ipaddrs: 'addresses',
};

/** The order of options in the file. */
const written =
  `autoconf privext dhcp hwaddress vlan_raw_device address addresses netmask metric gateway pointopoint scope hostname
  media leasehours leasetime vendor client bootfile server mode endpoint dstaddr local ttl mtu provider unit options
  master dns_nameservers dns_search wireless_mode wpa_ap_scan wpa_conf wpa_driver wpa_group wpa_key_mgmt wpa_pairwise
  wpa_proto wpa_psk wpa_roam wpa_ssid accept_ra up_cmds down_cmds pre_up_cmds post_up_cmds pre_down_cmds
  post_down_cmds`.split(/\s+/);

const inFile = (option: string): string =>
  ({ addresses: 'address', master: 'bond-master', accept_ra: 'accept_ra' })[option] ??
  option.replace(/_cmds$/, '').replaceAll('_', '-');

export const isYes = (value: Value): boolean => ['yes', 'on', 'true', '1'].includes(pyStr(value).toLowerCase());
export const isNo = (value: Value): boolean => ['no', 'off', 'false', '0'].includes(pyStr(value).toLowerCase());

/** Salt raises an AttributeError here: the state fails with its text. */
export const settingError = (message: string): Error => pythonError('AttributeError', message);
const wrong = (iface: string, option: string, expected: readonly string[]): Error =>
  settingError(`Invalid option -- Interface: ${iface}, Option: ${option}, Expected: [${expected.join('|')}]`);

const version = (value: Value): number | undefined => parseIp(pyStr(value).split('/')[0] ?? '')?.version;
const isNumber = (value: Value): boolean => /^\d+$/.test(pyStr(value));
const isMac = (value: Value): boolean => /^[0-9a-f]{1,2}([-:])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}$/i.test(pyStr(value));

const protocols: Readonly<Record<Family, readonly string[]>> = {
  inet: ['bootp', 'dhcp', 'static', 'manual', 'loopback', 'ppp'],
  inet6: ['auto', 'loopback', 'static', 'manual', 'dhcp', 'v4tunnel', '6to4'],
};
const onlyInet = ['broadcast', 'metric', 'pointopoint', 'hostname', 'leasehours', 'leasetime', 'vendor', 'client'];
const onlyInet6 = ['privext', 'dhcp', 'media', 'accept_ra', 'autoconf'];
const anywhere =
  `addresses mtu scope mode endpoint local ttl dns-nameservers dns-search vlan-raw-device provider unit options bootfile
  server dstaddr wireless-mode wireless-essid wpa-ap-scan wpa-conf wpa-driver wpa-group wpa-key-mgmt wpa-pairwise
  wpa-proto wpa-psk wpa-roam wpa-ssid`.split(/\s+/);

/** Whether an option is valid for an address family; others are omitted there. */
export function fits(option: string, value: Value, family: Family): boolean {
  const own = family === 'inet' ? 4 : 6;
  switch (option) {
    case 'proto':
      return protocols[family].includes(pyStr(value));
    case 'address':
    case 'gateway':
      return version(value) === own;
    case 'netmask':
      return parsePrefix(pyStr(value), own) !== undefined;
    case 'hwaddress':
      return isMac(value);
    case 'mtu':
    case 'metric':
    case 'ttl':
      return isNumber(value) && (option !== 'metric' || family === 'inet');
  }
  if (onlyInet.includes(option)) return family === 'inet';
  if (onlyInet6.includes(option)) return family === 'inet6';
  return anywhere.includes(option);
}

const ethtoolNames: Readonly<Record<string, string>> = {
  speed: 'link-speed',
  duplex: 'link-duplex',
  autoneg: 'ethernet-autoneg',
  ...Object.fromEntries(['rx', 'tx', 'sg', 'tso', 'ufo', 'gso', 'gro', 'lro'].map((name) => [name, `offload-${name}`])),
};
export const isEthtool = (option: string): boolean => Object.values(ethtoolNames).includes(option);

export function ethtool(opts: PlainDict, iface: string): PlainDict {
  const found: [string, Value][] = [];
  for (const [option, name] of Object.entries(ethtoolNames)) {
    const value = opts[option];
    if (value === undefined) continue;
    if (option === 'speed' || option === 'duplex') {
      const valid = option === 'speed' ? ['10', '100', '1000', '10000'] : ['full', 'half'];
      if (!valid.includes(pyStr(value))) throw wrong(iface, option === 'speed' ? pyStr(value) : option, valid);
      found.push([name, pyStr(value)]);
    } else if (isYes(value)) found.push([name, 'on']);
    else if (isNo(value)) found.push([name, 'off']);
    else throw wrong(iface, option, ['yes', 'on', 'true', '1', 'True', 'no', 'off', 'false', '0', 'False']);
  }
  return newDict(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const bridgeOptions = 'ageing bridgeprio fd gcint hello hw maxage maxwait pathcost portprio ports stp waitport'.split(
  ' ',
);

export function bridging(opts: PlainDict): PlainDict {
  const text = (option: string, value: Value): string => {
    if (option === 'stp') return isYes(value) ? 'on' : 'off';
    return Array.isArray(value) ? value.map(pyStr).join(' ') : pyStr(value);
  };
  return newDict(bridgeOptions.filter((name) => name in opts).map((name) => [name, text(name, opts[name] as Value)]));
}

const modes = ['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'];
const bondOptions =
  'ad_select arp_interval arp_ip_target downdelay lacp_rate max_bonds miimon primary tx_queues updelay use_carrier xmit_hash_policy'.split(
    ' ',
  );

/** Options of a bond, with the mode as a number. */
export function bonding(opts: PlainDict, iface: string): PlainDict {
  const asked = pyStr(opts['mode'] ?? '');
  const mode = modes.includes(asked) ? String(modes.indexOf(asked)) : asked;
  if (!/^[0-6]$/.test(mode)) throw wrong(iface, 'mode', ['0', '1', '2', '3', '4', '5', '6', ...modes]);
  const text = (value: Value): string => (Array.isArray(value) ? value.map(pyStr).join(',') : pyStr(value));
  const flag = (name: string, value: Value): string =>
    name === 'use_carrier' ? (isYes(value) ? '1' : isNo(value) ? '0' : text(value)) : text(value);
  const given = bondOptions
    .filter((name) => name in opts)
    .map((name) => [name, flag(name, opts[name] as Value)] as const);
  const monitored = given.some(([name]) => name === 'miimon' || name === 'arp_interval');
  return newDict([['mode', mode], ...given, ...(monitored ? [] : [['miimon', '100'] as const])]);
}

/** The name of an option in the file. */
export const fileName = (option: string): string => renamed[option] ?? option;

/** The lines of an interface's block for one family. */
export function blockLines(block: PlainDict): string[] {
  const lines: string[] = [];
  for (const option of written) {
    const value = block[option];
    if (value === undefined || value === null || value === '' || value === false) continue;
    const name = inFile(option);
    if (!Array.isArray(value)) lines.push(`    ${name} ${pyStr(value)}`);
    else if (option.startsWith('dns_')) lines.push(`    ${name} ${value.map(pyStr).join(' ')}`);
    else lines.push(...value.map((item) => `    ${name} ${pyStr(item)}`));
  }
  const further = (key: string, prefix: string): void => {
    const map = (block[key] ?? newDict()) as PlainDict;
    for (const name of Object.keys(map).sort()) {
      const value = map[name] as Value;
      lines.push(`    ${prefix}${name} ${Array.isArray(value) ? value.map(pyStr).join(' ') : pyStr(value)}`);
    }
  };
  further('ethtool', '');
  further('bonding', 'bond-');
  further('bridging', 'bridge_');
  return lines;
}
