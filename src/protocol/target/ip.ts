// Networks in targets: written with a mask, and without bits in the host part.
import { formatNetwork, type IpNetwork, parseNetwork } from '../../base/util/ip.ts';

export const targetNetwork = (text: string): IpNetwork | undefined =>
  text.includes('/') ? parseNetwork(text, true) : undefined;

/** The network around an address with host bits set, for a hint. */
export function clearedNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return network && formatNetwork(network);
}
