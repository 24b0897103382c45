// Client certificates (`external_auth: pki`): which connections have proven theirs, and what the master is told of it.
import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { claimFor } from '../protocol/wire/messages/certificate.ts';
import { isOwnOrigin } from './http/cors.ts';
import { ApiError } from './http/errors.ts';
import type { Exchange } from './http/exchange.ts';

/** The module whose users log in with a certificate. */
export const certificateModule = 'pki';

const mostCertificates = 8;

export interface ClientCertificateParts {
  /** The file of the key that the master shares with the API for this. */
  readonly keyFile: string;
  readonly corsOrigin: readonly string[];
  readonly log: Pick<Logger, 'limited'>;
}

export class ClientCertificates {
  readonly #parts: ClientCertificateParts;
  #proven = new WeakSet<object>();

  constructor(parts: ClientCertificateParts) {
    this.#parts = parts;
  }

  follow(server: Server): void {
    server.on('secureConnection', (socket) => void this.#proven.add(socket));
  }

  /** Revocations are looked at when a connection begins: with new ones, connections have to begin again. */
  renewed(): void {
    this.#proven = new WeakSet();
  }

  /** What tells the master whose certificate this is. Throws when the connection has proven none. */
  claim({ request, peer }: Exchange): string {
    const { log, keyFile, corsOrigin } = this.#parts;
    // Browsers show certificates without being asked by their user, also for pages of others.
    if (!isOwnOrigin({ headers: request.headers, secure: peer.secure, allowed: corsOrigin }))
      throw new ApiError(403, 'This page may not use the certificate of another one');
    const refuse = (why: string): never => {
      log.limited(`certificate:${peer.address}`, 'warn', 'login refused', { eauth: 'pki', from: peer.address, why });
      throw new ApiError(401, 'Could not authenticate using provided credentials', {
        code: 'auth.failed',
        hint: 'This connection shows no client certificate that is accepted.',
      });
    };
    const socket = request.socket as TLSSocket;
    const own = socket.encrypted ? socket.getPeerX509Certificate() : undefined;
    if (!own) return refuse('the client has shown no certificate');
    if (!socket.authorized) return refuse(`the certificate was not accepted: ${String(socket.authorizationError)}`);
    if (!this.#proven.has(socket)) return refuse('the connection is older than the latest list of revocations');
    const chain: Uint8Array[] = [];
    for (let each = own; each && chain.length < mostCertificates; each = each.issuerCertificate as typeof own)
      chain.push(each.raw);
    return claimFor(this.#key(keyFile), chain);
  }

  #key(file: string): Uint8Array {
    try {
      return readFileSync(file);
    } catch (error) {
      this.#parts.log.limited('certificate key', 'error', 'logins with certificates are not possible', {
        error: messageOf(error),
      });
      throw new ApiError(503, 'Logins with certificates are not possible', {
        hint: 'The master has no key for them: give it the block of the API in its configuration and restart it.',
      });
    }
  }
}
