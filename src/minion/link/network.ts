// The network settings of the configuration in the form that transports need, and the local address.
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import type { DialOptions, TlsOptions } from '../../protocol/wire/transport.ts';

/** Network settings that requests and subscription share. */
export function networkOptions(opts: MinionOpts): Pick<DialOptions, 'ipv6' | 'tls' | 'sourceAddress' | 'keepAlive'> {
  const { ssl } = opts;
  return {
    ...(opts.ipv6 ? { ipv6: true } : {}),
    ...(ssl === true ? { tls: true as const } : isDict(ssl) ? { tls: ssl as unknown as TlsOptions } : {}),
    ...(opts.source_address ? { sourceAddress: opts.source_address } : {}),
    keepAlive: opts.tcp_keepalive
      ? {
          idleSeconds: opts.tcp_keepalive_idle,
          count: opts.tcp_keepalive_cnt,
          intervalSeconds: opts.tcp_keepalive_intvl,
        }
      : (false as const),
  };
}

/** The local address for connections to a host, from the routing table; nothing is sent. Empty when unknown. */
export async function addressTowards(host: string): Promise<string> {
  try {
    const { address, family } = await lookup(host);
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    return await new Promise<string>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(9, address, () => resolve(socket.address().address));
    }).finally(() => socket.close());
  } catch {
    return '';
  }
}
