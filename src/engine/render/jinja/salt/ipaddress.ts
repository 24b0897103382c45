// IP addresses, interfaces and networks with the behaviour of Python's ipaddress module.

export interface Address {
  readonly version: 4 | 6;
  readonly value: bigint;
  readonly scope: string | undefined;
}

export interface Network {
  readonly version: 4 | 6;
  readonly base: bigint;
  readonly prefix: number;
}

export const widthOf = (version: 4 | 6): number => (version === 4 ? 32 : 128);

function parse4(text: string): bigint | undefined {
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

function parse6(text: string): bigint | undefined {
  let source = text;
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(source);
  if (tail) {
    const low = parse4(tail[2]!);
    if (low === undefined) return undefined;
    source = `${tail[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  }
  const halves = source.split('::');
  if (halves.length > 2) return undefined;
  const groups = (half: string): string[] => (half === '' ? [] : half.split(':'));
  const left = groups(halves[0]!);
  const right = halves.length === 2 ? groups(halves[1]!) : [];
  const missing = 8 - left.length - right.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  let value = 0n;
  for (const group of [...left, ...Array.from({ length: missing }, () => '0'), ...right]) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}

/** `ip_address(text)`; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const four = parse4(text);
  if (four !== undefined) return { version: 4, value: four, scope: undefined };
  const [bare = '', scope, more] = text.split('%');
  if (more !== undefined || scope === '') return undefined;
  const six = parse6(bare);
  return six === undefined ? undefined : { version: 6, value: six, scope };
}

export function addressText({ version, value, scope }: Address): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - at * 16)) & 0xffffn).toString(16));
  return compress(groups) + (scope === undefined ? '' : `%${scope}`);
}

/** The longest run of zero groups (two or more) becomes `::`. */
function compress(groups: readonly string[]): string {
  let best = 0;
  let start = -1;
  for (let at = 0; at < groups.length; at += 1) {
    let run = 0;
    while (groups[at + run] === '0') run += 1;
    if (run > best) {
      best = run;
      start = at;
    }
  }
  if (best < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + best).join(':')}`;
}

function prefixLength(text: string, version: 4 | 6): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) <= widthOf(version) ? Number(text) : undefined;
  const mask = version === 4 ? parse4(text) : undefined;
  if (mask === undefined) return undefined;
  const bits = mask.toString(2).padStart(32, '0');
  if (/^1*0*$/.test(bits)) return bits.replace(/0/g, '').length;
  return /^0*1*$/.test(bits) ? bits.replace(/1/g, '').length : undefined;
}

export interface Interface {
  readonly address: Address;
  readonly prefix: number;
}

/** `ip_interface(text)`: an address with an optional prefix length or mask. */
export function parseInterface(text: string): Interface | undefined {
  const [bare = '', mask, more] = text.split('/');
  if (more !== undefined) return undefined;
  const address = parseAddress(bare);
  if (address === undefined) return undefined;
  const prefix = mask === undefined ? widthOf(address.version) : prefixLength(mask, address.version);
  return prefix === undefined ? undefined : { address, prefix };
}

export const interfaceText = ({ address, prefix }: Interface): string => `${addressText(address)}/${prefix}`;

export function networkOf({ address, prefix }: Interface): Network {
  const host = BigInt(widthOf(address.version) - prefix);
  return { version: address.version, base: (address.value >> host) << host, prefix };
}

export function isIn(address: Address, network: Network): boolean {
  if (address.version !== network.version) return false;
  const host = BigInt(widthOf(network.version) - network.prefix);
  return address.value >> host === network.base >> host;
}

export const networkSize = (network: Network): bigint => 1n << BigInt(widthOf(network.version) - network.prefix);

/** Usable hosts: without network and broadcast address, except in the smallest networks. */
export function hostsOf(network: Network, limit: number): string[] | undefined {
  const size = networkSize(network);
  const { version, base } = network;
  let first = base + 1n;
  let last = version === 4 ? base + size - 2n : base + size - 1n;
  if (size <= 2n) {
    first = base;
    last = base + size - 1n;
  }
  if (last - first >= BigInt(limit)) return undefined;
  const out: string[] = [];
  for (let value = first; value <= last; value += 1n) out.push(addressText({ version, value, scope: undefined }));
  return out;
}

const nets = (...texts: string[]): Network[] => texts.map((text) => networkOf(parseInterface(text)!));
const within = (address: Address, list: readonly Network[]): boolean => list.some((network) => isIn(address, network));

const private4 = nets(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.0.170/31',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
  '255.255.255.255/32',
);
const private4Except = nets('192.0.0.9/32', '192.0.0.10/32');
const private6 = nets(
  '::1/128',
  '::/128',
  '::ffff:0:0/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  'fc00::/7',
  'fe80::/10',
);
const private6Except = nets(
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
);
const reserved6 = nets(
  '::/8',
  '100::/8',
  '200::/7',
  '400::/6',
  '800::/5',
  '1000::/4',
  '4000::/3',
  '6000::/3',
  '8000::/3',
  'A000::/3',
  'C000::/3',
  'E000::/4',
  'F000::/5',
  'F800::/6',
  'FE00::/9',
);
const [loop4, link4, multi4, reserved4] = nets('127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4');
const [link6, multi6, site6, mapped6] = nets('fe80::/10', 'ff00::/8', 'fec0::/10', '::ffff:0:0/96');

/** The IPv4 address inside `::ffff:a.b.c.d`. */
function unmapped(address: Address): Address {
  if (!isIn(address, mapped6!)) return address;
  return { version: 4, value: address.value & 0xffffffffn, scope: undefined };
}

export const properties: Readonly<Record<string, (address: Address) => boolean>> = {
  private: (raw) => {
    const address = raw.version === 6 ? unmapped(raw) : raw;
    if (address.version === 4) return within(address, private4) && !within(address, private4Except);
    return within(address, private6) && !within(address, private6Except);
  },
  multicast: (address) => within(address, [multi4!, multi6!]),
  loopback: (address) => (address.version === 4 ? isIn(address, loop4!) : address.value === 1n),
  linkLocal: (address) => within(address, [link4!, link6!]),
  reserved: (address) => (address.version === 4 ? isIn(address, reserved4!) : within(address, reserved6)),
  siteLocal: (address) => isIn(address, site6!),
  unspecified: (address) => address.value === 0n,
};
