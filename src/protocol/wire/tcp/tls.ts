// Salt's `ssl` map as options of node:tls.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConnectionOptions, TlsOptions as NodeTlsOptions, SecureVersion } from 'node:tls';
import { HaliteError } from '../../../base/errors/index.ts';
import type { TlsOptions } from '../transport.ts';

const versions: Readonly<Record<string, SecureVersion | undefined>> = {
  PROTOCOL_TLS: undefined,
  PROTOCOL_SSLv23: undefined,
  PROTOCOL_TLS_SERVER: undefined,
  PROTOCOL_TLS_CLIENT: undefined,
  PROTOCOL_TLSv1: 'TLSv1',
  PROTOCOL_TLSv1_1: 'TLSv1.1',
  PROTOCOL_TLSv1_2: 'TLSv1.2',
};
const requirements = new Set(['CERT_NONE', 'CERT_OPTIONAL', 'CERT_REQUIRED']);

/** Options for the listening side. */
export async function serverTls(given: TlsOptions | true): Promise<NodeTlsOptions> {
  const options = given === true ? {} : given;
  if (!options.certfile) {
    throw new HaliteError('config.value', 'The option ssl has no certfile, which a server needs', {
      hint: 'Set ssl to a map with certfile and keyfile.',
    });
  }
  const wanted = requirement(options) ?? 'CERT_NONE';
  return {
    ...(await common(options)),
    requestCert: wanted !== 'CERT_NONE',
    rejectUnauthorized: wanted === 'CERT_REQUIRED',
    handshakeTimeout: 15_000,
  };
}

/** Options for the connecting side. As in Salt 3007 and later, the server is verified unless CERT_NONE is set. */
export async function clientTls(given: TlsOptions | true): Promise<ConnectionOptions> {
  const options = given === true ? {} : given;
  return { ...(await common(options)), rejectUnauthorized: requirement(options) !== 'CERT_NONE' };
}

function requirement(options: TlsOptions): string | undefined {
  const name = options.cert_reqs;
  if (name !== undefined && !requirements.has(name)) {
    throw wrong('cert_reqs', `one of ${[...requirements].join(', ')}`);
  }
  return name;
}

async function common(options: TlsOptions): Promise<ConnectionOptions & NodeTlsOptions> {
  const name = options.ssl_version;
  if (name !== undefined && !Object.hasOwn(versions, name)) {
    throw wrong('ssl_version', `one of ${Object.keys(versions).join(', ')}`);
  }
  const version = name === undefined ? undefined : versions[name];
  // Ignoring a required check would be worse than not starting.
  if (options.verify_flags?.some((flag) => /CRL/i.test(flag))) throw wrong('verify_flags', 'without revocation lists');
  const ca = await authorities(options);
  return {
    ...(options.certfile ? { cert: await read('certfile', options.certfile) } : {}),
    // As in Salt: the key may be in the certificate file.
    ...(options.certfile ? { key: await read('keyfile', options.keyfile ?? options.certfile) } : {}),
    ...(ca.length > 0 ? { ca } : {}),
    ...(options.ciphers ? { ciphers: options.ciphers } : {}),
    ...(version ? { minVersion: version, maxVersion: version } : {}),
  };
}

async function authorities(options: TlsOptions): Promise<string[]> {
  const texts: string[] = [];
  if (options.ca_certs) texts.push(await read('ca_certs', options.ca_certs));
  for (const place of options.verify_locations ?? []) {
    const { cafile, capath, cadata } = typeof place === 'string' ? { cafile: place } : place;
    if (cafile) texts.push(await read('verify_locations', cafile));
    if (cadata) texts.push(cadata);
    if (capath) texts.push(...(await readFolder(capath)));
  }
  return texts;
}

async function readFolder(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((thrown: unknown) => {
    throw unreadable('verify_locations', folder, thrown);
  });
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
  return texts.filter((text) => text.includes('BEGIN CERTIFICATE'));
}

async function read(option: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((thrown: unknown) => {
    throw unreadable(option, file, thrown);
  });
}

function unreadable(option: string, path: string, cause: unknown): HaliteError {
  return new HaliteError('config.value', `The ${option} of the option ssl cannot be read: ${path}`, {
    hint: 'Check the path and its permissions.',
    cause,
  });
}

function wrong(key: string, expected: string): HaliteError {
  return new HaliteError('config.value', `The ${key} of the option ssl must be ${expected}`);
}
