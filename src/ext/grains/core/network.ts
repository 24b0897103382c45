// Interfaces, addresses, gateways and resolver settings.
import { type GrainContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { pathExists, readText } from 'halite/sdk/fs';
import { formatIp, formatNetwork, netmaskText, parseIp, parseNetwork } from 'halite/sdk/net';
import { lines, words } from 'halite/sdk/text';
import { addressesOfName, fullyQualifiedName, hostGrains, reverseNames } from '../../shared/network/host-name.ts';
import { addressesOf, addressMap, type Interfaces, readInterfaces } from '../../shared/network/interfaces.ts';

function hardwareAddresses(interfaces: Interfaces): PlainDict {
  const found = newDict();
  for (const [name, data] of interfaces) if ('hwaddr' in data) found[name] = data['hwaddr'] ?? null;
  return found;
}

/** Default gateway of IPv4 in the text of /proc/net/route: an address, true for one without address, or false. */
export function gatewayV4(text: string): string | boolean {
  const routes = lines(text)
    .slice(1)
    .map(words)
    .filter((columns) => columns[1] === '00000000' && columns[7] === '00000000')
    .sort((a, b) => Number(a[6]) - Number(b[6]));
  const hex = routes[0]?.[2];
  if (hex === undefined) return false;
  const octets =
    hex
      .match(/../g)
      ?.reverse()
      .map((pair) => Number.parseInt(pair, 16)) ?? [];
  return hex === '00000000' ? true : octets.join('.');
}

/** Default gateway of IPv6 in the text of /proc/net/ipv6_route. */
export function gatewayV6(text: string): string | boolean {
  const rejectFlag = 0x200;
  const routes = lines(text)
    .map(words)
    .filter(
      (c) =>
        /^0{32}$/.test(c[0] ?? '') &&
        c[1] === '00' &&
        (Number.parseInt(c[8] ?? '0', 16) & rejectFlag) === 0 &&
        c[9] !== 'lo',
    )
    .sort((a, b) => Number.parseInt(a[5] ?? '0', 16) - Number.parseInt(b[5] ?? '0', 16));
  const hex = routes[0]?.[4];
  if (hex === undefined) return false;
  return /^0+$/.test(hex) ? true : formatIp({ version: 6, value: BigInt(`0x${hex}`) });
}

function gateways(): PlainDict {
  const v4 = gatewayV4(readText('/proc/net/route') ?? '');
  const v6 = gatewayV6(readText('/proc/net/ipv6_route') ?? '');
  return newDict([
    ['ip_gw', v4 !== false || v6 !== false],
    ['ip4_gw', v4],
    ['ip6_gw', v6],
  ]);
}

function naturalNetwork(entry: string): string | undefined {
  let text = entry;
  if (!entry.includes('/') && !entry.includes(':')) {
    const first = Number(entry.split('.')[0]);
    text = `${entry}/${first < 128 ? 8 : first < 192 ? 16 : 24}`;
  }
  const network = parseNetwork(text, entry.includes('/'));
  if (!network) return undefined;
  return `${formatNetwork(network).split('/')[0]}/${netmaskText(network.version, network.prefix)}`;
}

/** The `dns` grain from the text of a resolv.conf. */
export function parseResolv(text: string): PlainDict {
  const servers = new Map<string, 4 | 6>();
  const sortlist = new Set<string>();
  const options = new Set<string>();
  let domain = '';
  let search: string[] = [];
  for (const line of lines(text)) {
    const [directive = '', ...rest] = words(line);
    const comment = rest.findIndex((word) => /^[#;]/.test(word));
    const args = comment < 0 ? rest : rest.slice(0, comment);
    const first = args[0];
    const name = directive.toLowerCase();
    if (name === 'search') search = args;
    if (first === undefined) continue;
    if (name === 'domain') domain = first;
    else if (name === 'options') options.add(first);
    else if (name === 'nameserver') {
      const address = parseIp(first);
      if (address) servers.set(formatIp(address), address.version);
    } else if (name === 'sortlist') {
      for (const network of args.map(naturalNetwork)) if (network) sortlist.add(network);
    }
  }
  const ofVersion = (version: 4 | 6): string[] => [...servers].filter(([, v]) => v === version).map(([ip]) => ip);
  const entries: [string, Value][] = [
    ['nameservers', [...servers.keys()]],
    ['ip4_nameservers', ofVersion(4)],
    ['ip6_nameservers', ofVersion(6)],
    ['sortlist', [...sortlist]],
    ['domain', domain],
    ['search', search],
    ['options', [...options]],
  ];
  return newDict(entries);
}

function dnsGrain(): PlainDict {
  // systemd-resolved puts a stub into /etc/resolv.conf and the real servers here.
  const real = '/run/systemd/resolve/resolv.conf';
  const text = readText(pathExists(real) ? real : '/etc/resolv.conf');
  return text === undefined ? newDict() : newDict([['dns', parseResolv(text)]]);
}

export async function networkGrains(ctx: GrainContext): Promise<PlainDict> {
  const [interfaces, fqdn] = await Promise.all([readInterfaces(ctx, true), fullyQualifiedName(ctx)]);
  const ipv4 = addressesOf(interfaces, 'inet', true);
  const ipv6 = addressesOf(interfaces, 'inet6', true);
  const wanted = ctx.opts['enable_fqdns_grains'] !== false;
  const outside = wanted ? [...addressesOf(interfaces, 'inet', false), ...addressesOf(interfaces, 'inet6', false)] : [];
  const [fqdns, fqdnIp4, fqdnIp6] = await Promise.all([
    reverseNames(outside),
    ipv4.length ? addressesOfName(fqdn, 4) : [],
    ipv6.length ? addressesOfName(fqdn, 6) : [],
  ]);
  const entries: [string, Value][] = [
    ['hwaddr_interfaces', hardwareAddresses(interfaces)],
    ['ip4_interfaces', addressMap(interfaces, ['inet'])],
    ['ip6_interfaces', addressMap(interfaces, ['inet6'])],
    ['ipv4', ipv4],
    ['ipv6', ipv6],
    ['fqdn_ip4', fqdnIp4],
    ['fqdn_ip6', fqdnIp6],
    ['ip_interfaces', addressMap(interfaces, ['inet', 'inet6'])],
    ['fqdns', fqdns],
  ];
  return Object.assign(gateways(), dnsGrain(), hostGrains(fqdn), newDict(entries));
}
