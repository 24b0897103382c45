// Private, loopback, multicast and other special addresses: the IANA registries as Python's ipaddress reads them.
import { type IpAddress, type IpNetwork, inNetwork, parseNetwork } from './ip.ts';

const nets = (...texts: string[]): IpNetwork[] => texts.map((text) => parseNetwork(text)!);
const within = (address: IpAddress, list: readonly IpNetwork[]): boolean =>
  list.some((network) => inNetwork(address, network));

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
function unmapped(address: IpAddress): IpAddress {
  if (!inNetwork(address, mapped6!)) return address;
  return { version: 4, value: address.value & 0xffffffffn };
}

/** The kind of an address. */
export const ipKinds = {
  private: (raw: IpAddress): boolean => {
    const address = raw.version === 6 ? unmapped(raw) : raw;
    if (address.version === 4) return within(address, private4) && !within(address, private4Except);
    return within(address, private6) && !within(address, private6Except);
  },
  multicast: (address: IpAddress): boolean => within(address, [multi4!, multi6!]),
  loopback: (address: IpAddress): boolean =>
    address.version === 4 ? inNetwork(address, loop4!) : address.value === 1n,
  linkLocal: (address: IpAddress): boolean => within(address, [link4!, link6!]),
  reserved: (address: IpAddress): boolean =>
    address.version === 4 ? inNetwork(address, reserved4!) : within(address, reserved6),
  siteLocal: (address: IpAddress): boolean => inNetwork(address, site6!),
  unspecified: (address: IpAddress): boolean => address.value === 0n,
};
