// The certificate of the API, read at the start and again when its files change: renewed certificates need no restart.
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import type { ApiSettings } from './settings.ts';

type TlsFiles = NonNullable<ApiSettings['tls']>;

const lookMs = 10_000;

export function readCertificate({ crt, key, chain }: TlsFiles): { cert: string; key: string } {
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
  return { cert: [read(crt), ...(chain ? [read(chain)] : [])].join('\n'), key: read(key) };
}

/** New connections get the new certificate; those that are open keep theirs. */
export class Renewal {
  readonly #files: TlsFiles;
  readonly #servers: readonly Server[];
  readonly #log: Pick<Logger, 'info' | 'warn'>;
  readonly #changed = (): void => this.run();

  constructor(files: TlsFiles, servers: readonly Server[], log: Pick<Logger, 'info' | 'warn'>) {
    this.#files = files;
    this.#servers = servers;
    this.#log = log;
    for (const path of this.#paths()) watchFile(path, { interval: lookMs, persistent: false }, this.#changed);
  }

  #paths(): string[] {
    const { crt, key, chain } = this.#files;
    return [crt, key, ...(chain ? [chain] : [])];
  }

  /** Certificate and key are replaced one after the other: while they do not fit, the old ones stay. */
  run(): void {
    try {
      const found = readCertificate(this.#files);
      createSecureContext(found);
      for (const server of this.#servers) if (server instanceof TlsServer) server.setSecureContext(found);
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
