// Roster `scan`: the addresses of the target, with the first of the ports that is open there.
import { defineRoster, dictOf, HaliteError, newDict, type PlainDict } from 'halite/sdk';
import { hostsOf, parseIp, parseNetwork } from 'halite/sdk/net';
import { openPort, portsOf } from '../shared/rosters/ports.ts';

const mostHosts = 65_536;

function addressesOf(text: string): string[] {
  if (parseIp(text)) return [text];
  const network = parseNetwork(text);
  if (!network) return [];
  const hosts = hostsOf(network, mostHosts);
  if (!hosts) throw new HaliteError('target.cost', `${text} has more than ${mostHosts} addresses`);
  return hosts;
}

export default defineRoster({
  name: 'scan',
  doc: 'Addresses or a network (10.0.0.0/24); hosts without an open port of `ssh_scan_ports` are left out.',
  async targets({ tgt }, ctx) {
    const addresses = (typeof tgt === 'string' ? [tgt] : tgt).flatMap(addressesOf);
    const ports = portsOf(ctx.opts);
    const found: [string, PlainDict][] = [];
    await Promise.all(
      addresses.map(async (host) => {
        const port = await openPort(host, ports, ctx);
        if (port) found.push([host, newDict(Object.entries({ host, port }))]);
      }),
    );
    return dictOf(addresses.flatMap((host) => found.filter(([each]) => each === host)));
  },
});
