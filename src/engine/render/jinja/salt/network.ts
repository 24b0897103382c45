// Salt's filters on IP addresses, networks and MAC addresses.
import { randomInt } from 'node:crypto';
import {
  formatInterface,
  formatIp,
  hostsOf,
  type IpAddress,
  type IpInterface,
  inNetwork,
  networkOf,
  networkSize,
  parseInterface,
  parseIp,
} from '../../../../base/util/ip.ts';
import { ipKinds } from '../../../../base/util/ip-kinds.ts';
import { memoryError, type PyError, valueError } from '../errors.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { each, len, toArray, truth } from '../runtime/iterate.ts';
import { isText, textOf } from '../runtime/markup.ts';
import { asInt, makeInt } from '../runtime/number.ts';
import { repr, str } from '../runtime/print.ts';
import { PyIterator, PyTuple } from '../runtime/sequence.ts';
import { codePoints } from '../runtime/text.ts';
import { noAttribute, Undefined } from '../runtime/undefined.ts';
import { classText, type PyValue } from '../runtime/value.ts';

type Version = 4 | 6;
type Check = (address: IpAddress) => boolean;

const linkLocal: Check = ipKinds.linkLocal;
const isPublic: Check = (address) => !ipKinds.private(address);
const siteLocal: Check = (address) => address.version === 6 && ipKinds.siteLocal(address);

/** Options in the order Salt tries them. */
const options: ReadonlyMap<string, Check> = new Map([
  ['global', isPublic],
  ['link-local', linkLocal],
  ['linklocal', linkLocal],
  ['ll', linkLocal],
  ['link_local', linkLocal],
  ['loopback', ipKinds.loopback],
  ['lo', ipKinds.loopback],
  ['multicast', ipKinds.multicast],
  ['private', ipKinds.private],
  ['public', isPublic],
  ['reserved', ipKinds.reserved],
  ['site-local', siteLocal],
  ['sl', siteLocal],
  ['site_local', siteLocal],
  ['unspecified', ipKinds.unspecified],
]);

interface Found {
  readonly address: IpAddress;
  readonly text: string;
}

/** An address, or an address with a prefix; ints are addresses too, as in Python. */
function read(value: PyValue): Found | undefined {
  if (value instanceof Undefined && value.strict) value.fail();
  const int = asInt(value);
  if (int !== undefined) {
    const big = BigInt(int);
    if (big < 0n || big >= 1n << 128n) return undefined;
    const address: IpAddress = { version: big < 1n << 32n ? 4 : 6, value: big };
    return { address, text: formatIp(address) };
  }
  const text = textOf(value);
  if (text === undefined) return undefined;
  const address = parseIp(text);
  if (address !== undefined) return { address, text: formatIp(address) };
  const face = parseInterface(text);
  return face === undefined ? undefined : { address: face.address, text: formatInterface(face) };
}

function passing(value: PyValue, version: Version, wanted: PyValue): string | null {
  const found = read(value);
  if (found === undefined || found.address.version !== version) return null;
  if (!truth(wanted)) return found.text;
  const text = textOf(wanted);
  if (text === undefined) throw noAttribute(wanted, 'split');
  const names = text.split(',').map((name) => name.trim());
  for (const [name, check] of options) if (names.includes(name) && !check(found.address)) return null;
  return found.text;
}

const isList = (value: PyValue): boolean =>
  Array.isArray(value) || value instanceof PyTuple || value instanceof PyIterator;

function filtered(value: PyValue, version: Version, wanted: PyValue): PyValue {
  if (isText(value)) return passing(value, version, wanted);
  if (value instanceof Uint8Array || !isList(value)) return null;
  return toArray(value)
    .map((item) => passing(item, version, wanted))
    .filter((item) => item !== null);
}

function ipaddr(value: PyValue, wanted: PyValue): PyValue {
  const source = value instanceof PyIterator ? toArray(value) : value;
  const four = filtered(source, 4, wanted);
  const six = filtered(source, 6, wanted);
  if (four === null || six === null) return truth(four) ? four : six;
  return [...(four as PyValue[]), ...(six as PyValue[])];
}

function chosen(value: PyValue, wanted: PyValue, version: PyValue): PyValue[] | undefined {
  const number = asInt(version);
  let out: PyValue = null;
  if (!truth(version)) out = ipaddr(value, wanted);
  else if (number === 4 || number === 6) out = filtered(value, number, wanted);
  if (!truth(out)) return undefined;
  return Array.isArray(out) ? out : [out];
}

/** Applies a function to the interfaces that pass, one or many as the input was. */
function overInterfaces(
  value: PyValue,
  wanted: PyValue,
  version: PyValue,
  apply: (face: IpInterface) => PyValue,
): PyValue {
  const texts = chosen(value, wanted, version);
  if (texts === undefined) return null;
  const results = texts.map((text) => apply(parseInterface(str(text))!));
  return isList(value) ? results : results[0]!;
}

function hosts(face: IpInterface): PyValue {
  const list = hostsOf(networkOf(face), 1 << 17);
  if (list === undefined) throw memoryError();
  return list;
}

function bracketed(value: PyValue): string {
  const text = str(value).replace(/^\[+/, '').replace(/\]+$/, '');
  const address = parseIp(text);
  if (address === undefined) throw notAnAddress(text);
  return address.version === 6 ? `[${formatIp(address)}]` : formatIp(address);
}

const notAnAddress = (value: PyValue): PyError =>
  valueError(`${repr(value)} does not appear to be an IPv4 or IPv6 address`);

function ipwrap(value: PyValue): PyValue {
  const wrap = (item: PyValue): PyValue => (passing(item, 6, null) === null ? item : bracketed(item));
  if (Array.isArray(value)) return value.map(wrap);
  return value instanceof PyTuple ? value.items.map(wrap) : wrap(value);
}

function byNetworks(values: PyValue, networks: PyValue): PyValue {
  if (networks === null) return values;
  const ranges = toArray(networks).map((item) => {
    const face = parseInterface(str(item));
    if (face === undefined) throw valueError(`${repr(item)} does not appear to be an IPv4 or IPv6 network`);
    const network = networkOf(face);
    if (network.base !== face.address.value) throw valueError(`${formatInterface(face)} has host bits set`);
    return network;
  });
  const keep = (list: PyValue): PyValue[] => {
    const out: PyValue[] = [];
    for (const item of each(list)) {
      // Without networks no address is ever looked at.
      if (ranges.length === 0) continue;
      const found = isText(item) ? parseIp(str(item)) : read(item)?.address;
      if (found === undefined) throw notAnAddress(item);
      for (const range of ranges) if (inNetwork(found, range)) out.push(item);
    }
    return out;
  };
  if (values instanceof PyDict) return PyDict.from([...values.entries()].map(([key, list]) => [key, keep(list)]));
  if (isText(values) || Array.isArray(values) || values instanceof PyTuple) return keep(values);
  throw valueError(`Do not know how to filter a ${classText(values)}`);
}

function macBytes(value: PyValue): Uint8Array {
  const size = len(value);
  let text = str(value);
  if (size === 17) text = text.replaceAll(codePoints(text)[2]!, '');
  else if (size !== 12) throw valueError('Invalid MAC address');
  const bytes = Array.from({ length: 6 }, (_, at) => {
    const pair = text.slice(at * 2, at * 2 + 2);
    if (!/^[0-9a-fA-F]{1,2}$/.test(pair)) throw valueError(`invalid literal for int() with base 16: ${repr(pair)}`);
    return Number.parseInt(pair, 16);
  });
  return Uint8Array.from(bytes);
}

function randomMac(prefix: PyValue): string {
  const pair = (): string => randomInt(256).toString(16).toUpperCase().padStart(2, '0');
  return `${str(prefix)}:${pair()}:${pair()}:${pair()}`;
}

const versionFilter = (name: string, version: Version) =>
  define(name, 'ip_addr, options=None', (_rt, value, wanted) => passing(value!, version, wanted!) !== null);

export const networkFilters: FunctionTable = tableOf({
  is_ip: define(
    'is_ip_filter',
    'ip_addr, options=None',
    (_rt, value, wanted) => passing(value!, 4, wanted!) !== null || passing(value!, 6, wanted!) !== null,
  ),
  is_ipv4: versionFilter('is_ipv4_filter', 4),
  is_ipv6: versionFilter('is_ipv6_filter', 6),
  ipv4: define('ipv4', 'value, options=None', (_rt, value, wanted) => filtered(value!, 4, wanted!)),
  ipv6: define('ipv6', 'value, options=None', (_rt, value, wanted) => filtered(value!, 6, wanted!)),
  ipaddr: define('ipaddr', 'value, options=None', (_rt, value, wanted) => ipaddr(value!, wanted!)),
  ip_host: define('ip_host', 'value, options=None, version=None', (_rt, value, wanted, version) =>
    overInterfaces(value!, wanted!, version!, formatInterface),
  ),
  network_hosts: define('network_hosts', 'value, options=None, version=None', (_rt, value, wanted, version) =>
    overInterfaces(value!, wanted!, version!, hosts),
  ),
  network_size: define('network_size', 'value, options=None, version=None', (_rt, value, wanted, version) =>
    overInterfaces(value!, wanted!, version!, (face) => makeInt(networkSize(networkOf(face)))),
  ),
  ipwrap: define('ipwrap', 'data', (_rt, value) => ipwrap(value!)),
  filter_by_networks: define('filter_by_networks', 'values, networks', (_rt, values, networks) =>
    byNetworks(values!, networks!),
  ),
  gen_mac: define('gen_mac', "prefix='AC:DE:48'", (_rt, prefix) => randomMac(prefix!)),
  mac_str_to_bytes: define('mac_str_to_bytes', 'mac_str', (_rt, value) => macBytes(value!)),
});
