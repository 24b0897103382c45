// An authority that signs a request, checked by OpenSSL; and messages about existing and missing files.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, describe, expect, it } from 'vitest';
import cmd from '../cmd/index.ts';
import config from '../config.ts';
import pillar from '../pillar.ts';
import x509 from '../x509/index.ts';
import tls from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ctx = testContext({ modules: [cmd, config, pillar, tls, x509] });
const call = (fun: string, kwargs: Record<string, string | string[] | number>): Promise<unknown> =>
  ctx.callWith(`tls.${fun}`, [], newDict(Object.entries({ cacert_path: folder, ca_name: 'ca', ...kwargs })));
const openssl = (...args: string[]): string => execFileSync('openssl', args, { encoding: 'utf8' });

describe('an authority', () => {
  const certs = join(folder, 'ca/certs');

  it('must exist before it is used', async () => {
    expect(await call('ca_exists', {})).toBe(false);
    expect(await call('create_csr', {})).toBe('Certificate for CA named "ca" does not exist, please create it first.');
    expect(await call('create_ca_signed_cert', { CN: 'www' })).toEqual({
      retcode: 1,
      comment: 'There is no CA named "ca"',
    });
    await expect(call('get_ca', {})).rejects.toThrow('Certificate does not exist for ca');
    expect(await call('create_ca', { onlyif: 'false' })).toBeNull();
  });

  it('is created once', async () => {
    expect(await call('create_ca', { CN: 'Test CA', days: 30 })).toBe(
      `Created Private Key: "${folder}/ca/ca_ca_cert.key" Created CA "ca": "${folder}/ca/ca_ca_cert.crt"`,
    );
    expect(await call('create_ca', {})).toBe('Certificate for CA named "ca" already exists');
    expect(await call('ca_exists', {})).toBe(true);
    expect(statSync(`${folder}/ca/ca_ca_cert.key`).mode & 0o777).toBe(0o600);
    const text = openssl('x509', '-in', `${folder}/ca/ca_ca_cert.crt`, '-noout', '-text');
    for (const part of ['CN = Test CA', 'CA:TRUE, pathlen:0', 'Certificate Sign, CRL Sign'])
      expect(text).toContain(part);
  });

  it('signs a request with the names it asks for', async () => {
    expect(await call('create_ca_signed_cert', { CN: 'www.example.com' })).toEqual({
      retcode: 1,
      comment: 'There is no CSR that matches the CN "www.example.com"',
    });
    const subjectAltName = ['DNS:www.example.com', 'DNS:example.com'];
    expect(await call('create_csr', { CN: 'www.example.com', subjectAltName })).toBe(
      `Created Private Key: "${certs}/www.example.com.key" Created CSR for "www.example.com": "${certs}/www.example.com.csr"`,
    );
    expect(await call('create_ca_signed_cert', { CN: 'www.example.com' })).toBe(
      `Created Certificate for "www.example.com": "${certs}/www.example.com.crt"`,
    );
    expect(await call('create_ca_signed_cert', { CN: 'www.example.com' })).toBe(
      'Certificate "www.example.com" already exists',
    );
    const cert = join(certs, 'www.example.com.crt');
    expect(openssl('verify', '-CAfile', `${folder}/ca/ca_ca_cert.crt`, cert)).toContain('OK');
    const text = openssl('x509', '-in', cert, '-noout', '-text');
    for (const part of ['DNS:example.com', 'TLS Web Server Authentication', 'CN = www.example.com'])
      expect(text).toContain(part);
    expect(await call('get_ca_signed_cert', { CN: 'www.example.com' })).toBe(cert);
    expect(readFileSync(`${folder}/ca/index.txt`, 'utf8').split('\n')).toHaveLength(3);
  });
});
