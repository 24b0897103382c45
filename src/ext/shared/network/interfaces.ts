// Network interfaces in the shape of `network.interfaces`: parsed from `ip`, or from what Node knows.
import { networkInterfaces } from 'node:os';
import { type Dict, dictOf, newDict, type PlainDict, type Value } from 'halite/sdk';
import { listDir, readTrimmed } from 'halite/sdk/fs';
import { compareIp, formatIp, type IpAddress, ipKinds, netmaskText, parseIp } from 'halite/sdk/net';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

export interface RunsPrograms {
  exec(file: string, args: readonly string[]): Promise<{ retcode: number; stdout: string }>;
}
export type Interfaces = Map<string, PlainDict>;

function columnAfter(columns: string[], name: string): string | null {
  const at = columns.indexOf(name);
  return at < 0 ? null : (columns[at + 1] ?? null);
}

function push(data: PlainDict, key: string, entry: PlainDict): void {
  const list = data[key];
  if (Array.isArray(list)) list.push(entry);
  else data[key] = [entry];
}

function addAddress(data: PlainDict, columns: string[]): void {
  const [type, value = ''] = columns;
  const [address = '', prefix = '32'] = value.split('/');
  const entry = newDict();
  const secondary = columns.includes('secondary');
  if (secondary) entry['type'] = type ?? '';
  entry['address'] = address;
  if (type === 'inet') {
    entry['netmask'] = netmaskText(4, Number(prefix));
    entry['broadcast'] = columnAfter(columns, 'brd');
    entry['label'] = columns.at(-1) ?? '';
  } else {
    entry['prefixlen'] = prefix;
    entry['scope'] = columnAfter(columns, 'scope');
  }
  push(data, secondary ? 'secondary' : (type as string), entry);
}

/** Reads the output of `ip addr show`. */
export function parseIpAddr(output: string): Interfaces {
  const found: Interfaces = new Map();
  let data: PlainDict | undefined;
  for (const line of lines(output)) {
    const header = /^\d+:\s+([\w.-]+)(?:@([\w.-]+))?:\s+<(.+)>/.exec(line);
    if (header) {
      data = newDict([['up', (header[3] ?? '').split(',').includes('UP')]]);
      if (header[2]) data['parent'] = header[2];
      found.set(header[1] as string, data);
      continue;
    }
    if (/^\d+:/.test(line)) data = undefined; // A name that Salt's pattern does not match is omitted.
    const columns = words(line);
    if (!data || columns.length < 2) continue;
    const type = columns[0] as string;
    if (type === 'inet' || type === 'inet6') addAddress(data, columns);
    else if (type.startsWith('link')) data['hwaddr'] = columns[1] as string;
  }
  return found;
}

function fromNode(): Interfaces {
  const found: Interfaces = new Map();
  const known = networkInterfaces();
  const names = listDir('/sys/class/net');
  const index = (name: string): number => Number(readTrimmed(`/sys/class/net/${name}/ifindex`) ?? 0);
  for (const name of names.sort((a, b) => index(a) - index(b))) {
    const flags = Number(readTrimmed(`/sys/class/net/${name}/flags`) ?? 0);
    const data = newDict([['up', (flags & 1) === 1]]);
    const mac = readTrimmed(`/sys/class/net/${name}/address`);
    if (mac) data['hwaddr'] = mac;
    const labels = Object.keys(known).filter((label) => label === name || label.startsWith(`${name}:`));
    for (const entry of labels.flatMap((label) => known[label] ?? [])) {
      const prefix = entry.cidr?.split('/')[1] ?? '32';
      if (entry.family === 'IPv4') addAddress(data, ['inet', `${entry.address}/${prefix}`, name]);
      else addAddress(data, ['inet6', `${entry.address}/${prefix}`, 'scope', entry.scopeid ? 'link' : 'global']);
    }
    found.set(name, data);
  }
  return found;
}

/** True when Node's list is complete: it omits interfaces that are down, without carrier or without addresses. */
function nodeKnowsAll(): boolean {
  const known = networkInterfaces();
  return listDir('/sys/class/net').every((name) => known[name]?.some((entry) => entry.family === 'IPv4'));
}

/**
 * All interfaces with their addresses, in the kernel's order.
 * `addressesOnly` allows the answer without a child process when labels and broadcast addresses do not matter.
 */
export async function readInterfaces(host: RunsPrograms, addressesOnly = false): Promise<Interfaces> {
  if (addressesOnly && nodeKnowsAll()) return fromNode();
  const ip = which('ip');
  if (!ip) return fromNode();
  const { retcode, stdout } = await host.exec(ip, ['addr', 'show']);
  return retcode === 0 ? parseIpAddr(stdout) : fromNode();
}

export const interfacesValue = (interfaces: Interfaces): Dict => dictOf([...interfaces]);

/** The address entries of one family, secondary ones after the others. */
export function entriesOf(data: PlainDict, family: 'inet' | 'inet6'): PlainDict[] {
  const own = Array.isArray(data[family]) ? (data[family] as PlainDict[]) : [];
  const secondary = Array.isArray(data['secondary']) ? (data['secondary'] as PlainDict[]) : [];
  return [...own, ...secondary.filter((entry) => entry['type'] === family)];
}

/** Sorted, distinct addresses of one family. */
export function addressesOf(interfaces: Interfaces, family: 'inet' | 'inet6', includeLoopback: boolean): string[] {
  const found = new Map<string, IpAddress>();
  for (const data of interfaces.values()) {
    for (const entry of entriesOf(data, family)) {
      const address = parseIp(String(entry['address']));
      if (address && (includeLoopback || !ipKinds.loopback(address))) found.set(formatIp(address), address);
    }
  }
  return [...found].sort((a, b) => compareIp(a[1], b[1])).map(([text]) => text);
}

/** Interface name → list of addresses, for the `ip*_interfaces` grains. */
export function addressMap(interfaces: Interfaces, families: readonly ('inet' | 'inet6')[]): Dict {
  const entries: [Value, Value][] = [];
  for (const [name, data] of interfaces) {
    const own = families.flatMap((family) => (Array.isArray(data[family]) ? (data[family] as PlainDict[]) : []));
    const secondary = Array.isArray(data['secondary']) ? (data['secondary'] as PlainDict[]) : [];
    const wanted = [
      ...own,
      ...secondary.filter((entry) => (families as readonly Value[]).includes(entry['type'] ?? '')),
    ];
    entries.push([name, wanted.map((entry) => entry['address'] ?? '')]);
  }
  return dictOf(entries);
}
