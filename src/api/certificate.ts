// The certificate of the API, read at the start and again when its files change: renewed certificates need no restart.
import { constants } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import type { ApiSettings } from './settings.ts';

export type TlsFiles = NonNullable<ApiSettings['tls']> & { readonly clients: ApiSettings['clientAuthorities'] };

const lookMs = 10_000;

export function readCertificate({ crt, key, chain, clients }: TlsFiles): SecureContextOptions {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (cause) {
      throw new HaliteError('config.value', `Could not find a certificate: ${path}`, {
        hint: 'The user of the API must be able to read it. Make one with: salt-call --local tls.create_self_signed_cert',
        cause,
      });
    }
  };
  const own = { cert: [read(crt), ...(chain ? [read(chain)] : [])].join('\n'), key: read(key) };
  if (!clients) return own;
  return {
    ...own,
    ca: read(clients.ca),
    ...(clients.crl ? { crl: revocationLists(clients.crl, read(clients.crl)) } : {}),
    // A connection that continues an older one would not look at the certificate of the client again.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Node reads only the first list of a text; without any, nothing would be revoked. */
function revocationLists(path: string, text: string): string[] {
  const lists = text.match(/-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g);
  if (!lists) throw new HaliteError('config.value', `${path} has no list of revoked certificates in PEM`);
  return lists;
}

/** New connections get the new certificate; those that are open keep theirs. */
export class Renewal {
  readonly #files: TlsFiles;
  readonly #servers: readonly Server[];
  readonly #log: Pick<Logger, 'info' | 'warn'>;
  readonly #renewed: () => void;
  readonly #changed = (): void => this.run();

  constructor(
    files: TlsFiles,
    servers: readonly Server[],
    log: Pick<Logger, 'info' | 'warn'>,
    renewed: () => void = () => undefined,
  ) {
    this.#files = files;
    this.#renewed = renewed;
    this.#servers = servers;
    this.#log = log;
    for (const path of this.#paths()) watchFile(path, { interval: lookMs, persistent: false }, this.#changed);
  }

  #paths(): string[] {
    const { crt, key, chain, clients } = this.#files;
    return [crt, key, chain, clients?.ca, clients?.crl].filter((path) => path !== undefined);
  }

  /** Certificate and key are replaced one after the other: while they do not fit, the old ones stay. */
  run(): void {
    try {
      const found = readCertificate(this.#files);
      createSecureContext(found);
      for (const server of this.#servers) if (server instanceof TlsServer) server.setSecureContext(found);
      this.#renewed();
      this.#log.info('the certificate was read again', { path: this.#files.crt });
    } catch (error) {
      const fields = { path: this.#files.crt, error: messageOf(error) };
      this.#log.warn('the certificate cannot be read again: the old one is used', fields);
    }
  }

  close(): void {
    for (const path of this.#paths()) unwatchFile(path, this.#changed);
  }
}
