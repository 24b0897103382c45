// One outgoing TCP or TLS connection; the name is resolved at each call.
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { HaliteError } from '../../../base/errors/index.ts';
import { bareHost, endpoint, resolveAddress } from '../link/resolve.ts';
import type { KeepAlive, TlsOptions } from '../transport.ts';
import { clientTls } from './tls.ts';

const connectMs = 10_000;

export interface StreamTarget {
  readonly host: string;
  readonly port: number;
  readonly ipv6?: boolean;
  readonly tls?: TlsOptions | true;
  readonly sourceAddress?: string;
  readonly keepAlive?: KeepAlive | false;
}

/** Connects, including the handshake; the socket has no other listeners yet but ignores errors (`close` follows). */
export async function connectStream(
  target: StreamTarget,
  attempt: number,
  signal?: AbortSignal,
): Promise<{ socket: Socket; address: string }> {
  const { address, family } = await resolveAddress(target, attempt);
  const remote = endpoint(address, target.port);
  const secure = target.tls ? await clientTls(target.tls) : undefined;
  if (signal?.aborted) throw new HaliteError('wire.closed', 'closed by its owner');
  const base = {
    host: address,
    port: target.port,
    family,
    noDelay: true,
    ...(target.sourceAddress ? { localAddress: bareHost(target.sourceAddress) } : {}),
    keepAlive: target.keepAlive !== false,
    keepAliveInitialDelay: (target.keepAlive ? target.keepAlive.idleSeconds : 60) * 1000,
  };
  const socket = secure ? connectTls({ ...base, ...secure, servername: serverName(target.host) }) : connectPlain(base);
  await ready(socket, secure ? 'secureConnect' : 'connect', remote, signal);
  return { socket, address: remote };
}

/** Server names in TLS must not be addresses. */
function serverName(host: string): string {
  return /[:[]|^[\d.]+$/.test(host) ? '' : host;
}

function ready(socket: Socket, event: string, remote: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, hint?: string) => {
      socket.destroy();
      reject(new HaliteError('wire.closed', `${remote}: ${reason}`, { hint }));
    };
    const timer = setTimeout(() => fail('the connection timed out'), connectMs);
    const onAbort = () => fail('closed by its owner');
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once(event, () => {
      done();
      resolve();
    });
    socket.on('error', (thrown: NodeJS.ErrnoException) => {
      fail(reasonOf(thrown), tlsHint(thrown));
    });
    socket.once('close', () => {
      done();
      fail('the connection was closed during the handshake');
    });
  });
}

function reasonOf(thrown: NodeJS.ErrnoException): string {
  return thrown.code === 'ECONNREFUSED' ? 'the connection was refused' : thrown.message;
}

function tlsHint(thrown: NodeJS.ErrnoException): string | undefined {
  if (!/CERT|SIGNED|ALTNAME/.test(thrown.code ?? '')) return undefined;
  return 'Set ca_certs in the option ssl to the authority that signed the master certificate, or cert_reqs to CERT_NONE.';
}
