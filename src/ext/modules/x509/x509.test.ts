// Keys, requests and certificates: made here, and read by Node's own parser.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlainDict, Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { pemEntry } from '../../shared/x509/pem.ts';
import match from '../match.ts';
import pillar from '../pillar.ts';
import x509 from './index.ts';

const tmp = mkdtempSync(join(tmpdir(), 'halite-x509-'));
afterAll(() => rmSync(tmp, { recursive: true, force: true }));

const ctx = testContext({ modules: [x509] });
const call = (fun: string, kwargs: PlainDict = {}): Promise<Value> => ctx.callWith(`x509.${fun}`, [], kwargs);
const key = async (kwargs: PlainDict = { algo: 'ec' }): Promise<string> =>
  (await call('create_private_key', kwargs)) as string;

const authority: PlainDict = {
  CN: 'Test CA',
  O: 'Ex, Inc.',
  C: 'DE',
  basicConstraints: 'critical, CA:true, pathlen:0',
  keyUsage: 'critical, keyCertSign, cRLSign',
  subjectKeyIdentifier: 'hash',
  authorityKeyIdentifier: 'keyid,issuer:always',
  days_valid: 100,
};

describe('x509', () => {
  it.each([
    [{ algo: 'rsa' }, 2048],
    [{ algo: 'rsa', bits: 3072 }, 3072],
    [{ algo: 'ec' }, 256],
    [{ algo: 'ec', keysize: 521 }, 521],
    [{ algo: 'ed25519' }, null],
    [{ algo: 'ed448', passphrase: 'secret' }, null],
  ] as [PlainDict, number | null][])('makes keys %j that sign', async (kwargs, size) => {
    const made = await key(kwargs);
    const passphrase = kwargs['passphrase'] ?? null;
    expect(await call('get_private_key_size', { private_key: made, passphrase })).toBe(size);
    const signing = { signing_private_key: made, signing_private_key_passphrase: passphrase };
    const cert = (await call('create_certificate', { ...signing, CN: 'x' })) as string;
    expect(await call('verify_signature', { certificate: cert })).toBe(true);
    expect(await call('verify_private_key', { private_key: made, public_key: cert, passphrase })).toBe(true);
    const parsed = new X509Certificate(cert);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
  });

  it('signs for others, from a request, with what the request asks for', async () => {
    const [caKey, ownKey] = [await key(), await key()];
    const ca = (await call('create_certificate', { signing_private_key: caKey, ...authority })) as string;
    const csr = (await call('create_csr', {
      private_key: ownKey,
      subject: 'CN=www.example.com,O=Ex\\, Inc.',
      subjectAltName: ['DNS:www.example.com', 'IP:10.1.2.3', 'IP:fe80::1', { email: 'a@example.com' }],
      extendedKeyUsage: 'serverAuth, clientAuth',
    })) as string;
    expect(await call('read_csr', { csr })).toMatchObject({
      subject: { O: 'Ex, Inc.', CN: 'www.example.com' },
      subject_str: 'CN=www.example.com,O=Ex\\, Inc.',
      extensions: { extendedKeyUsage: { critical: false, value: ['serverAuth', 'clientAuth'] } },
    });
    const cert = (await call('create_certificate', {
      ...{ signing_private_key: caKey, signing_cert: ca, csr, CN: 'www.example.com' },
      ...{ authorityKeyIdentifier: 'keyid', crlDistributionPoints: ['URI:http://x/crl'], serial_number: '0A:1B' },
      ...{ not_before: '2026-01-02 03:04:05', not_after: '2060-01-02 03:04:05', append_certs: [ca] },
    })) as string;
    expect(cert.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    const parsed = new X509Certificate(cert);
    expect(parsed.checkIssued(new X509Certificate(ca))).toBe(true);
    expect(parsed.verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect(parsed.checkHost('www.example.com')).toBe('www.example.com');
    expect(parsed.checkIP('10.1.2.3')).toBe('10.1.2.3');
    expect([parsed.serialNumber, parsed.validTo]).toEqual(['0A1B', 'Jan  2 03:04:05 2060 GMT']);
    const shown = (await call('read_certificate', { certificate: cert })) as PlainDict;
    expect(shown).toMatchObject({
      version: 3,
      serial_number: '0A:1B',
      not_before: '2026-01-02 03:04:05',
      not_after: '2060-01-02 03:04:05',
      issuer_str: 'CN=Test CA,O=Ex\\, Inc.,C=DE',
      signature_algorithm: 'ecdsa-with-SHA256',
      extensions: {
        subjectAltName: {
          value: [
            'DNS:www.example.com',
            'IP:10.1.2.3',
            'IP:fe80:0000:0000:0000:0000:0000:0000:0001',
            'mail:a@example.com',
          ],
        },
        crlDistributionPoints: { value: [{ fullname: ['URI:http://x/crl'] }] },
      },
    });
    expect(await call('expires', { certificate: cert })).toBe(false);
    expect(await call('will_expire', { certificate: ca, days: 101 })).toEqual({
      check_days: 101,
      cn: 'Test CA',
      will_expire: true,
    });
  });

  it('signs by policy, for allowed minions', async () => {
    const caKey = await key();
    const ca = (await call('create_certificate', { signing_private_key: caKey, ...authority })) as string;
    const path = join(tmp, 'ca.key');
    writeFileSync(path, caKey);
    const www: Value[] = [{ minions: 'web*' }, { signing_private_key: path }, { signing_cert: ca }, { O: 'Fixed' }];
    const server = testContext({ modules: [x509, pillar, match], pillar: { x509_signing_policies: { www } } });
    const ask = async (who: string, only: boolean): Promise<PlainDict> =>
      (await server.callWith(
        'x509.sign_remote_certificate',
        ['www', { CN: 'a', O: 'Mine', public_key: await key() }, only],
        {
          __pub_id: who,
        },
      )) as PlainDict;
    expect((await ask('db1', false))['errors']).toEqual(['minion not permitted to use specified signing policy']);
    const policy = (await ask('web1', true))['data'] as PlainDict;
    expect([policy['signing_private_key'], policy['O']]).toEqual([undefined, 'Fixed']);
    const made = await ask('web1', false);
    expect(made['errors']).toEqual([]);
    expect(new X509Certificate(made['data'] as Buffer).subject).toBe('O=Fixed\nCN=a');
  });

  it('refuses invalid arguments', async () => {
    const own = await key();
    const make = (kwargs: PlainDict) => call('create_certificate', { signing_private_key: own, CN: 'x', ...kwargs });
    await expect(make({ keyUsage: 'nonsense' })).rejects.toThrow('Unknown key usage: nonsense');
    await expect(make({ digest: 'md2' })).rejects.toThrow("Invalid value 'md2' for digest");
    await expect(make({ subjectAltName: 'IP:1.2.3' })).rejects.toThrow('does not seem to be an IP address');
    await expect(make({ nameConstraints: 'x' })).rejects.toThrow('not implemented');
    await expect(make({ signing_private_key: '/nowhere' })).rejects.toThrow('Could not load');
    await expect(call('create_private_key', { algo: 'dsa' })).rejects.toThrow('Invalid algorithm');
    expect(() => pemEntry('nothing', null)).toThrow('PEM text not valid');
  });

  it('normalizes PEM', async () => {
    const own = await key();
    const crooked = own.replaceAll('\n', '\\n');
    expect(await call('get_pem_entry', { text: crooked })).toBe(own);
    const target = join(tmp, 'x.pem');
    expect(await call('write_pem', { text: own, path: target })).toBe(`PEM written to ${target}`);
  });
});
