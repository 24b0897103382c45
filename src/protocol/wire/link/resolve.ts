// Resolves a name to an address at every dial, so that a master with a new address is found without a restart.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { HaliteError } from '../../../base/errors/index.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** `[::1]` as written in configuration, without its brackets. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** `address:port`, with brackets where IPv6 needs them. */
export function endpoint(address: string, port: number | string): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * One address of the host. Names with several addresses are tried in turn (`attempt` counts failed dials), and names
 * give IPv6 addresses only when IPv6 is enabled, as in Salt.
 */
export async function resolveAddress(host: string, ipv6: boolean, attempt: number): Promise<Address> {
  const name = bareHost(host);
  const literal = isIP(name);
  if (literal !== 0) return { address: name, family: literal === 6 ? 6 : 4 };
  const found = await lookup(name, { all: true, family: ipv6 ? 0 : 4 }).catch((thrown: NodeJS.ErrnoException) => {
    throw new HaliteError('wire.closed', `The name ${name} cannot be resolved (${thrown.code ?? thrown.message})`, {
      hint: 'Check the name in the configuration and the DNS of this machine.',
      cause: thrown,
    });
  });
  const pick = found[attempt % Math.max(1, found.length)];
  if (!pick) throw new HaliteError('wire.closed', `The name ${name} has no address`);
  return { address: pick.address, family: pick.family === 6 ? 6 : 4 };
}
