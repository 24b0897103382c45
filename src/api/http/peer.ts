// Who is at the other end of the connection.
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { inNetwork, parseIp, parseNetwork } from '../../base/util/ip.ts';

export interface Peer {
  readonly address: string;
  /** Whether the browser came by https, here or at a trusted proxy. */
  readonly secure: boolean;
}

const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

export function isListed(address: string, networks: readonly string[]): boolean {
  const ip = parseIp(address);
  if (!ip) return false;
  return networks.some((text) => {
    const network = parseNetwork(text);
    return network !== undefined && network.version === ip.version && inNetwork(ip, network);
  });
}

/** Headers about the origin of a request count only when a trusted proxy sent them: the last stranger is the client. */
export function peerOf(request: IncomingMessage, trusted: readonly string[]): Peer {
  const direct = plainAddress(request.socket.remoteAddress ?? '');
  const encrypted = (request.socket as TLSSocket).encrypted === true;
  if (trusted.length === 0 || !isListed(direct, trusted)) return { address: direct, secure: encrypted };
  const proto = lastOf(request.headers['x-forwarded-proto']);
  const passed = listOf(request.headers['x-forwarded-for']).map(plainAddress);
  const stranger = passed.reverse().find((address) => !isListed(address, trusted));
  const address = stranger !== undefined && parseIp(stranger) ? stranger : direct;
  return { address, secure: encrypted || proto === 'https' };
}

const listOf = (header: string | string[] | undefined): string[] =>
  String(header ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const lastOf = (header: string | string[] | undefined): string | undefined => listOf(header).at(-1);
