// IP addresses and networks with the strictness and the spelling of Python's ipaddress.

export interface Network {
  readonly version: 4 | 6;
  readonly first: bigint;
  /** Bits of the network part. */
  readonly prefix: number;
}

export interface Address {
  readonly version: 4 | 6;
  readonly value: bigint;
  /** `%eth0` of an IPv6 address. */
  readonly scope: string;
}

const BITS = { 4: 32, 6: 128 } as const;

export function parseAddress(text: string): Address | undefined {
  const four = parseFour(text);
  if (four !== undefined) return { version: 4, value: four, scope: '' };
  const [plain = '', ...scopes] = text.split('%');
  const scope = scopes[0] ?? '';
  if (scopes.length > 1 || (scopes.length === 1 && scope === '') || text.includes('/')) return undefined;
  const six = parseSix(plain);
  return six === undefined ? undefined : { version: 6, value: six, scope: scope && `%${scope}` };
}

function parseFour(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    // Leading zeros are ambiguous (octal?) and refused.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseSix(text: string): bigint | undefined {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  let full = text;
  if (dotted) {
    const low = parseFour(dotted[2] as string);
    if (low === undefined) return undefined;
    full = `${dotted[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  }
  const halves = full.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const [head = [], tail = []] = groups;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const all = [...head, ...new Array<string>(halves.length === 2 ? missing : 0).fill('0'), ...tail];
  let value = 0n;
  for (const group of all) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    value = (value << 16n) | BigInt(`0x${group}`);
  }
  return value;
}

/** The one spelling Python prints. */
export function formatAddress(address: Address): string {
  if (address.version === 4) {
    return [24n, 16n, 8n, 0n].map((shift) => String((address.value >> shift) & 255n)).join('.');
  }
  const groups = Array.from({ length: 8 }, (_, i) => ((address.value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  return compressed(groups) + address.scope;
}

/** The longest run of two or more zero groups becomes `::`. */
function compressed(groups: readonly string[]): string {
  let best = 0;
  let start = -1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === '0') end++;
    if (end - i > best) {
      best = end - i;
      start = i;
    }
  }
  if (best < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + best).join(':')}`;
}

/** A network whose host bits are clear; undefined otherwise. Masks may be written as a number or, for IPv4, dotted. */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', mask, ...rest] = text.split('/');
  const address = parseAddress(base);
  if (!address || rest.length > 0 || mask === undefined) return undefined;
  const bits = BITS[address.version];
  const prefix = /^\d{1,3}$/.test(mask) ? Number(mask) : address.version === 4 ? prefixOfMask(mask) : undefined;
  if (prefix === undefined || prefix > bits) return undefined;
  const network = { version: address.version, first: address.value, prefix };
  return (address.value & ((1n << BigInt(bits - prefix)) - 1n)) === 0n ? network : undefined;
}

/** The network around an address with host bits set, for a hint. */
export function clearedNetwork(text: string): string | undefined {
  const [base = '', mask = ''] = text.split('/');
  const address = parseAddress(base);
  if (!address || !/^\d{1,3}$/.test(mask) || Number(mask) > BITS[address.version]) return undefined;
  const shift = BigInt(BITS[address.version] - Number(mask));
  return `${formatAddress({ ...address, value: (address.value >> shift) << shift })}/${Number(mask)}`;
}

function prefixOfMask(mask: string): number | undefined {
  const value = parseFour(mask);
  if (value === undefined) return undefined;
  const bits = value.toString(2).padStart(32, '0');
  const net = /^(1*)0*$/.exec(bits);
  if (net) return (net[1] as string).length;
  const host = /^(0*)1*$/.exec(bits);
  return host ? (host[1] as string).length : undefined;
}

export function contains(network: Network, address: Address): boolean {
  if (network.version !== address.version) return false;
  const shift = BigInt(BITS[network.version] - network.prefix);
  return address.value >> shift === network.first >> shift;
}
