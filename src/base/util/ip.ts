// IP addresses, interfaces and networks as numbers, with the strictness and the text form of Python's ipaddress.

export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
  /** The `eth0` of `fe80::1%eth0`. */
  readonly scope?: string | undefined;
}

export interface IpNetwork {
  readonly version: 4 | 6;
  readonly base: bigint;
  /** Bits of the network part. */
  readonly prefix: number;
}

/** An address together with its network. */
export interface IpInterface {
  readonly address: IpAddress;
  readonly prefix: number;
}

const widthOf = (version: 4 | 6): number => (version === 4 ? 32 : 128);
const hostBits = ({ version, prefix }: IpNetwork): bigint => BigInt(widthOf(version) - prefix);

function parseFour(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    // Leading zeros are refused: some systems read them as octal.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseSix(text: string): bigint | undefined {
  let source = text;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(source);
  if (dotted) {
    const low = parseFour(dotted[2]!);
    if (low === undefined) return undefined;
    source = `${dotted[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  }
  const halves = source.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const [head = [], tail = []] = halves;
  const missing = 8 - head.length - tail.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return undefined;
  let value = 0n;
  for (const group of [...head, ...new Array<string>(missing).fill('0'), ...tail]) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}

/** `ip_address(text)`; undefined for anything else. */
export function parseIp(text: string): IpAddress | undefined {
  const four = parseFour(text);
  if (four !== undefined) return { version: 4, value: four };
  const [bare = '', scope, more] = text.split('%');
  if (more !== undefined || scope === '' || scope?.includes('/')) return undefined;
  const six = parseSix(bare);
  return six === undefined ? undefined : { version: 6, value: six, scope };
}

/** The text form that Python prints. */
export function formatIp({ version, value, scope }: IpAddress): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - at * 16)) & 0xffffn).toString(16));
  return compressed(groups) + (scope === undefined ? '' : `%${scope}`);
}

/** The longest run of two or more zero groups becomes `::`. */
function compressed(groups: readonly string[]): string {
  let best = 1;
  let start = -1;
  for (let at = 0; at < groups.length; at++) {
    let run = 0;
    while (groups[at + run] === '0') run++;
    if (run > best) {
      best = run;
      start = at;
    }
  }
  if (start < 0) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + best).join(':')}`;
}

/** A prefix length from `24` or, for IPv4, from `255.255.255.0` or the host mask `0.0.0.255`. */
export function parsePrefix(text: string, version: 4 | 6): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) <= widthOf(version) ? Number(text) : undefined;
  const mask = version === 4 ? parseFour(text) : undefined;
  if (mask === undefined) return undefined;
  const bits = mask.toString(2).padStart(32, '0');
  if (/^1*0*$/.test(bits)) return bits.replace(/0/g, '').length;
  return /^0*1*$/.test(bits) ? bits.replace(/1/g, '').length : undefined;
}

/** `ip_interface(text)`: an address with an optional prefix length or mask. */
export function parseInterface(text: string): IpInterface | undefined {
  const [bare = '', mask, more] = text.split('/');
  const address = more === undefined ? parseIp(bare) : undefined;
  if (address === undefined) return undefined;
  const prefix = mask === undefined ? widthOf(address.version) : parsePrefix(mask, address.version);
  return prefix === undefined ? undefined : { address, prefix };
}

export const formatInterface = ({ address, prefix }: IpInterface): string => `${formatIp(address)}/${prefix}`;

export function networkOf({ address, prefix }: IpInterface): IpNetwork {
  const host = BigInt(widthOf(address.version) - prefix);
  return { version: address.version, base: (address.value >> host) << host, prefix };
}

/**
 * A network from `10.0.0.0/8`, host bits cleared; undefined when it is not one, or when `strict` and host bits are set.
 */
export function parseNetwork(text: string, strict = false): IpNetwork | undefined {
  const parsed = parseInterface(text);
  if (parsed === undefined) return undefined;
  const network = networkOf(parsed);
  return strict && network.base !== parsed.address.value ? undefined : network;
}

export const formatNetwork = ({ version, base, prefix }: IpNetwork): string =>
  `${formatIp({ version, value: base })}/${prefix}`;

export function netmaskText(version: 4 | 6, prefix: number): string {
  const host = BigInt(widthOf(version) - prefix);
  return formatIp({ version, value: ((1n << BigInt(prefix)) - 1n) << host });
}

export const networkSize = (network: IpNetwork): bigint => 1n << hostBits(network);

export const broadcastText = (network: IpNetwork): string =>
  formatIp({ version: network.version, value: network.base + networkSize(network) - 1n });

export function inNetwork(address: IpAddress, network: IpNetwork): boolean {
  if (address.version !== network.version) return false;
  const host = hostBits(network);
  return address.value >> host === network.base >> host;
}

export function compareIp(a: IpAddress, b: IpAddress): number {
  if (a.version !== b.version) return a.version - b.version;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

export function compareNetwork(a: IpNetwork, b: IpNetwork): number {
  const byBase = compareIp({ version: a.version, value: a.base }, { version: b.version, value: b.base });
  return byBase === 0 ? a.prefix - b.prefix : byBase;
}

/** Usable hosts: without network and broadcast address, except in the smallest networks. */
export function hostsOf(network: IpNetwork, limit: number): string[] | undefined {
  const size = networkSize(network);
  const { version, base } = network;
  const tiny = size <= 2n;
  const first = tiny ? base : base + 1n;
  const last = tiny || version === 6 ? base + size - 1n : base + size - 2n;
  if (last - first >= BigInt(limit)) return undefined;
  const out: string[] = [];
  for (let value = first; value <= last; value += 1n) out.push(formatIp({ version, value }));
  return out;
}
