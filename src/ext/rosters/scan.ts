// Roster `scan`: the addresses of the target, with the first of the ports that is open there.
import { defineRoster, dictOf, HaliteError, newDict, type PlainDict } from 'halite/sdk';
import { hostsOf, parseIp, parseNetwork } from 'halite/sdk/net';
import { openPort, portsOf } from '../shared/rosters/ports.ts';

const mostHosts = 65_536;

function addressesOf(texts: readonly string[]): string[] {
  const addresses = new Set<string>();
  for (const text of texts) {
    const network = parseIp(text) ? undefined : parseNetwork(text);
    const hosts = network ? hostsOf(network, mostHosts) : parseIp(text) ? [text] : [];
    for (const host of hosts ?? []) addresses.add(host);
    if (!hosts || addresses.size > mostHosts)
      throw new HaliteError('target.cost', `${text.slice(0, 100)} has more than ${mostHosts} addresses`);
  }
  return [...addresses];
}

export default defineRoster({
  name: 'scan',
  doc: 'Addresses or a network (10.0.0.0/24); hosts without an open port of `ssh_scan_ports` are left out.',
  async targets({ tgt }, ctx) {
    const addresses = addressesOf(typeof tgt === 'string' ? [tgt] : tgt);
    const ports = portsOf(ctx.opts);
    const asked = await Promise.all(
      addresses.map(async (host): Promise<[string, PlainDict][]> => {
        const port = await openPort(host, ports, ctx);
        return port ? [[host, newDict(Object.entries({ host, port }))]] : [];
      }),
    );
    return dictOf(asked.flat());
  },
});
