// IP addresses and networks as numbers: the parts of Python's `ipaddress` that Salt's functions show.

export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
}
export interface IpNetwork {
  readonly version: 4 | 6;
  readonly base: bigint;
  readonly prefix: number;
}

const widthOf = (version: 4 | 6): number => (version === 4 ? 32 : 128);

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    // Leading zeros are refused: some readers take them as octal.
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const v4 = index === parts.length - 1 ? parseV4(part) : undefined;
      if (v4 === undefined) return undefined;
      groups.push(Number(v4 >> 16n), Number(v4 & 0xffffn));
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

function parseV6(text: string): bigint | undefined {
  const bare = text.split('%', 1)[0] ?? '';
  const halves = bare.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '');
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '') : [];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail].reduce((sum, g) => (sum << 16n) | BigInt(g), 0n);
}

/** An address from text, or undefined when it is none. */
export function parseIp(text: string): IpAddress | undefined {
  const v4 = parseV4(text);
  if (v4 !== undefined) return { version: 4, value: v4 };
  if (!text.includes(':')) return undefined;
  const v6 = parseV6(text);
  return v6 === undefined ? undefined : { version: 6, value: v6 };
}

function formatV6(value: bigint): string {
  const groups: string[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(((value >> shift) & 0xffffn).toString(16));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
}

export function formatIp(address: IpAddress): string {
  if (address.version === 6) return formatV6(address.value);
  const v = Number(address.value);
  return [(v >>> 24) & 255, (v >>> 16) & 255, (v >>> 8) & 255, v & 255].join('.');
}

function maskOf(version: 4 | 6, prefix: number): bigint {
  const width = widthOf(version);
  return ((1n << BigInt(prefix)) - 1n) << BigInt(width - prefix);
}

/** A prefix length from `24` or `255.255.255.0` (or a host mask, as Python accepts). */
export function parsePrefix(text: string, version: 4 | 6): number | undefined {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= widthOf(version) ? Number(text) : undefined;
  const mask = version === 4 ? parseV4(text) : undefined;
  if (mask === undefined) return undefined;
  for (let prefix = 0; prefix <= 32; prefix++) {
    const wanted = maskOf(4, prefix);
    if (mask === wanted || (mask === (wanted ^ 0xffffffffn) && mask !== 0n)) return prefix;
  }
  return undefined;
}

/** A network from `10.0.0.0/8`, host bits cleared; undefined when it is none, or when `strict` and host bits are set. */
export function parseNetwork(text: string, strict = false): IpNetwork | undefined {
  const parts = text.split('/');
  if (parts.length > 2) return undefined;
  const address = parseIp(parts[0] ?? '');
  if (!address) return undefined;
  const prefix = parts[1] === undefined ? widthOf(address.version) : parsePrefix(parts[1], address.version);
  if (prefix === undefined) return undefined;
  const base = address.value & maskOf(address.version, prefix);
  if (strict && base !== address.value) return undefined;
  return { version: address.version, base, prefix };
}

export function formatNetwork(network: IpNetwork): string {
  return `${formatIp({ version: network.version, value: network.base })}/${network.prefix}`;
}

export function netmaskText(version: 4 | 6, prefix: number): string {
  return formatIp({ version, value: maskOf(version, prefix) });
}

export function broadcastText(network: IpNetwork): string {
  const hostBits = (1n << BigInt(widthOf(network.version) - network.prefix)) - 1n;
  return formatIp({ version: network.version, value: network.base | hostBits });
}

export function inNetwork(address: IpAddress, network: IpNetwork): boolean {
  if (address.version !== network.version) return false;
  return (address.value & maskOf(network.version, network.prefix)) === network.base;
}

export function compareIp(a: IpAddress, b: IpAddress): number {
  if (a.version !== b.version) return a.version - b.version;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

export function compareNetwork(a: IpNetwork, b: IpNetwork): number {
  const byBase = compareIp({ version: a.version, value: a.base }, { version: b.version, value: b.base });
  return byBase === 0 ? a.prefix - b.prefix : byBase;
}

const net = (text: string): IpNetwork => {
  const parsed = parseNetwork(text);
  if (!parsed) throw new Error(`not a network: ${text}`);
  return parsed;
};
const loopbacks = [net('127.0.0.0/8'), net('::1/128')];
// The lists of Python's `ipaddress` (IANA special-purpose registries).
const privates = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/29',
  '192.0.0.170/31',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
  '255.255.255.255/32',
  '::1/128',
  '::/128',
  '::ffff:0:0/96',
  '100::/64',
  '2001::/23',
  '2001:2::/48',
  '2001:db8::/32',
  '2001:10::/28',
  'fc00::/7',
  'fe80::/10',
].map(net);

export const isLoopback = (address: IpAddress): boolean => loopbacks.some((network) => inNetwork(address, network));
export const isPrivate = (address: IpAddress): boolean => privates.some((network) => inNetwork(address, network));
