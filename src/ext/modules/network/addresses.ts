// Functions of `network` for interfaces, addresses and networks.
import {
  fn,
  type ModuleContext,
  newDict,
  oneOrMore,
  type PlainDict,
  p,
  pyRepr,
  pyStr,
  pythonError,
  textList,
  type Value,
} from 'halite/sdk';
import * as ip from 'halite/sdk/net';
import { ipKinds } from 'halite/sdk/net';
import { matchesGlob } from 'halite/sdk/text';
import {
  addressesOf,
  entriesOf,
  type Interfaces,
  interfacesValue,
  readInterfaces,
} from '../../shared/network/interfaces.ts';

type Family = 'inet' | 'inet6';

function requireIp(text: string): ip.IpAddress {
  const address = ip.parseIp(text);
  if (!address) throw pythonError('ValueError', `${pyRepr(text)} does not appear to be an IPv4 or IPv6 address`);
  return address;
}
function requireNetwork(text: string): ip.IpNetwork {
  const network = ip.parseNetwork(text);
  if (!network) throw pythonError('ValueError', `${pyRepr(text)} does not appear to be an IPv4 or IPv6 network`);
  return network;
}

async function chosen(wanted: Value, ctx: ModuleContext): Promise<Interfaces> {
  const all = await readInterfaces(ctx);
  if (wanted === null) return all;
  const globs = textList(wanted);
  return new Map([...all].filter(([name]) => globs.some((glob) => matchesGlob(name, glob))));
}

/** Whether one of the addresses is in the network; False for an invalid network. */
function anyInside(cidr: string, addresses: readonly string[]): boolean {
  const network = ip.parseNetwork(cidr, true);
  return network !== undefined && addresses.some((text) => ip.inNetwork(requireIp(text), network));
}

interface AddressArgs {
  readonly interface: Value;
  readonly include_loopback: boolean;
  readonly cidr: string | null;
  readonly type?: string | null;
}

async function addresses(args: AddressArgs, family: Family, ctx: ModuleContext): Promise<string[]> {
  const found = addressesOf(await chosen(args.interface, ctx), family, args.include_loopback);
  if (args.cidr) return found.filter((text) => anyInside(args.cidr as string, [text]));
  if (args.type === 'public') return found.filter((text) => !ipKinds.private(requireIp(text)));
  return args.type === 'private' ? found.filter((text) => ipKinds.private(requireIp(text))) : found;
}

/** Networks of addresses, distinct and sorted. */
function networksOf(interfaces: Interfaces, family: Family, includeLoopback: boolean): ip.IpNetwork[] {
  const found = new Map<string, ip.IpNetwork>();
  for (const data of interfaces.values()) {
    for (const entry of entriesOf(data, family)) {
      const network = ip.parseNetwork(
        `${pyStr(entry['address'] ?? '')}/${pyStr(entry[family === 'inet' ? 'netmask' : 'prefixlen'] ?? '')}`,
      );
      const loops = network && ipKinds.loopback({ version: network.version, value: network.base });
      if (network && (includeLoopback || !loops)) found.set(ip.formatNetwork(network), network);
    }
  }
  return [...found.values()].sort(ip.compareNetwork);
}

function networksValue(networks: readonly ip.IpNetwork[], verbose: boolean): Value {
  if (!verbose) return networks.map(ip.formatNetwork);
  return newDict(
    networks.map((network) => {
      const bits = network.version === 4 ? 32 : 128;
      const count = 1n << BigInt(bits - network.prefix);
      const about = newDict([
        ['address', ip.formatIp({ version: network.version, value: network.base })],
        ['netmask', ip.netmaskText(network.version, network.prefix)],
        ['num_addresses', count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : count],
        ['prefixlen', network.prefix],
      ]);
      return [ip.formatNetwork(network), about];
    }),
  );
}

/** A property of one interface, or Salt's message when it does not exist. */
async function ofInterface(name: string, pick: (data: PlainDict) => Value, ctx: ModuleContext): Promise<Value> {
  const all = await readInterfaces(ctx);
  const data = all.get(name);
  if (data) return pick(data);
  return `Interface "${name}" not in available interfaces: "${[...all.keys()].join('", "')}"`;
}

function reversePointer(text: string): string {
  const address = requireIp(text);
  if (address.version === 4) return `${text.split('.').reverse().join('.')}.in-addr.arpa`;
  return `${[...address.value.toString(16).padStart(32, '0')].reverse().join('.')}.ip6.arpa`;
}

const iface = p.string({ doc: 'name of the interface' });
const loopback = p.bool({ default: false, doc: 'also 127.0.0.1 and ::1' });
const interfaceChoice = p.strings({ default: null, split: ',', doc: 'names or globs of interfaces' });
const cidr = p.string({ default: null, doc: 'only addresses in this network' });
const ipAddr = p.string({ doc: 'an address' });

const addresses4 = (name: string) =>
  fn({
    doc: 'IPv4 addresses of this machine.',
    examples: [
      `salt '*' network.${name}`,
      `salt '*' network.${name} cidr=10.0.0.0/8`,
      `salt '*' network.${name} type=private`,
    ],
    params: {
      interface: interfaceChoice,
      include_loopback: loopback,
      cidr,
      type: p.string({ default: null, doc: 'public or private' }),
    },
    run: (args, ctx) => addresses(args, 'inet', ctx),
  });
const addresses6 = (name: string) =>
  fn({
    doc: 'IPv6 addresses of this machine.',
    examples: [`salt '*' network.${name}`],
    params: { interface: interfaceChoice, include_loopback: loopback, cidr },
    run: (args, ctx) => addresses(args, 'inet6', ctx),
  });
const networks = (name: string, family: Family) =>
  fn({
    doc: `${family === 'inet' ? 'IPv4' : 'IPv6'} networks of this machine.`,
    examples: [`salt '*' network.${name}`, `salt '*' network.${name} verbose=True`],
    params: { interface: interfaceChoice, include_loopback: loopback, verbose: p.bool({ default: false }) },
    run: async (args, ctx) =>
      networksValue(networksOf(await chosen(args.interface, ctx), family, args.include_loopback), args.verbose),
  });
const hardware = (name: string) =>
  fn({
    doc: 'The hardware address of an interface.',
    examples: [`salt '*' network.${name} eth0`],
    params: { iface },
    run: (args, ctx) => ofInterface(args.iface, (data) => data['hwaddr'] ?? '', ctx),
  });

export const addressFunctions = {
  interfaces: fn({
    doc: 'All interfaces with their addresses.',
    examples: ["salt '*' network.interfaces"],
    run: async (_, ctx) => interfacesValue(await readInterfaces(ctx)),
  }),
  hw_addr: hardware('hw_addr'),
  hwaddr: hardware('hwaddr'),
  interface: fn({
    doc: 'The IPv4 addresses of an interface with netmask and broadcast address.',
    examples: ["salt '*' network.interface eth0"],
    params: { iface },
    run: (args, ctx) => ofInterface(args.iface, (data) => data['inet'] ?? '', ctx),
  }),
  interface_ip: fn({
    doc: 'The first IPv4 address of an interface.',
    examples: ["salt '*' network.interface_ip eth0"],
    params: { iface },
    run: (args, ctx) => ofInterface(args.iface, (data) => entriesOf(data, 'inet')[0]?.['address'] ?? '', ctx),
  }),
  ip_addrs: addresses4('ip_addrs'),
  ipaddrs: addresses4('ipaddrs'),
  ip_addrs6: addresses6('ip_addrs6'),
  ipaddrs6: addresses6('ipaddrs6'),
  ip_networks: networks('ip_networks', 'inet'),
  ip_networks6: networks('ip_networks6', 'inet6'),
  subnets: fn({
    doc: 'IPv4 networks of this machine.',
    examples: ["salt '*' network.subnets", "salt '*' network.subnets interfaces=eth1"],
    params: { interfaces: p.strings({ default: null, split: ',', doc: 'names of interfaces' }) },
    run: async (args, ctx) => networksOf(await chosen(args.interfaces, ctx), 'inet', false).map(ip.formatNetwork),
  }),
  subnets6: fn({
    doc: 'IPv6 networks of this machine.',
    examples: ["salt '*' network.subnets6"],
    run: async (_, ctx) => networksOf(await readInterfaces(ctx), 'inet6', false).map(ip.formatNetwork),
  }),
  in_subnet: fn({
    doc: 'Whether this machine has an address in a network.',
    examples: ["salt '*' network.in_subnet 10.0.0.0/16"],
    params: { cidr: p.string() },
    async run(args, ctx) {
      const all = await readInterfaces(ctx);
      return anyInside(args.cidr, [...addressesOf(all, 'inet', false), ...addressesOf(all, 'inet6', false)]);
    },
  }),
  ip_in_subnet: fn({
    doc: 'Whether an address is in a network.',
    examples: ["salt '*' network.ip_in_subnet 172.17.0.4 172.16.0.0/12"],
    params: { ip_addr: p.strings({ doc: 'an address or a list' }), cidr: p.string() },
    inline: true,
    run: (args) => anyInside(args.cidr, oneOrMore(args.ip_addr)),
  }),
  calc_net: fn({
    doc: 'The network of an address: `10.0.0.5/24` or address and netmask.',
    examples: [
      "salt '*' network.calc_net 172.17.0.5 255.255.255.240",
      "salt '*' network.calc_net 2a02:f6e:a000:80:84d8:8332:7866:4e07/64",
    ],
    params: { ip_addr: ipAddr, netmask: p.string({ default: null }) },
    inline: true,
    run: (args) =>
      ip.formatNetwork(requireNetwork(args.netmask === null ? args.ip_addr : `${args.ip_addr}/${args.netmask}`)),
  }),
  convert_cidr: fn({
    doc: 'Address, netmask and broadcast address of a network.',
    examples: ["salt '*' network.convert_cidr 172.31.0.0/16"],
    params: { cidr: p.string() },
    inline: true,
    run(args) {
      const network = requireNetwork(args.cidr);
      return newDict([
        ['network', ip.formatIp({ version: network.version, value: network.base })],
        ['netmask', ip.netmaskText(network.version, network.prefix)],
        ['broadcast', ip.broadcastText(network)],
      ]);
    },
  }),
  is_private: fn({
    doc: 'Whether an address is private.',
    examples: ["salt '*' network.is_private 10.0.0.3"],
    params: { ip_addr: ipAddr },
    inline: true,
    run: (args) => ipKinds.private(requireIp(args.ip_addr)),
  }),
  is_loopback: fn({
    doc: 'Whether an address is this machine itself.',
    examples: ["salt '*' network.is_loopback 127.0.0.1"],
    params: { ip_addr: ipAddr },
    inline: true,
    run: (args) => ipKinds.loopback(requireIp(args.ip_addr)),
  }),
  reverse_ip: fn({
    doc: 'The DNS name of an address for reverse lookups.',
    examples: ["salt '*' network.reverse_ip 172.17.0.4"],
    params: { ip_addr: ipAddr },
    inline: true,
    run: (args) => reversePointer(args.ip_addr),
  }),
  iphexval: fn({
    doc: 'An IPv4 address in hexadecimal digits.',
    examples: ["salt '*' network.iphexval 10.0.0.1"],
    params: { ip: p.string() },
    inline: true,
    run: (args) =>
      args.ip
        .split('.')
        .map((part) => Number(part).toString(16).toUpperCase().padStart(2, '0'))
        .join(''),
  }),
  ifacestartswith: fn({
    doc: 'Interfaces with an address that starts with this text.',
    examples: ["salt '*' network.ifacestartswith 10.0"],
    params: { cidr: p.string() },
    async run(args, ctx) {
      const found: Value[] = [];
      for (const [name, data] of await readInterfaces(ctx)) {
        const own = Array.isArray(data['inet']) ? (data['inet'] as PlainDict[]) : [];
        for (const entry of own)
          if (pyStr(entry['address'] ?? '').startsWith(args.cidr)) found.push(entry['label'] ?? name);
      }
      return found;
    },
  }),
};
